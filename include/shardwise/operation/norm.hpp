// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/comparison.hpp"
#include "shardwise/operation/composed.hpp"
#include "shardwise/operation/exponential.hpp"
#include "shardwise/operation/logical.hpp"
#include "shardwise/operation/normalising.hpp"
#include "shardwise/operation/sum_of_squares.hpp"
#include "shardwise/operation/transcendental.hpp"
#include "shardwise/operation/whole_dims.hpp"

#include <limits>

namespace shardwise {

namespace detail {

/// Returns a root of a sum of powers of magnitudes. Where the sum is 0, so are its terms, and their
/// gradient is 0 instead of 0 times the infinite slope of the root.
template <class Sum, class Root>
[[nodiscard]] constexpr auto root_of_sum(const Sum& sum, const Root& root) {
  using T = typename Sum::value_type;
  const auto is_zero = equal(sum, T(0));
  return where(is_zero, sum, root(where(is_zero, T(1), sum)));
}
template <class Sum>
[[nodiscard]] constexpr auto root_of_squares(const Sum& sum) {
  return root_of_sum(sum, [](auto&& x) { return sqrt(static_cast<decltype(x)>(x)); });
}

/// Returns a root of `sum(x, dims...)`, which is reduced over permitted axes before. Its callers
/// check the operand, so that an error is reported where the program calls them.
template <class X, class Sum, class Root, class... Options>
[[nodiscard]] constexpr auto norm_of(const X& x, const Sum& sum, const Root& root,
                                     const Options&... options) {
  constexpr auto permitted = decltype(permitted_among(options...)){};
  return narrowed<typename X::value_type>(with_dims(
      [&](const auto&... dims) {
        if constexpr (keeps_dims<Options...>)
          return root_of_sum(finished(sum(x, dims..., keep_dims), permitted), root);
        else
          return root_of_sum(finished(sum(x, dims...), permitted), root);
      },
      options...));
}

}  // namespace detail

/// Returns the sum of magnitudes over the given dimensions, or over all. Options are those of
/// `sum`; a split dimension leaves the result pending.
///
///     auto n = l1_norm<1>(x);                        // f32[512@data, 64] -> f32[512@data]
template <int... Dims, NamedOperand X, class... Options>
[[nodiscard]] constexpr auto l1_norm(const X& x, const Options&... options) {
  return sum<Dims...>(abs(x), options...);
}

/// The name of `l2_norm` in errors.
template <int... Dims>
struct l2_norm_of;

/// Returns the square root of the sum of squares over the given dimensions, or over all. Its
/// gradient is 0 where the norm is 0. If a dimension is split, `across` names the axes over which
/// the sums are reduced before the root.
///
///     auto n = l2_norm<1>(x, across<"model">);
template <int... Dims, NamedOperand X, class... Options>
[[nodiscard]] constexpr auto l2_norm(const X& x, const Options&... options) {
  if constexpr (internal::ends_with_result_as<Options...>()) {
    return internal::on_request([&](const auto&... given) { return l2_norm<Dims...>(x, given...); },
                                options...);
  } else {
    const auto checked =
        internal::carry_out<detail::whole_dims_call<l2_norm_of<Dims...>, Dims...>>(x, options...);
    if constexpr (AnyRefused<decltype(checked)>)
      return refused_value{};
    else
      return detail::norm_of(
          x,
          [](const auto& each, const auto&... dims) {
            return internal::sum_of_squares<Dims...>(each, dims...);
          },
          [](auto&& sum) { return sqrt(static_cast<decltype(sum)>(sum)); }, options...);
  }
}

namespace detail {

/// Fails unless the order of a norm is positive and finite.
constexpr void require_order(double p) {
  internal::require_within(p > 0 && p <= std::numeric_limits<double>::max(),
                           "the order of a norm is positive and finite; max_norm is the limit");
}

}  // namespace detail

/// The name of `lp_norm` in errors.
template <int... Dims>
struct lp_norm_of;

/// Returns the norm of order `p`, a positive number, over the given dimensions, or over all: the
/// sum of magnitudes to the power of `p`, to the power of `1 / p`. Its gradient is 0 where the norm
/// is 0; at single elements that are 0 it is finite if `p` is at least 1. Options are those of
/// `l2_norm`. Powers of large elements overflow, unlike those of `max_norm`, its limit. Throws
/// `number_is_out_of_range` unless `p` is positive and finite.
///
///     auto n = lp_norm<1>(x, 3, across<"model">);
template <int... Dims, NamedOperand X, class... Options>
[[nodiscard]] constexpr auto lp_norm(const X& x, double p, const Options&... options) {
  detail::require_order(p);
  if constexpr (internal::ends_with_result_as<Options...>()) {
    return internal::on_request(
        [&](const auto&... given) { return lp_norm<Dims...>(x, p, given...); }, options...);
  } else {
    const auto checked =
        internal::carry_out<detail::whole_dims_call<lp_norm_of<Dims...>, Dims...>>(x, options...);
    if constexpr (AnyRefused<decltype(checked)>)
      return refused_value{};
    else
      return detail::norm_of(
          x,
          [p](const auto& each, const auto&... dims) {
            return sum<Dims...>(pow(abs(internal::widened(each)), p), dims...);
          },
          [p](auto&& sum) { return pow(static_cast<decltype(sum)>(sum), 1 / p); }, options...);
  }
}

/// Returns the largest magnitude over the given dimensions, or over all; -infinity if there are no
/// elements. Options are those of `max`; a split dimension leaves the result pending.
template <int... Dims, NamedOperand X, class... Options>
[[nodiscard]] constexpr auto max_norm(const X& x, const Options&... options) {
  return max<Dims...>(abs(x), options...);
}

}  // namespace shardwise
