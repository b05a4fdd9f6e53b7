// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/core/growable.hpp"
#include "shardwise/engine/device_pool.hpp"
#include "shardwise/kernel/scratch_memory.hpp"
#include "shardwise/plan/normal_form.hpp"

#include <algorithm>

namespace shardwise {

SHARDWISE_INLINE device_error::device_error(index_t device, const char* words)
    : std::runtime_error("device " + std::to_string(device) + ": " + words), device_(device) {}

namespace internal {

/// Gives kernels temporary memory from an arena.
inline void take_scratch(void* of, std::size_t bytes, void* to) {
  arena_block& block = static_cast<memory_arena*>(of)->allocate(static_cast<index_t>(bytes));
  *static_cast<scratch_source::block*>(to) = {
      block.data, &block,
      [](void* token) noexcept { memory_arena::release(*static_cast<arena_block*>(token)); }};
}

}  // namespace internal

SHARDWISE_INLINE pool_state::pool_state(const mesh_desc& mesh, index_t threads,
                                        std::stop_token stop)
    : pool_state(mesh, links(), threads, std::move(stop)) {}

SHARDWISE_INLINE pool_state::pool_state(const mesh_desc& mesh, owner_share share, index_t threads,
                                        std::stop_token stop)
    : pool_state(mesh, link_of(checked(mesh), std::move(share)), threads, std::move(stop)) {}

SHARDWISE_INLINE pool_state::~pool_state() = default;

SHARDWISE_INLINE shard_table_ptr pool_state::place(const tensor_desc& tensor) const {
  internal::word_hash hash;
  hash.add(tensor);
  // One of a few places, so that tensors that a program uses in turn keep theirs.
  const std::size_t first = hash.bits() % (tables_.size() / places) * places;
  const std::lock_guard lock(placing_);
  for (std::size_t i = first; i < first + places; ++i)
    if (tables_[i] != nullptr && tables_[i]->tensor() == tensor) return tables_[i];
  return tables_[first + next_place_++ % places] =
             link() == nullptr ? std::make_shared<const shard_table>(mesh_, tensor)
                               : std::make_shared<const shard_table>(
                                     mesh_, tensor, link()->owners(), link()->self());
}

SHARDWISE_INLINE void pool_state::for_each_device(function_view<void(index_t)> body, index_t work) {
  if (link() == nullptr)
    return run_named(
        devices_, [](index_t device) { return device; }, body, work);
  const auto device_of = [this](index_t i) { return own_devices_[static_cast<std::size_t>(i)]; };
  run_named(
      static_cast<index_t>(own_devices_.size()), device_of, [&](index_t i) { body(device_of(i)); },
      work);
}

SHARDWISE_INLINE void pool_state::run_shards(const shard_table& where,
                                             function_view<void(index_t)> body, index_t work) {
  run_named(
      where.count_here(), [&](index_t i) { return where.device_of(where.shard_here(i)); },
      [&](index_t i) { body(where.shard_here(i)); }, work);
}

SHARDWISE_INLINE void pool_state::run_parts(const shard_table& where, index_t parts,
                                            function_view<void(index_t, index_t)> body,
                                            index_t work) {
  const auto shard_of = [&](index_t i) { return where.shard_here(i / parts); };
  run_named(
      where.count_here() * parts, [&](index_t i) { return where.device_of(shard_of(i)); },
      [&](index_t i) { body(shard_of(i), i % parts); }, work);
}

SHARDWISE_INLINE void pool_state::run_named(index_t count,
                                            function_view<index_t(index_t)> device_of,
                                            function_view<void(index_t)> body, index_t work) {
  const machine_turn* const turn = machine_turn::current();
  const scratch_source scratch{arena_.get(), internal::take_scratch};
  // Captured by value: otherwise other threads would fetch what a task reads, one cache line after
  // another.
  const auto named = [turn, scratch, body, device_of](index_t task) {
    const machine_turn::worker working(turn);
    const scratch_scope memory(scratch);
#if defined(__cpp_exceptions)
    try {
      body(task);
    } catch (const pool_stopped&) {
      throw;
    } catch (const std::exception& original) {
      throw device_error(device_of(task), original.what());
    } catch (...) {
      throw device_error(device_of(task), "an exception that is not a std::exception");
    }
#else
    (void)device_of;
    body(task);
#endif
  };
  internal::run_for_owners(link(), [&] { team_.run(count, named, work); });
}

SHARDWISE_INLINE pool_state::pool_state(const mesh_desc& mesh, links others, index_t threads,
                                        std::stop_token stop)
    : devices_by_position_(copy_of(checked(mesh).order.devices())),
      positions_by_device_(copy_of(mesh.order.positions())),
      mesh_{mesh.axes, device_order(devices_by_position_, positions_by_device_)},
      devices_(mesh.devices()),
      memory_(devices_),
      arena_(others.link != nullptr ? others.work->arena(*others.link) : memory_arena::create()),
      links_(std::move(others)),
      own_devices_(devices_of(link(), devices_)),
      team_(threads != 0 ? threads : default_threads(), std::move(stop)) {
  if (link() != nullptr) link()->stop_with(team_);
}

SHARDWISE_INLINE internal::growable<index_t> pool_state::devices_of(const owner_link* link,
                                                                    index_t devices) {
  internal::growable<index_t> own;
  for (index_t d = 0; d < devices; ++d)
    if (link == nullptr || link->owners().owner_of(d) == link->self()) own.push_back(d);
  return own;
}

SHARDWISE_INLINE pool_state::links pool_state::link_of(const mesh_desc& mesh, owner_share share) {
  const index_t owners = share.group != nullptr ? share.group->count() : 1;
  if (static_cast<index_t>(share.owner_of.size()) != mesh.devices())
    fail({.rule = violation::device_count_differs,
          .have = static_cast<index_t>(share.owner_of.size()),
          .want = mesh.devices()});
  for (const index_t count : {share.message_bytes, share.in_flight})
    if (count < 1)
      fail({.rule = violation::amount_is_out_of_range, .have = count, .want = 1},
           "owners exchange messages of message_bytes, in_flight of them at a time");
  for (index_t d = 0; d < mesh.devices(); ++d)
    if (const index_t owner = share.owner_of[static_cast<std::size_t>(d)];
        owner < 0 || owner >= owners)
      fail({.rule = violation::owner_is_out_of_range,
            .operand = static_cast<int>(d),
            .have = owner,
            .want = owners});
  for (index_t owner = 0; owner < owners; ++owner)
    if (std::find(share.owner_of.begin(), share.owner_of.end(), owner) == share.owner_of.end())
      fail({.rule = violation::owner_is_out_of_range, .have = owners, .want = mesh.devices()},
           "there are more owners than own a device, and one that owns none takes no part");
  if (owners == 1) return {};
  static constexpr internal::owner_work work{&internal::exchange_pieces, &internal::finish_pieces,
                                             &internal::give_up_pieces,  &internal::collect_shards,
                                             &internal::describe_run,    &internal::cores_of,
                                             &internal::shared_arena,    &internal::exchange_step};
  message_text what;
  what << mesh;
  return {
      std::make_shared<owner_link>(std::move(share), std::string_view(what.c_str(), what.size())),
      &work};
}

SHARDWISE_INLINE const mesh_desc& pool_state::checked(const mesh_desc& mesh) {
  require(validate(mesh));
  for (const axis_desc& axis : mesh.axes)
    if (axis.size == dyn) fail({.rule = violation::mesh_size_is_unknown, .axis = axis.label});
  return mesh;
}

SHARDWISE_INLINE internal::growable<index_t> pool_state::copy_of(device_numbers numbers) {
  return {numbers.begin(), numbers.end()};
}

SHARDWISE_INLINE unsigned pool_state::default_threads() const {
  const index_t cores =
      link() != nullptr ? links_.work->cores(*link()) : core_set::available().size();
  return static_cast<unsigned>(std::min(static_cast<index_t>(own_devices_.size()), cores));
}

namespace internal {

SHARDWISE_INLINE index_t cores_of(const owner_link& link) {
  // The processes of a host divide its cores, unless each is bound to its own.
  const index_t sharers = link.group().host_count(link.patience());
  const index_t share = link.group().host_cores().size() / sharers;
  return std::clamp<index_t>(share, 1, core_set::available().size());
}

SHARDWISE_INLINE std::shared_ptr<memory_arena> shared_arena(const owner_link& link) {
  if (!link.shares_memory()) return memory_arena::create();
  return memory_arena::create(
      memory_arena::default_cache_limit() / link.group().host_count(link.patience()),
      link.group().memory());
}

}  // namespace internal

SHARDWISE_INLINE device_pool::device_pool(const mesh_desc& mesh, index_t threads,
                                          std::stop_token stop)
    : state_(std::make_shared<pool_state>(mesh, threads, std::move(stop))) {}

SHARDWISE_INLINE device_pool::device_pool(const mesh_desc& mesh, owner_share share, index_t threads,
                                          std::stop_token stop)
    : state_(std::make_shared<pool_state>(mesh, std::move(share), threads, std::move(stop))) {}

SHARDWISE_INLINE cost_ledger device_pool::counters() const {
  const machine_turn::look looking(state_->turn());
  cost_ledger now = state_->counted();
  now.note_live(state_->memory().peak());
  return now;
}

SHARDWISE_INLINE void device_pool::reset_counters() const {
  const machine_turn::look looking(state_->turn());
  state_->counted() = cost_ledger(mesh());
  state_->memory().reset_peaks();
  if (owner_link* const link = state_->link()) link->traffic() = {};
}

SHARDWISE_INLINE owner_traffic device_pool::traffic() const {
  const machine_turn::look looking(state_->turn());
  return state_->link() != nullptr ? state_->link()->traffic() : owner_traffic{};
}

SHARDWISE_INLINE mesh_desc device_pool::line(index_t devices) {
  if (devices < 1)
    fail({.rule = violation::axis_size_is_not_positive,
          .axis = "devices",
          .have = devices,
          .want = 1});
  return mesh_desc{{axis_desc{"devices", devices}}};
}

}  // namespace shardwise
