// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/strided.hpp"
#include "shardwise/layout/element.hpp"

namespace shardwise {

/// A block of memory of any element type: a `strided` whose type is a value. Strides count
/// elements.
template <class Memory>
struct basic_block {
  Memory* data = nullptr;
  element type = element::f32;
  inplace_vector<index_t, max_rank> extents{};
  inplace_vector<index_t, max_rank> strides{};

  [[nodiscard]] constexpr int rank() const noexcept { return extents.ssize(); }
  [[nodiscard]] constexpr index_t size() const noexcept {
    index_t n = 1;
    for (index_t extent : extents) n *= extent;
    return n;
  }
  /// Returns the same block with elements of type `T`, which must be their type.
  template <class T>
  [[nodiscard]] strided<T> as() const noexcept {
    return {static_cast<T*>(data), extents, strides};
  }
};

/// A block to read from, and a block to write to.
using const_any_block = basic_block<const void>;
using any_block = basic_block<void>;

/// Moves the start of a block by `elements`.
inline void advance(const_any_block& block, index_t elements) noexcept {
  if (block.data == nullptr) return;  // an empty block may have no memory
  block.data = static_cast<const char*>(block.data) + elements * size_of(block.type);
}
inline void advance(any_block& block, index_t elements) noexcept {
  if (block.data == nullptr) return;
  block.data = static_cast<char*>(block.data) + elements * size_of(block.type);
}

}  // namespace shardwise
