// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/comparison.hpp"
#include "shardwise/operation/composed.hpp"
#include "shardwise/operation/logical.hpp"
#include "shardwise/operation/transcendental.hpp"
#include "shardwise/operation/whole_dims.hpp"

namespace shardwise {

namespace detail {

/// Returns the square root of a sum of squares. Where the sum is 0, so are its terms, and their
/// gradient is 0 instead of 0 times the infinite slope of the root.
template <class Sum>
[[nodiscard]] constexpr auto root_of_squares(const Sum& sum) {
  using T = typename Sum::value_type;
  const auto is_zero = equal(sum, T(0));
  return where(is_zero, sum, sqrt(where(is_zero, T(1), sum)));
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
  if constexpr (detail::ends_with_result_as<Options...>()) {
    return detail::on_request([&](const auto&... given) { return l2_norm<Dims...>(x, given...); },
                              options...);
  } else {
    const auto checked =
        detail::carry_out<detail::whole_dims_call<l2_norm_of<Dims...>, Dims...>>(x, options...);
    if constexpr (AnyRefused<decltype(checked)>) {
      return refused_value<>{};
    } else {
      constexpr auto permitted = decltype(detail::permitted_among(options...)){};
      return detail::with_dims(
          [&](const auto&... dims) {
            if constexpr (detail::keeps_dims<Options...>)
              return detail::root_of_squares(
                  detail::finished(sum<Dims...>(square(x), dims..., keep_dims), permitted));
            else
              return detail::root_of_squares(
                  detail::finished(sum<Dims...>(square(x), dims...), permitted));
          },
          options...);
    }
  }
}

/// Returns the largest magnitude over the given dimensions, or over all; -infinity if there are no
/// elements. Options are those of `max`; a split dimension leaves the result pending.
template <int... Dims, NamedOperand X, class... Options>
[[nodiscard]] constexpr auto max_norm(const X& x, const Options&... options) {
  return max<Dims...>(abs(x), options...);
}

}  // namespace shardwise
