// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/engine/number_operand.hpp"
#include "shardwise/host/factories.hpp"
#include "shardwise/kernel/reduction_identity.hpp"

#include <cstdint>
#include <memory>
#include <utility>

namespace shardwise::detail {

/// The same for a known shard table.
[[nodiscard]] inline node_ptr make_placed_shards(
    const std::shared_ptr<pool_state>& home, shard_table_ptr place, const element_kernels& elements,
    function_view<void(index_t, const held_box&, const any_block&)> fill,
    internal::filled_by threads = internal::filled_by::pool) {
  const shard_table& where = *place;
  auto made = std::make_shared<tensor_node>(home, std::move(place), elements);
  if (home->link() != nullptr) made->set_origin(home->next_origin());
  run_for_owners(home->link(), [&] { made->allocate(home->storage(), home->memory()); });
  home->run_shards(
      where,
      [&](index_t shard) {
        fill(shard, where.held_by(where.device_of(shard)), made->writable_block(shard));
      },
      threads == internal::filled_by::pool ? where.count() * where.bytes_per_device() : 0);
  made->set_ready();
  return made;
}

}  // namespace shardwise::detail

namespace shardwise::internal {

SHARDWISE_INLINE node_ptr
make_any_shards(const std::shared_ptr<pool_state>& home, const tensor_desc& tensor,
                const element_kernels& elements,
                function_view<void(index_t, const held_box&, const any_block&)> fill) {
  require(check_known(home->mesh(), tensor.layout, tensor.extents));
  return make_placed_shards(home, home->place(tensor), elements, fill);
}

SHARDWISE_INLINE bool has_elements(const shard_table& where, index_t shard) noexcept {
  const device_groups terms(where.mesh(), where.tensor().layout.pending_axes());
  return terms.position_of(where.first_device_of(shard)) == 0;
}

SHARDWISE_INLINE node_ptr
make_any_filled(const std::shared_ptr<pool_state>& home, const tensor_desc& tensor,
                const element_kernels& elements,
                function_view<void(const held_box&, const any_block&)> fill, filled_by threads) {
  require(check_known(home->mesh(), tensor.layout, tensor.extents));
  std::uint64_t identity = 0;
  with_computed_type(tensor.type, [&](auto number) {
    number = identity_of<decltype(number)>(tensor.layout.kind);
    elements.store(&number, 1, &identity);
  });
  const shard_table_ptr where = home->place(tensor);
  return make_placed_shards(
      home, where, elements,
      [&](index_t shard, const held_box& part, const any_block& block) {
        if (has_elements(*where, shard)) return fill(part, block);
        inplace_vector<index_t, max_rank> nowhere;
        nowhere.resize(block.extents.size());
        elements.copy({&identity, block.type, block.extents, nowhere}, block);
      },
      threads);
}

SHARDWISE_INLINE void for_each_run(const held_box& part,
                                   function_view<void(const global_index&, index_t, index_t)> run) {
  inplace_vector<index_t, max_rank> local;
  global_index at{};
  for (const held_range& held : part) {
    if (held.size() == 0) return;
    local.push_back(0);
    at.push_back(held.global(0));
  }
  const int last = part.ssize() - 1;
  if (last < 0) return run(at, 0, 1);
  for (index_t place = 0;;) {
    for (index_t x = 0, count = 0; x < part[last].size(); x += count, place += count) {
      at[last] = part[last].global(x);
      count = part[last].run(x);
      run(at, place, count);
    }
    int d = last - 1;
    for (bool more = false; d >= 0 && !more; d -= more ? 0 : 1) {
      more = ++local[d] < part[d].size();
      if (!more) local[d] = 0;
      at[d] = part[d].global(local[d]);
    }
    if (d < 0) return;
  }
}

SHARDWISE_INLINE void require_pool(const mesh_desc& pool, const mesh_desc& wanted) {
  const diagnosis verdict = check_pool(pool, wanted);
  if (verdict.ok()) return;
  message_text both;
  both << "the pool has " << pool << ", the tensor " << wanted
       << ": device_pool pool{M{}} has the mesh M of the tensor";
  fail(verdict, both);
}

}  // namespace shardwise::internal
