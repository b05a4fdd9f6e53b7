// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/cast.hpp"
#include "shardwise/operation/reduce.hpp"

#include <cstdint>
#include <type_traits>

namespace shardwise {

namespace detail {
/// Converts elements to `bool`: a number is true if it is not 0.
template <class X>
[[nodiscard]] constexpr decltype(auto) truth_of(const X& x) {
  if constexpr (std::is_same_v<typename X::value_type, bool>)
    return (x);
  else
    return cast<bool>(x);
}
}  // namespace detail

/// Returns whether any element is true, or not 0, over the given dimensions or over all; false if
/// there are no elements. Options are those of `max`, which this is for `bool`; a split dimension
/// leaves the result pending.
///
///     auto found = any<1>(x > 9);                    // bool[512@data, 64] -> bool[512@data]
template <int... Dims, NamedOperand X, class... Options>
[[nodiscard]] constexpr auto any(const X& x, const Options&... options) {
  return max<Dims...>(detail::truth_of(x), options...);
}
/// Returns whether all elements are true, or not 0; true if there are no elements. Options are
/// those of `min`.
template <int... Dims, NamedOperand X, class... Options>
[[nodiscard]] constexpr auto all(const X& x, const Options&... options) {
  return min<Dims...>(detail::truth_of(x), options...);
}
/// Returns the number of elements that are true, or not 0, as a 64-bit integer. Options are those
/// of `sum`; a split dimension leaves the result pending.
///
///     auto right = count_nonzero(equal(labels, found));      // i64[]
template <int... Dims, NamedOperand X, class... Options>
[[nodiscard]] constexpr auto count_nonzero(const X& x, const Options&... options) {
  return sum<Dims...>(cast<std::int64_t>(detail::truth_of(x)), options...);
}

}  // namespace shardwise
