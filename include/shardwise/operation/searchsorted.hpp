// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/comparison.hpp"
#include "shardwise/operation/counting.hpp"
#include "shardwise/operation/squeeze.hpp"

#include <type_traits>

namespace shardwise {

/// Before or behind elements that are equal to a value.
enum class search_side { left, right };

/// Returns the index at which each value would be inserted into a sorted vector: the number of its
/// elements that are less, or with `search_side::right` not greater. Every value is compared with
/// every element, in one pass. If the sorted vector is split, each device counts among its own
/// elements, and the result is a pending sum.
///
///     auto bucket = searchsorted(bounds, values);    // i64[512@data]
template <search_side Side = search_side::left, NamedOperand Sorted, NamedOperand Values>
[[nodiscard]] constexpr auto searchsorted(const Sorted& sorted, const Values& values) {
  using comparison =
      std::conditional_t<Side == search_side::left, functions::less, functions::less_equal>;
  return count_nonzero<0>(elementwise<comparison>(unsqueeze<1>(sorted), values));
}

}  // namespace shardwise
