// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/layout/shared_run.hpp"
#include "shardwise/tensor/shared_blocks.hpp"

namespace shardwise {

namespace detail {

/// Does what `for_each_shared_block` does for the dimensions from `dim` on; the blocks are those of
/// the positions chosen in the dimensions before it.
SHARDWISE_INLINE void share_blocks(
    const held_box& a_part, const block_place& a, const held_box& b_part, const block_place& b,
    const function_view<void(const block_place&, const block_place&)>& f, int dim) {
  if (dim == a_part.ssize()) return f(a, b);
  shared_runs runs(a_part[dim], b_part[dim]);
  for (shared_run run; runs.next(run);) {
    block_place from = a;
    block_place to = b;
    from.offset += run.from * a.strides[dim];
    to.offset += run.to * b.strides[dim];
    from.extents[dim] = to.extents[dim] = run.count;
    from.strides[dim] *= run.from_step;
    to.strides[dim] *= run.to_step;
    share_blocks(a_part, from, b_part, to, f, dim + 1);
  }
}

}  // namespace detail

SHARDWISE_INLINE void for_each_shared_block(
    const held_box& a_part, const block_place& a, const held_box& b_part, const block_place& b,
    function_view<void(const block_place&, const block_place&)> f) {
  detail::share_blocks(a_part, a, b_part, b, f, 0);
}

SHARDWISE_INLINE void copy_shared(const element_kernels& elements, const held_box& from_part,
                                  const const_any_block& from, const held_box& to_part,
                                  const any_block& to) {
  for_each_shared_block(from_part, {0, from.extents, from.strides}, to_part,
                        {0, to.extents, to.strides},
                        [&](const block_place& a, const block_place& b) {
                          elements.copy(block_at(from, a), block_at(to, b));
                        });
}

}  // namespace shardwise
