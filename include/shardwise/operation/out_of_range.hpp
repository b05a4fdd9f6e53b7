// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/index.hpp"

#include <cstdint>

namespace shardwise {

/// How to treat an index that is out of range.
enum class out_of_range : std::uint8_t {
  /// Throws `index_is_out_of_range` when the elements are computed. Negative indices, from -1,
  /// count from the end of the dimension; also for `fill`.
  error,
  /// Uses the nearest valid index, which is 0 for negative ones.
  clamp,
  /// Reads 0, and writes nothing.
  fill,
};

namespace internal {

/// Added to the `out_of_range` of an operation that looks up or sums elements: of equal indices,
/// only the last one counts. Gradients pass it on.
inline constexpr index_t only_last = 4;

}  // namespace internal

}  // namespace shardwise
