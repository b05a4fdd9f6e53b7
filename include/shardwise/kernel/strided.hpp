// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/index.hpp"
#include "shardwise/core/inplace_vector.hpp"
#include "shardwise/rule/strided_elements.hpp"

namespace shardwise {

/// A block of memory as kernels use it: its address, its extents, and the distance between adjacent
/// elements along each dimension (0 repeats an element: a broadcast).
template <class T>
struct strided {
  T* data = nullptr;
  inplace_vector<index_t, max_rank> extents{};
  inplace_vector<index_t, max_rank> strides{};

  [[nodiscard]] constexpr int rank() const noexcept { return extents.ssize(); }
  /// Returns the number of elements that the extents span.
  [[nodiscard]] constexpr index_t size() const noexcept {
    index_t n = 1;
    for (index_t extent : extents) n *= extent;
    return n;
  }
};

/// Moves the start of a block by `elements`.
template <class T>
constexpr void advance(strided<T>& block, index_t elements) noexcept {
  if (block.data != nullptr) block.data += elements;  // an empty block may have no memory
}

}  // namespace shardwise
