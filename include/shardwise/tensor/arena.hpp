// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/index.hpp"
#include "shardwise/tensor/memory_source.hpp"
#include "shardwise/tensor/out_of_memory.hpp"
#include "shardwise/tensor/system_memory.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <new>
#include <utility>

namespace shardwise {

/// The sizes of an arena's blocks: 64, 128 and 192 bytes, then every power of two and the three
/// quarters after it. A block is less than a quarter larger than what was asked for (from 256
/// bytes on).
struct size_class {
  std::size_t index = 0;
  std::size_t bytes = 0;

  /// The number of classes.
  static constexpr std::size_t count = 224;
  /// The largest request: no sum or product of sizes overflows below it.
  static constexpr index_t largest = index_t{1} << 60;

  /// Returns the class of the smallest blocks with at least `bytes`, `0 <= bytes <= largest`.
  [[nodiscard]] static constexpr size_class of(index_t bytes) noexcept {
    const auto wanted = static_cast<std::size_t>(std::max(bytes, index_t{1}));
    if (wanted <= 256) return {(wanted - 1) / 64, (wanted + 63) / 64 * 64};
    const auto power = static_cast<std::size_t>(std::bit_width(wanted - 1)) - 1;
    const std::size_t quarter = std::size_t{1} << (power - 2);
    const std::size_t quarters = (wanted + quarter - 1) / quarter;
    return {4 + (power - 8) * 4 + (quarters - 5), quarters * quarter};
  }
};

class memory_arena;

/// A piece of memory from an arena, with the number of its owners.
struct arena_block {
  std::byte* data = nullptr;
  size_class size{};
  std::atomic<std::uint32_t> owners{0};
  /// The arena of the block, which lives as long as one of its blocks is in use.
  memory_arena* home = nullptr;
  /// The next free block of the same class while this one is free.
  arena_block* next = nullptr;
};

/// The memory of shards. Freed blocks are kept for later requests of the same size, because fresh
/// memory costs a page fault for every page. Thread-safe.
///
/// Blocks are aligned to 64 bytes, those of 2 MiB and more to 2 MiB, on huge pages if the system
/// supports them. When the limit is reached, all cached memory is released.
class memory_arena : public std::enable_shared_from_this<memory_arena> {
 public:
  /// Returns the default limit of cached bytes: a quarter of the machine's memory, or 1 GiB if that
  /// is unknown.
  [[nodiscard]] static index_t default_cache_limit() noexcept;

  /// Creates an arena, shared by its creator and by every block in use, whose memory comes from
  /// `source`, or from the system.
  [[nodiscard]] static std::shared_ptr<memory_arena> create(
      index_t cache_limit = default_cache_limit(), std::shared_ptr<memory_source> source = {});

  memory_arena(const memory_arena&) = delete;
  memory_arena& operator=(const memory_arena&) = delete;
  ~memory_arena() { trim(); }

  /// Returns a block of at least `bytes` with one owner; its contents are not initialised.
  ///
  /// Zero bytes are valid. Throws `out_of_memory` if the system has no memory even after all
  /// cached memory was released, and if `bytes` is negative or too large.
  [[nodiscard]] arena_block& allocate(index_t bytes);

  /// Adds an owner.
  static void retain(arena_block& block) noexcept {
    block.owners.fetch_add(1, std::memory_order_relaxed);
  }

  /// Removes an owner; the last one returns the memory to its arena.
  static void release(arena_block& block) noexcept {
    if (block.owners.fetch_sub(1, std::memory_order_acq_rel) > 1) return;
    block.home->recycle(block);
  }

  /// Returns all memory that is not in use to the system.
  void trim() noexcept;

  /// Returns the bytes of all blocks in use, rounded up to their sizes.
  [[nodiscard]] index_t allocated_bytes() const noexcept {
    return allocated_.load(std::memory_order_relaxed);
  }
  /// Returns the bytes that are cached for later requests.
  [[nodiscard]] index_t cached_bytes() const noexcept {
    return cached_.load(std::memory_order_relaxed);
  }
  /// Returns how often memory was requested from the system; in a steady state it does not
  /// increase.
  [[nodiscard]] index_t system_allocations() const noexcept {
    return system_allocations_.load(std::memory_order_relaxed);
  }

 private:
  using free_lists = std::array<arena_block*, size_class::count>;

  memory_arena(index_t cache_limit, std::shared_ptr<memory_source> source) noexcept
      : cache_limit_(cache_limit), source_(std::move(source)) {}

  [[nodiscard]] void* take(std::size_t bytes) noexcept {
    return source_ != nullptr ? source_->take(bytes) : internal::take_memory(bytes);
  }

  /// Returns the most recently used cached block of this class, which may still be in a CPU cache.
  [[nodiscard]] arena_block* take_free(size_class size);

  [[nodiscard]] arena_block* make(size_class size);

  /// Counts a block in use; the first one makes the arena own itself. Requires the lock.
  void begin_use(size_class size) {
    if (blocks_in_use_++ == 0) self_ = shared_from_this();
    add(allocated_, signed_bytes(size));
  }

  void recycle(arena_block& block) noexcept;

  static void destroy(arena_block* list) noexcept;

  [[nodiscard]] static index_t signed_bytes(size_class size) noexcept {
    return static_cast<index_t>(size.bytes);
  }
  /// Atomic for readers of the statistics; changed only under the lock.
  static void add(std::atomic<index_t>& total, index_t change) noexcept {
    total.store(total.load(std::memory_order_relaxed) + change, std::memory_order_relaxed);
  }

  index_t cache_limit_;
  std::shared_ptr<memory_source> source_;
  std::mutex mutex_;
  free_lists free_{};
  index_t blocks_in_use_ = 0;
  std::shared_ptr<memory_arena> self_;
  std::atomic<index_t> allocated_{0};
  std::atomic<index_t> cached_{0};
  std::atomic<index_t> system_allocations_{0};
};

}  // namespace shardwise

#if !defined(SHARDWISE_COMPILED)
#include "shardwise/tensor/arena_work.hpp"
#endif
