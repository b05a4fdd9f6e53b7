// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/error.hpp"
#include "shardwise/kernel/any_block.hpp"
#include "shardwise/kernel/loop_nest.hpp"
#include "shardwise/kernel/scratch_memory.hpp"
#include "shardwise/layout/shard.hpp"
#include "shardwise/operation/out_of_range.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace shardwise::detail {

template <class T>
void append_indices(const const_any_block& block, scratch_vector<index_t>& to) {
  const strided<const T> from = block.as<const T>();
  loop_nest<1> nest;
  for (int d = 0; d < from.rank(); ++d) nest.push({from.extents[d], {from.strides[d]}});
  to.reserve(static_cast<std::size_t>(nest.size()));
  for_each_piece(nest, 0, nest.size(), [&](index_t, const index_t(&at)[1], index_t run) {
    for (index_t i = 0; i < run; ++i)
      to.push_back(static_cast<index_t>(from.data[at[0] + i * nest.inner_stride(0)]));
  });
}

/// Returns the integers of a block of any integer type, in row-major order.
[[nodiscard]] inline scratch_vector<index_t> indices_of(const const_any_block& block) {
  scratch_vector<index_t> all;
  switch (block.type) {
    case element::i32:
      append_indices<std::int32_t>(block, all);
      break;
    case element::i8:
      append_indices<std::int8_t>(block, all);
      break;
    case element::u8:
      append_indices<std::uint8_t>(block, all);
      break;
    default:
      append_indices<std::int64_t>(block, all);
  }
  return all;
}

/// Returns the index in a block of rank 0.
[[nodiscard]] inline index_t index_of(const const_any_block& block) { return indices_of(block)[0]; }
/// Returns the index in a block of rank 0, clamped to 0 up to `last`.
[[nodiscard]] inline index_t clamped_index(const const_any_block& block, index_t last) {
  const index_t at = index_of(block);
  return at < 0 ? 0 : (at > last ? last : at);
}

/// Returns the positions of indices along a dimension of `size` elements among those that a device
/// holds; -1 for those that it does not hold, and for those out of range in the mode `fill`.
[[nodiscard]] inline scratch_vector<index_t> local_indices(const const_any_block& block,
                                                           out_of_range mode, index_t size,
                                                           const held_range& held) {
  scratch_vector<index_t> all = indices_of(block);
  for (index_t& at : all) {
    if (mode == out_of_range::clamp && size > 0)
      at = at < 0 ? 0 : (at < size ? at : size - 1);
    else if (at < 0 && at >= -size)
      at += size;
    if (at < 0 || at >= size) {
      if (mode != out_of_range::fill)
        fail({.rule = violation::index_is_out_of_range, .have = at, .want = size});
      at = -1;
    } else if (held.split.how.is_contiguous()) {
      at = at >= held.range.begin && at < held.range.end ? at - held.range.begin : -1;
    } else {
      const grained_split::place place = held.split.find(at);
      at = place.position == held.position ? place.local : -1;
    }
  }
  return all;
}

}  // namespace shardwise::detail
