// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/tensor/arena.hpp"

namespace shardwise {

SHARDWISE_INLINE index_t memory_arena::default_cache_limit() noexcept {
  const std::size_t memory = internal::physical_memory();
  return memory > 0 ? static_cast<index_t>(memory / 4) : 1_GiB;
}

SHARDWISE_INLINE std::shared_ptr<memory_arena> memory_arena::create(
    index_t cache_limit, std::shared_ptr<memory_source> source) {
  return std::shared_ptr<memory_arena>(new memory_arena(cache_limit, std::move(source)));
}

SHARDWISE_INLINE arena_block& memory_arena::allocate(index_t bytes) {
  if (bytes < 0 || bytes > size_class::largest) internal::fail_for_memory(bytes);
  const size_class size = size_class::of(bytes);
  arena_block* block = take_free(size);
  if (block == nullptr) block = make(size);
  block->owners.store(1, std::memory_order_relaxed);
  return *block;
}

SHARDWISE_INLINE void memory_arena::trim() noexcept {
  free_lists unused{};
  {
    const std::lock_guard lock(mutex_);
    std::swap(unused, free_);
    cached_.store(0, std::memory_order_relaxed);
  }
  // Without the lock: the system may take milliseconds.
  for (arena_block* list : unused) destroy(list);
}

SHARDWISE_INLINE arena_block* memory_arena::take_free(size_class size) {
  arena_block* block = nullptr;
  {
    const std::lock_guard lock(mutex_);
    block = free_[size.index];
    if (block == nullptr) return nullptr;
    begin_use(size);
    free_[size.index] = std::exchange(block->next, nullptr);
    add(cached_, -signed_bytes(size));
  }
  detail::permit(block->data, size.bytes);
  return block;
}

SHARDWISE_INLINE arena_block* memory_arena::make(size_class size) {
  auto block = std::make_unique<arena_block>();
  void* memory = take(size.bytes);
  if (memory == nullptr) {
    trim();
    memory = take(size.bytes);
    if (memory == nullptr) internal::fail_for_memory(signed_bytes(size));
  }
  block->data = static_cast<std::byte*>(memory);
  block->size = size;
  block->home = this;
  const std::lock_guard lock(mutex_);
  begin_use(size);
  add(system_allocations_, 1);
  return block.release();
}

SHARDWISE_INLINE void memory_arena::recycle(arena_block& block) noexcept {
  const index_t bytes = signed_bytes(block.size);
  detail::forbid(block.data, block.size.bytes);
  // Destroyed last, after the lock is released: it may be the owner of this arena.
  std::shared_ptr<memory_arena> last_owner;
  {
    const std::lock_guard lock(mutex_);
    add(allocated_, -bytes);
    if (--blocks_in_use_ == 0) last_owner = std::move(self_);
    if (cached_bytes() + bytes <= cache_limit_) {
      block.next = std::exchange(free_[block.size.index], &block);
      return add(cached_, bytes);
    }
    // Another thread may release the last block before `trim`.
    if (last_owner == nullptr) last_owner = self_;
  }
  destroy(&block);
  // Old sizes must not exclude new ones, and tracking ages would slow down every call.
  if (bytes <= cache_limit_) trim();
}

SHARDWISE_INLINE void memory_arena::destroy(arena_block* list) noexcept {
  while (list != nullptr) {
    const std::unique_ptr<arena_block> block(std::exchange(list, list->next));
    detail::permit(block->data, block->size.bytes);
    if (memory_source* const source = block->home->source_.get())
      source->give_back(block->data, block->size.bytes);
    else
      internal::return_memory(block->data, block->size.bytes);
  }
}

}  // namespace shardwise
