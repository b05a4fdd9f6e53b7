// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/tensor/block_bounds.hpp"
#include "shardwise/tensor/node.hpp"
#include "shardwise/tensor/shared_blocks.hpp"

#include <cassert>

namespace shardwise {

SHARDWISE_INLINE tensor_node::~tensor_node() {
  if (charged_ != nullptr) charge(*charged_, -1);
  while (!shards_.empty()) shards_.pop_back();
}

SHARDWISE_INLINE void tensor_node::evaluate() {}

SHARDWISE_INLINE std::shared_ptr<tensor_node> tensor_node::placed_as(const layout_desc&) {
  return nullptr;
}

SHARDWISE_INLINE pending_node* tensor_node::task() noexcept { return nullptr; }

SHARDWISE_INLINE const_any_block tensor_node::block_of(index_t place) const noexcept {
  const extents_desc extents = where().extents_of_shard(place);
  const const_any_block block{shard(place).data(), tensor().type, extents, row_major(extents)};
  assert(internal::is_within(block, shard(place)));
  return block;
}

SHARDWISE_INLINE any_block tensor_node::writable_block(index_t place) noexcept {
  const extents_desc extents = where().extents_of_shard(place);
  const any_block block{shards_[static_cast<std::size_t>(place)].writable(), tensor().type, extents,
                        row_major(extents)};
  assert(internal::is_within(block, shard(place)));
  return block;
}

SHARDWISE_INLINE const_any_block tensor_node::held_by(index_t device) const noexcept {
  return block_of(where().shard_of(device));
}

SHARDWISE_INLINE const_any_block tensor_node::part_held_by(index_t device,
                                                           const index_box& want) const noexcept {
  const const_any_block part = part_of_block(held_by(device), where().box_of(device), want);
  assert(internal::is_within(part, shard(where().shard_of(device))));
  return part;
}

SHARDWISE_INLINE void tensor_node::allocate(memory_arena& storage, device_memory& memory) {
  internal::growable<shard_buffer<std::byte>> shards;
  shards.reserve(static_cast<std::size_t>(where().count()));
  for (index_t s = 0; s < where().count(); ++s)
    if (where().is_here(s))
      shards.emplace_back(storage, where().size_of_shard(s) * size_of(tensor().type));
    else
      shards.emplace_back();
  shards_ = std::move(shards);
  charge(memory);
}

SHARDWISE_INLINE void tensor_node::share_memory(
    const internal::growable<shard_buffer<std::byte>>& shards) {
  shards_ = shards;
}

SHARDWISE_INLINE void tensor_node::view_memory_of(const tensor_node& other) {
  shards_ = other.shards_;
}

SHARDWISE_INLINE void tensor_node::borrow_memory_of(const tensor_node& other) {
  shards_.resize(other.shards_.size());
  for (std::size_t s = 0; s < shards_.size(); ++s) shards_[s] = other.shards_[s].borrowed();
}

SHARDWISE_INLINE void tensor_node::drop_memory() noexcept {
  for (shard_buffer<std::byte>& each : shards_) each = {};
}

SHARDWISE_INLINE void tensor_node::take_memory_of(tensor_node& other) {
  shards_ = other.shards_;
  std::swap(charged_, other.charged_);
}

SHARDWISE_INLINE bool tensor_node::owns_memory() const noexcept {
  // Makes all writes visible that other threads did before they released their handles.
  std::atomic_thread_fence(std::memory_order_acquire);
  for (const shard_buffer<std::byte>& shard : shards_)
    if (!shard.unique()) return false;
  return true;
}

SHARDWISE_INLINE void tensor_node::charge(device_memory& memory) noexcept {
  charged_ = &memory;
  charge(memory, 1);
}

SHARDWISE_INLINE void tensor_node::charge(device_memory& memory, index_t sign) noexcept {
  for (index_t d = 0; d < where_->devices(); ++d)
    if (where_->owns(d)) memory.charge(d, sign * where_->charged_to(d));
}

}  // namespace shardwise
