// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/any_block.hpp"
#include "shardwise/tensor/buffer.hpp"

#include <cstddef>
#include <functional>

namespace shardwise::internal {

/// Returns true if every element of a block lies in `bytes` bytes from `begin` on. A block without
/// elements, or without memory because its shard is elsewhere, is in any. Each block of a shard is
/// checked where it is made, by an `assert`, so only if `NDEBUG` is not defined.
template <class Memory>
[[nodiscard]] bool is_within(const basic_block<Memory>& block, const void* begin,
                             index_t bytes) noexcept {
  if (block.size() == 0 || (block.data == nullptr && begin == nullptr)) return true;
  if (block.strides.size() != block.extents.size()) return false;
  // The elements with the lowest and the highest address.
  index_t low = 0, high = 0;
  for (int d = 0; d < block.rank(); ++d) {
    const index_t far = (block.extents[d] - 1) * block.strides[d];
    (far < 0 ? low : high) += far;
  }
  const auto* const first = static_cast<const std::byte*>(begin);
  const auto* const own = static_cast<const std::byte*>(static_cast<const void*>(block.data));
  const std::less<> is_before;
  if (is_before(own, first) || is_before(first + bytes, own)) return false;
  const index_t offset = own - first, size = size_of(block.type);
  return offset + low * size >= 0 && offset + (high + 1) * size <= bytes;
}
template <class Memory>
[[nodiscard]] bool is_within(const basic_block<Memory>& block,
                             const shard_buffer<std::byte>& memory) noexcept {
  return is_within(block, memory.data(), memory.size());
}

}  // namespace shardwise::internal
