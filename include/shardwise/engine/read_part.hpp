// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/engine/viewed_operand.hpp"
#include "shardwise/kernel/scratch_memory.hpp"
#include "shardwise/tensor/block_bounds.hpp"
#include "shardwise/tensor/node.hpp"
#include "shardwise/tensor/shared_blocks.hpp"

#include <cassert>
#include <cstddef>
#include <vector>

namespace shardwise::internal {

/// Returns the part of an elementwise operand that corresponds to the part `want` of a result: the
/// same indices, aligned from the last dimension, and index 0 where the operand has size 1.
[[nodiscard]] inline held_box part_of_operand(const extents_desc& operand,
                                              const extents_desc& result,
                                              const held_box& want) noexcept {
  held_box part;
  for (int d = 0; d < operand.ssize(); ++d) {
    const int r = result.ssize() - operand.ssize() + d;
    part.push_back(operand[d] == 1 && result[r] != 1 ? held_range{{0, 1}, {}, 0} : want[r]);
  }
  return part;
}

/// What a device reads of an operand: a view of its shard, or of a copy of parts of it. A copy may
/// be empty, so only the flag tells which.
struct operand_part {
  const_any_block view;
  bool is_copied = false;
};

/// Returns the part `want` of a tensor, or of a view of one, on a device: a view of its shard, or
/// of a copy in `gathered` if the device has a whole dimension of which the operation takes the
/// portions of a grain.
template <class Operand>
[[nodiscard]] operand_part read_part(const Operand& operand, index_t device, const held_box& want,
                                     scratch_vector<std::byte>& gathered) {
  const held_box own = operand.where().held_by(device);
  index_box part;
  bool in_place = true;
  for (int d = 0; d < want.ssize(); ++d) {
    const grained_split& theirs = want[d].split;
    part.push_back(want[d].range);
    in_place = in_place && (theirs.parts == 1 ||
                            (theirs.how == own[d].split.how && theirs.parts == own[d].split.parts));
  }
  if (in_place) return {operand.part_held_by(device, part)};
  const extents_desc extents = extents_of(part);
  const element type = operand.tensor().type;
  gathered.resize(static_cast<std::size_t>(volume_of(part) * size_of(type)));
  const any_block copy{gathered.data(), type, extents, row_major(extents)};
  copy_shared(operand.elements(), own, operand.held_by(device), want, copy);
  return {{copy.data, type, copy.extents, copy.strides}, true};
}

/// Returns a view of an elementwise operand with the extents of the result's part; broadcast
/// dimensions have stride 0.
template <class Operand>
[[nodiscard]] operand_part broadcast_view(const Operand& operand, index_t device,
                                          const extents_desc& result, const held_box& want,
                                          scratch_vector<std::byte>& gathered) {
  const extents_desc& extents = operand.tensor().extents;
  const operand_part own =
      read_part(operand, device, part_of_operand(extents, result, want), gathered);
  const_any_block view{own.view.data, own.view.type, extents_of(want), {}};
  for (int r = 0; r < result.ssize(); ++r) {
    const int d = extents.ssize() - (result.ssize() - r);
    const bool repeats = d < 0 || (extents[d] == 1 && result[r] != 1);
    view.strides.push_back(repeats ? 0 : own.view.strides[d]);
  }
  assert(own.is_copied ? is_within(view, gathered.data(), static_cast<index_t>(gathered.size()))
                       : is_within(view, memory_held_by(operand, device)));
  return {view, own.is_copied};
}

/// Returns the view of an elementwise operand for shard `shard` of a result, whose shards are in
/// `where`. Most operands have the shard table of the result, and look-ups would be expensive for
/// small tensors.
[[nodiscard]] inline operand_part operand_view(const tensor_node& operand, const shard_table& where,
                                               index_t shard, const extents_desc& extents,
                                               scratch_vector<std::byte>& gathered) {
  if (operand.tensor().extents == where.tensor().extents && operand.where().numbers_like(where)) {
    const const_any_block whole{operand.shard(shard).data(), operand.tensor().type, extents,
                                row_major(extents)};
    assert(is_within(whole, operand.shard(shard)));
    return {whole};
  }
  const index_t device = where.device_of(shard);
  return broadcast_view(operand, device, where.tensor().extents, where.held_by(device), gathered);
}

/// The same for an operand that may be a view.
[[nodiscard]] inline operand_part operand_view(const viewed_operand& operand,
                                               const shard_table& where, index_t shard,
                                               const extents_desc& extents,
                                               scratch_vector<std::byte>& gathered) {
  if (!operand.is_view()) return operand_view(operand.read(), where, shard, extents, gathered);
  const index_t device = where.device_of(shard);
  return broadcast_view(operand, device, where.tensor().extents, where.held_by(device), gathered);
}

}  // namespace shardwise::internal
