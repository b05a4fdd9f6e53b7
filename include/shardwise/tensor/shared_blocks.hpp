// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/strided.hpp"
#include "shardwise/layout/shared_run.hpp"

namespace shardwise {

/// Calls `f(a, b)` for blocks of `from` and `to` that hold the same elements of a tensor: together,
/// the intersection of `a_part`, which `from` holds, and `b_part`, which `to` holds. Dimensions
/// before `dim` have been processed.
///
/// The blocks are `strided` or of any type.
template <class A, class B, class F>
void for_each_shared_block(const held_box& a_part, const A& from, const held_box& b_part,
                           const B& to, const F& f, int dim = 0) {
  if (dim == a_part.ssize()) return f(from, to);
  for_each_shared_run(a_part[dim], b_part[dim], [&](const shared_run& run) {
    A a = from;
    B b = to;
    advance(a, run.from * from.strides[dim]);
    advance(b, run.to * to.strides[dim]);
    a.extents[dim] = b.extents[dim] = run.count;
    a.strides[dim] *= run.from_step;
    b.strides[dim] *= run.to_step;
    for_each_shared_block(a_part, a, b_part, b, f, dim + 1);
  });
}

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
