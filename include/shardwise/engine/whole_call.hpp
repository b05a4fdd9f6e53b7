// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/engine/call_details.hpp"
#include "shardwise/engine/pending_node.hpp"
#include "shardwise/engine/read_part.hpp"
#include "shardwise/kernel/batched_call.hpp"
#include "shardwise/kernel/scratch_memory.hpp"

#include <cstddef>
#include <vector>

namespace shardwise::internal {

/// Returns the part of operand `k` that a device reads, as determined by the factors of the rule.
[[nodiscard]] inline held_box part_of(const mesh_desc& mesh, const coordinates& at,
                                      const call_details& call, std::size_t k) noexcept {
  const propagation& split = call.split;
  held_box part;
  for (std::uint8_t f : call.rule.operands[k])
    part.push_back(f == repeated
                       ? held_range{{0, 1}, {}, 0}
                       : held_of(mesh, split.axes[f], split.grains[f], split.sizes[f], at));
  return part;
}

/// Applies an operation that is not elementwise to the device of a shard of `result`: each operand
/// is read as determined by the factors of the rule. `view_of(k, device, part, gathered)` returns
/// the part of operand `k`; `memory` is that of the results after the first, if there are any.
template <class ViewOf>
void run_whole(tensor_node& result, index_t shard, const call_details& call,
               structured_kernel kernel, const further_elements& further, further_shards* memory,
               const ViewOf& view_of) {
  const mesh_desc& mesh = result.where().mesh();
  const index_t device = result.where().device_of(shard);
  const coordinates at = mesh.at(device);
  const std::size_t count = call.rule.operands.size();
  const_any_block blocks[max_operands];
  held_box parts[max_operands];
  scratch_vector<std::byte> gathered[max_operands];
  for (std::size_t k = 0; k < count; ++k) {
    parts[k] = part_of(mesh, at, call, k);
    blocks[k] = view_of(k, device, parts[k], gathered[k]);
  }
  any_block out[max_results]{result.writable_block(shard)};
  for (std::size_t k = 0; k < further.size(); ++k)
    out[1 + k] = {(*memory)[k][static_cast<std::size_t>(shard)].writable(), further[k]->type,
                  out[0].extents, out[0].strides};
  call_batched(kernel, {call.how,
                        call.rule,
                        {blocks, count},
                        {parts, count},
                        {out, 1 + further.size()},
                        call.split.sizes,
                        result.where().held_by(device)});
}

}  // namespace shardwise::internal
