// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

namespace shardwise {

/// What an index does that its dimension has not.
enum class out_of_range : std::uint8_t {
  /// It throws `index_is_out_of_range` where the elements are computed. Indices from -1 downwards
  /// count from the end of the dimension, here and for `fill`.
  error,
  /// It is the nearest index that there is; negative ones are 0.
  clamp,
  /// What is read there is 0, and what is written there is dropped.
  fill,
};

}  // namespace shardwise
