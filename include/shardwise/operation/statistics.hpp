// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/cast.hpp"
#include "shardwise/operation/classification.hpp"
#include "shardwise/operation/comparison.hpp"
#include "shardwise/operation/composed.hpp"
#include "shardwise/operation/logical.hpp"
#include "shardwise/operation/norm.hpp"
#include "shardwise/operation/normalising.hpp"
#include "shardwise/operation/stop_gradient.hpp"
#include "shardwise/operation/transcendental.hpp"
#include "shardwise/operation/whole_dims.hpp"
#include "shardwise/operation/whole_elements.hpp"

#include <cstdint>
#include <limits>
#include <utility>

namespace shardwise {

/// The names of these reductions in errors.
template <int... Dims>
struct variance_of;
template <int... Dims>
struct standard_deviation_of;
template <int... Dims>
struct logsumexp_of;
template <int... Dims>
struct nanmean_of;
template <int... Dims>
struct nanvar_of;

namespace detail {

/// Returns `finish` of the sum of the squares of the differences from the mean, divided by the
/// number of elements less the correction.
template <int... Dims, class X, class Finish, class... Options>
[[nodiscard]] constexpr auto variance_of_differences(const X& x, const Finish& finish,
                                                     const Options&... options) {
  constexpr auto permitted = decltype(internal::permitted_among(options...)){};
  const auto wide = internal::widened(x);
  const auto center = internal::with_dims(
      [&](const auto&... dims) {
        return internal::finished(mean<Dims...>(wide, dims..., keep_dims), permitted);
      },
      options...);
  return internal::with_dims(
      [&](const auto&... dims) {
        const index_t elements = internal::dims_of<Dims...>(x, dims...).count(x.extents());
        const auto divisor = internal::divisor_of_sum<squares_type<typename X::value_type>>(
            internal::terms_less(elements, {internal::correction_among(options...)}), elements);
        if constexpr (internal::keeps_dims<Options...>)
          return finish(internal::sum_of_squares<Dims...>(wide - center, dims..., keep_dims) /
                        divisor);
        else
          return finish(internal::sum_of_squares<Dims...>(wide - center, dims...) / divisor);
      },
      options...);
}

}  // namespace detail

/// Returns the variance over the given dimensions, or over all: the mean of the squared differences
/// from the mean, computed in two passes to avoid cancellation. Uneven shards are weighted
/// correctly. It is NaN if there are no elements; a pending variance needs more elements than the
/// correction. Options are `keep_dims`, `correction{1}` for the sample variance and, for an
/// `any_tensor`, `over{...}`.
///
///     auto v = variance<1>(x);                       // f32[512, 64] -> f32[512]
///     auto v = variance<1>(x, correction{1}, keep_dims);
///
/// If a dimension is split, devices need the global mean: `across` names the axes over which its
/// sums, one number for each result, are reduced. The result is a pending sum, as that of `sum` is;
/// for `bfloat16` and `float16`, which are rounded once, it is finished.
///
///     auto v = variance<1>(x, across<"model">);
template <int... Dims, NamedOperand X, class... Options>
[[nodiscard]] constexpr auto variance(const X& x, const Options&... options) {
  if constexpr (internal::ends_with_result_as<Options...>()) {
    return internal::on_request(
        [&](const auto&... given) { return variance<Dims...>(x, given...); }, options...);
  } else {
    const auto checked =
        internal::carry_out<detail::whole_dims_call<variance_of<Dims...>, Dims...>>(x, options...);
    if constexpr (AnyRefused<decltype(checked)>) {
      return refused_value{};
    } else {
      using T = typename X::value_type;
      constexpr auto permitted = decltype(internal::permitted_among(options...)){};
      return detail::variance_of_differences<Dims...>(
          x,
          [&](auto&& made) {
            return internal::finished_as<T>(static_cast<decltype(made)>(made), permitted);
          },
          options...);
    }
  }
}

/// Returns the square root of the variance, with the same options. Its gradient is 0 where all
/// elements are equal. If a dimension is split, both sums are reduced over the permitted axes.
///
///     auto s = standard_deviation<1>(x, across<"model">);
template <int... Dims, NamedOperand X, class... Options>
[[nodiscard]] constexpr auto standard_deviation(const X& x, const Options&... options) {
  if constexpr (internal::ends_with_result_as<Options...>()) {
    return internal::on_request(
        [&](const auto&... given) { return standard_deviation<Dims...>(x, given...); }, options...);
  } else {
    const auto checked =
        internal::carry_out<detail::whole_dims_call<standard_deviation_of<Dims...>, Dims...>>(
            x, options...);
    if constexpr (AnyRefused<decltype(checked)>) {
      return refused_value{};
    } else {
      const auto finish = [&](auto&& made) {
        return internal::finished(static_cast<decltype(made)>(made),
                                  internal::permitted_among(options...));
      };
      return internal::narrowed<typename X::value_type>(
          detail::root_of_squares(detail::variance_of_differences<Dims...>(x, finish, options...)));
    }
  }
}

/// Returns `log(sum(exp(x)))` over the given dimensions, or over all, without overflow: the maximum
/// is subtracted first. It is -infinity if there are no elements. Options are `keep_dims` and, for
/// an `any_tensor`, `over{...}`. The gradient is 0 where all elements are -infinity.
///
///     auto z = logsumexp<1>(logits);                 // f32[8@data, 64] -> f32[8@data]
///
/// If a dimension is split, `across` names the axes over which maxima and sums are reduced, one
/// number each for a result.
///
///     auto z = logsumexp<1>(logits, across<"model">);
template <int... Dims, NamedOperand X, class... Options>
[[nodiscard]] constexpr auto logsumexp(const X& x, const Options&... options) {
  if constexpr (internal::ends_with_result_as<Options...>()) {
    return internal::on_request(
        [&](const auto&... given) { return logsumexp<Dims...>(x, given...); }, options...);
  } else {
    const auto checked =
        internal::carry_out<detail::whole_dims_call<logsumexp_of<Dims...>, Dims...>>(x, options...);
    if constexpr (AnyRefused<decltype(checked)>) {
      return refused_value{};
    } else {
      using T = compute_type<typename X::value_type>;
      constexpr auto permitted = decltype(internal::permitted_among(options...)){};
      const auto wide = internal::widened(x);
      const auto largest = internal::with_dims(
          [&](const auto&... dims) {
            return internal::finished(max<Dims...>(wide, dims..., keep_dims), permitted);
          },
          options...);
      // Otherwise infinity would be subtracted from itself. The result does not depend on the
      // shift.
      const auto shift = stop_gradient(where(isfinite(largest), largest, T(0)));
      const auto total = internal::with_dims(
          [&](const auto&... dims) {
            return internal::finished(sum<Dims...>(exp(wide - shift), dims..., keep_dims),
                                      permitted);
          },
          options...);
      // Without a term, the logarithm has no slope.
      const auto is_empty = equal(total, T(0));
      const auto logarithm =
          where(is_empty, -std::numeric_limits<T>::infinity(), log(where(is_empty, T(1), total)));
      return internal::narrowed<typename X::value_type>(
          internal::without_kept<Dims...>(logarithm + shift, options...));
    }
  }
}

/// Returns the sum over the given dimensions, or over all, in which NaNs count as 0. Options are
/// those of `sum`; a split dimension leaves the result pending.
///
///     auto total = nansum<1>(x);                     // f32[512@data, 64] -> f32[512@data]
template <int... Dims, NamedOperand X, class... Options>
[[nodiscard]] constexpr auto nansum(const X& x, const Options&... options) {
  return sum<Dims...>(where(isnan(x), 0, x), options...);
}

/// Returns the maximum over the given dimensions, or over all, of the elements that are not NaN;
/// -infinity if there are none. Options are those of `max`; a split dimension leaves the result
/// pending.
///
///     auto top = nanmax<1>(x);       // f32[512, 64@model] -> f32[512]{partial max: model}
template <int... Dims, NamedOperand X, class... Options>
[[nodiscard]] constexpr auto nanmax(const X& x, const Options&... options) {
  if constexpr (has_fractions(element_of<typename X::value_type>))
    return max<Dims...>(where(isnan(x), -std::numeric_limits<float>::infinity(), x), options...);
  else
    return max<Dims...>(x, options...);
}
/// Returns the minimum of the elements that are not NaN; infinity if there are none. Options are
/// those of `min`; a split dimension leaves the result pending.
template <int... Dims, NamedOperand X, class... Options>
[[nodiscard]] constexpr auto nanmin(const X& x, const Options&... options) {
  if constexpr (has_fractions(element_of<typename X::value_type>))
    return min<Dims...>(where(isnan(x), std::numeric_limits<float>::infinity(), x), options...);
  else
    return min<Dims...>(x, options...);
}

/// Returns the mean of the elements that are not NaN, with the options of `sum`; NaN if there are
/// none. If a dimension is split, `across` names the axes over which sums and counts are reduced.
///
///     auto m = nanmean<1>(x, across<"model">);
template <int... Dims, NamedOperand X, class... Options>
[[nodiscard]] constexpr auto nanmean(const X& x, const Options&... options) {
  if constexpr (detail::WholeElements<X>) {
    return detail::refuse_whole_elements<nanmean_of<Dims...>, X>();
  } else if constexpr (internal::ends_with_result_as<Options...>()) {
    return internal::on_request([&](const auto&... given) { return nanmean<Dims...>(x, given...); },
                                options...);
  } else {
    const auto checked =
        internal::carry_out<detail::whole_dims_call<nanmean_of<Dims...>, Dims...>>(x, options...);
    if constexpr (AnyRefused<decltype(checked)>) {
      return refused_value{};
    } else {
      constexpr auto permitted = decltype(internal::permitted_among(options...)){};
      const auto total = [&](const auto& terms) {
        return internal::with_dims(
            [&](const auto&... dims) {
              if constexpr (internal::keeps_dims<Options...>)
                return internal::finished(sum<Dims...>(terms, dims..., keep_dims), permitted);
              else
                return internal::finished(sum<Dims...>(terms, dims...), permitted);
            },
            options...);
      };
      using T = typename X::value_type;
      const auto wide = internal::widened(x);
      const auto is_number = logical_not(isnan(wide));
      return internal::narrowed<T>(total(where(is_number, wide, 0)) /
                                   cast<compute_type<T>>(total(cast<std::int64_t>(is_number))));
    }
  }
}

/// Returns the variance of the elements that are not NaN: the sum of the squared differences from
/// their mean, divided by their number minus that of `correction{1}`; NaN if there are none.
/// Options are those of `variance`. If a dimension is split, `across` names the axes over which
/// sums and counts are reduced; the result is a pending sum, or finished for `bfloat16` and
/// `float16`.
///
///     auto v = nanvar<1>(x, correction{1}, across<"model">);
template <int... Dims, NamedOperand X, class... Options>
[[nodiscard]] constexpr auto nanvar(const X& x, const Options&... options) {
  if constexpr (detail::WholeElements<X>) {
    return detail::refuse_whole_elements<nanvar_of<Dims...>, X>();
  } else if constexpr (internal::ends_with_result_as<Options...>()) {
    return internal::on_request([&](const auto&... given) { return nanvar<Dims...>(x, given...); },
                                options...);
  } else {
    const auto checked =
        internal::carry_out<detail::whole_dims_call<nanvar_of<Dims...>, Dims...>>(x, options...);
    if constexpr (AnyRefused<decltype(checked)>) {
      return refused_value{};
    } else {
      using T = typename X::value_type;
      constexpr auto permitted = decltype(internal::permitted_among(options...)){};
      const auto wide = internal::widened(x);
      const auto is_number = logical_not(isnan(wide));
      const auto total = [&](auto&& terms, const auto&... keep) {
        return internal::with_dims(
            [&](const auto&... dims) {
              return sum<Dims...>(static_cast<decltype(terms)>(terms), dims..., keep...);
            },
            options...);
      };
      // Counted once: with the kept dimensions, which a sum over one element removes.
      const auto count = cast<compute_type<T>>(
          internal::finished(total(cast<std::int64_t>(is_number), keep_dims), permitted));
      // Without NaN, which would spread to the gradient of all elements.
      const auto known = where(is_number, wide, 0);
      const auto center = internal::finished(total(known, keep_dims), permitted) / count;
      const auto squares = [&](const auto&... keep) {
        return internal::with_dims(
            [&](const auto&... dims) {
              return internal::sum_of_squares<Dims...>(where(is_number, known - center, 0), dims...,
                                                       keep...);
            },
            options...);
      };
      const auto terms =
          maximum(internal::for_products(count) - internal::correction_among(options...), 0);
      if constexpr (internal::keeps_dims<Options...>)
        return internal::finished_as<T>(squares(keep_dims) / terms, permitted);
      else
        return internal::finished_as<T>(
            squares() / internal::without_kept<Dims...>(terms, options...), permitted);
    }
  }
}

}  // namespace shardwise
