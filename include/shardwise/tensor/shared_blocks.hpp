// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/function_view.hpp"
#include "shardwise/kernel/element_kernels.hpp"
#include "shardwise/layout/shard.hpp"

namespace shardwise {

/// Where some elements of a part of a tensor are: the offset of the first of them from the first
/// element of the part, and their strides.
struct block_place {
  index_t offset = 0;
  extents_desc extents{};
  inplace_vector<index_t, max_rank> strides{};
};

/// Returns the place of a whole part that is contiguous in memory.
[[nodiscard]] inline block_place place_of(const held_box& part) noexcept {
  const extents_desc extents = extents_of(part);
  return {0, extents, row_major(extents)};
}

/// Returns the block at a place of a part whose memory begins where `part` does.
template <class Memory>
[[nodiscard]] basic_block<Memory> block_at(basic_block<Memory> part,
                                           const block_place& place) noexcept {
  part.extents = place.extents;
  part.strides = place.strides;
  if (part.size() > 0) advance(part, place.offset);
  return part;
}

/// Calls `f(a, b)` for the elements that two parts of a tensor have in common, block by block, with
/// their places in both parts. `a` and `b` are the places of the whole parts.
void for_each_shared_block(const held_box& a_part, const block_place& a, const held_box& b_part,
                           const block_place& b,
                           function_view<void(const block_place&, const block_place&)> f);

/// Copies to a block that holds the part `to_part` of a tensor what it has in common with a block
/// that holds `from_part`.
void copy_shared(const element_kernels& elements, const held_box& from_part,
                 const const_any_block& from, const held_box& to_part, const any_block& to);

/// Returns the part `want` of a block that holds the part `have` of a tensor. The block is
/// `strided` or of any type.
template <class Block>
[[nodiscard]] Block part_of_block(Block block, const index_box& have,
                                  const index_box& want) noexcept {
  block.extents = extents_of(want);
  if (block.size() == 0) return block;
  for (int d = 0; d < have.ssize(); ++d)
    advance(block, (want[d].begin - have[d].begin) * block.strides[d]);
  return block;
}

/// Returns the part that is the whole tensor.
[[nodiscard]] inline held_box whole_of(const extents_desc& extents) noexcept {
  held_box whole;
  for (index_t extent : extents) whole.push_back({{0, extent}, {}, 0});
  return whole;
}

}  // namespace shardwise

#if !defined(SHARDWISE_COMPILED)
#include "shardwise/tensor/shared_blocks_work.hpp"
#endif
