// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/engine/shards_of_all.hpp"
#include "shardwise/host/host.hpp"
#include "shardwise/tensor/shared_blocks.hpp"

namespace shardwise::detail {

SHARDWISE_INLINE void require_size(const extents_desc& extents, index_t size) {
  if (element_count(extents) != size)
    fail({.rule = violation::host_size_differs, .have = size, .want = element_count(extents)});
}

}  // namespace shardwise::detail

namespace shardwise::internal {

SHARDWISE_INLINE void require_readable(const tensor_node& owner) {
  const shard_table& where = owner.where();
  const tensor_desc& tensor = where.tensor();
  const diagnosis verdict = check_reading(where.mesh(), tensor.layout);
  if (verdict.rule == violation::partial_value_is_read) {
    const factor_rule reading = elementwise_rule(linearity::nonlinear, {tensor.extents});
    fail(verdict, advice(where.mesh(), reading, {tensor}, verdict));
  }
  require(verdict);
}

SHARDWISE_INLINE bool is_owner(const tensor_node& of, index_t owner) {
  const owner_link* const link = of.home()->link();
  const index_t owners = link != nullptr ? link->owners().count() : 1;
  if (owner < 0 || owner >= owners)
    fail({.rule = violation::owner_is_out_of_range, .have = owner, .want = owners});
  return link == nullptr || owner == link->self();
}

SHARDWISE_INLINE void gather_into(tensor_node& owner, void* memory, std::optional<index_t> reader) {
  const shard_table& where = owner.where();
  const tensor_desc& tensor = where.tensor();
  owner.evaluate();
  const shards_of_all shards(owner, reader);
  if (reader && !is_owner(owner, *reader)) return;
  const any_block whole{memory, tensor.type, tensor.extents, row_major(tensor.extents)};
  const held_box everything = whole_of(tensor.extents);
  // Of elements that several devices have in halos, each copies its own.
  const bool has_halo = tensor.layout.has_halo();
  const layout_desc own = tensor.layout.without_halos();
  owner.home()->team().run(
      where.count(),
      [&](index_t shard) {
        const index_t device = where.first_device_of(shard);
        const const_any_block block = shards.block_of(shard);
        copy_shared(owner.elements(), held_of(where.mesh(), own, tensor.extents, device),
                    has_halo ? part_of_block(block, where.box_of(device),
                                             shard_box(where.mesh(), own, tensor.extents, device))
                             : block,
                    everything, whole);
      },
      2 * element_count(tensor.extents) * size_of(tensor.type));
}

}  // namespace shardwise::internal
