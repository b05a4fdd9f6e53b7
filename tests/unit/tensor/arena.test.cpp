// SPDX-License-Identifier: BSL-1.0
#include "shardwise/tensor/arena.hpp"

#include "shardwise/tensor/buffer.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <thread>
#include <utility>
#include <vector>

using namespace shardwise;

namespace {

bool is_aligned(const void* address, std::size_t alignment) {
  return reinterpret_cast<std::uintptr_t>(address) % alignment == 0;
}

// Size classes, checked at compile time.
constexpr bool classes_fit() {
  for (index_t bytes = 0; bytes < 5000; ++bytes) {
    const size_class c = size_class::of(bytes);
    const auto wanted = static_cast<std::size_t>(bytes);
    if (c.bytes < wanted || c.bytes % 64 != 0 || c.index >= size_class::count) return false;
    if (wanted > 256 && (c.bytes - wanted) * 4 >= wanted) return false;
    if (size_class::of(static_cast<index_t>(c.bytes)).index != c.index) return false;
    const size_class after = size_class::of(static_cast<index_t>(c.bytes) + 1);
    if (after.index != c.index + 1 || after.bytes <= c.bytes) return false;
  }
  return true;
}
static_assert(classes_fit());
static_assert(size_class::of(0).bytes == 64);
static_assert(size_class::of(257).bytes == 320);
static_assert(size_class::of(1_MiB).bytes == 1024 * 1024);
static_assert(size_class::of(size_class::largest).index < size_class::count);
static_assert(size_class::of(size_class::largest).bytes == std::size_t{1} << 60);

}  // namespace

TEST_CASE("blocks are aligned and as large as was asked") {
  const auto memory = memory_arena::create();
  for (index_t bytes : {index_t{0}, index_t{1}, index_t{63}, index_t{4097}, 1_MiB, 2_MiB - 1, 2_MiB,
                        2_MiB + 1, 5_MiB}) {
    arena_block& block = memory->allocate(bytes);
    CHECK(block.size.bytes >= static_cast<std::size_t>(bytes));
    CHECK(is_aligned(block.data, 64));
    if (bytes >= 2_MiB) CHECK(is_aligned(block.data, huge_page));
    std::fill_n(block.data, block.size.bytes, std::byte{7});
    memory_arena::release(block);
  }
}

TEST_CASE("freed memory is used again for its size, and only for that") {
  const auto memory = memory_arena::create();
  arena_block& first = memory->allocate(10000);
  CHECK(memory->allocated_bytes() == 10240);
  CHECK(memory->cached_bytes() == 0);
  const std::byte* const address = first.data;
  memory_arena::release(first);
  CHECK(memory->allocated_bytes() == 0);
  CHECK(memory->cached_bytes() == 10240);

  arena_block& again = memory->allocate(9000);
  CHECK(again.data == address);
  CHECK(memory->system_allocations() == 1);
  arena_block& other = memory->allocate(9000);
  CHECK(memory->system_allocations() == 2);
  memory_arena::release(again);
  memory_arena::release(other);
  arena_block& smaller = memory->allocate(1000);
  CHECK(memory->system_allocations() == 3);
  memory_arena::release(smaller);
}

TEST_CASE("trim gives back what is not in use") {
  const auto memory = memory_arena::create();
  arena_block& kept = memory->allocate(3_MiB);
  for (index_t bytes : {index_t{100}, 1_MiB, 4_MiB}) memory_arena::release(memory->allocate(bytes));
  CHECK(memory->cached_bytes() > 5_MiB);
  memory->trim();
  CHECK(memory->cached_bytes() == 0);
  CHECK(memory->allocated_bytes() == 3_MiB);
  kept.data[3_MiB - 1] = std::byte{1};
  memory_arena::release(kept);
}

TEST_CASE("the cache has a limit, and old sizes do not keep new ones out") {
  const auto memory = memory_arena::create(1_MiB);
  std::vector<arena_block*> blocks;
  for (int i = 0; i < 40; ++i) blocks.push_back(&memory->allocate(64_KiB));
  for (arena_block* block : blocks) {
    memory_arena::release(*block);
    CHECK(memory->cached_bytes() <= 1_MiB);
  }
  CHECK(memory->cached_bytes() > 0);

  for (int i = 0; i < 3; ++i) memory_arena::release(memory->allocate(768_KiB));
  CHECK(memory->cached_bytes() == 768_KiB);
  memory_arena::release(memory->allocate(2_MiB));
  CHECK(memory->cached_bytes() == 768_KiB);

  CHECK(memory_arena::default_cache_limit() > 0);
  const auto nothing = memory_arena::create(0);
  memory_arena::release(nothing->allocate(1));
  CHECK(nothing->cached_bytes() == 0);
}

TEST_CASE("sizes that cannot be had are refused") {
  const auto memory = memory_arena::create();
  CHECK_THROWS_AS(memory->allocate(-1), std::bad_alloc);
  CHECK_THROWS_AS(memory->allocate(std::numeric_limits<index_t>::max()), std::bad_alloc);
  CHECK_THROWS_AS(memory->allocate(size_class::largest), std::bad_alloc);
  CHECK(memory->allocated_bytes() == 0);
  CHECK_THROWS_AS(memory->allocate(size_class::largest), out_of_memory);
  CHECK_THROWS_WITH(memory->allocate(size_class::largest),
                    contains("out_of_memory: there is no memory for 1152921504606846976 bytes; "));
  CHECK_THROWS_WITH(memory->allocate(-1), contains("-1 bytes"));
  CHECK_THROWS_WITH(shard_buffer<double>(*memory, (index_t{1} << 61) + 1),
                    contains("2305843009213693953 elements of 8 bytes each"));
  CHECK_THROWS_WITH(shard_buffer<double>(*memory, -1), contains("-1 elements of 8 bytes each"));
  CHECK_THROWS_WITH(shard_buffer<double>(*memory, index_t{1} << 57),
                    contains("1152921504606846976"));
  // Products that wrap around to a small number are detected.
  CHECK_THROWS_AS(shard_buffer<double>(*memory, (index_t{1} << 61) + 1), std::bad_alloc);
  CHECK_THROWS_AS(shard_buffer<double>(*memory, -1), std::bad_alloc);
}

TEST_CASE("a failed request gives the cache back first") {
  const auto memory = memory_arena::create();
  memory_arena::release(memory->allocate(1_MiB));
  CHECK_THROWS_AS(memory->allocate(size_class::largest), std::bad_alloc);
  CHECK(memory->cached_bytes() == 0);
}

TEST_CASE("several threads use one arena") {
  const auto memory = memory_arena::create(1_MiB);
  std::atomic<int> wrong = 0;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&memory, &wrong, t] {
        for (int i = 0; i < 500; ++i) {
          shard_buffer<int> mine(*memory, 1 + (i * 37 + t) % 5000);
          std::fill_n(mine.writable(), mine.size(), t);
          const shard_buffer<int> shared = mine;
          if (std::any_of(shared.begin(), shared.end(), [t](int x) { return x != t; })) ++wrong;
          if (i % 100 == 0) memory->trim();
        }
      });
  }
  CHECK(wrong == 0);
  CHECK(memory->allocated_bytes() == 0);
}

TEST_CASE("a buffer is a shared handle") {
  const auto memory = memory_arena::create();
  shard_buffer<float> x(*memory, 100);
  CHECK(x.size() == 100);
  CHECK(x.unique());
  CHECK(is_aligned(x.data(), 64));
  std::fill_n(x.writable(), 100, 2.0F);

  shard_buffer<float> replica = x;
  CHECK(replica.shares(x));
  CHECK_FALSE(x.unique());
  CHECK(replica.data() == x.data());
  CHECK(memory->allocated_bytes() == 448);

  replica.detach();
  CHECK_FALSE(replica.shares(x));
  CHECK(x.unique());
  CHECK(std::equal(x.begin(), x.end(), replica.begin(), replica.end()));
  replica.writable()[0] = 3.0F;
  CHECK(x[0] == 2.0F);
  const float* const before = replica.data();
  replica.detach();
  CHECK(replica.data() == before);

  shard_buffer<float> moved = std::move(x);
  CHECK(moved.unique());
  CHECK(moved.view().size() == 100);
  moved = replica;
  CHECK(moved.shares(replica));
  const shard_buffer<float>& itself = moved;
  moved = itself;
  CHECK(moved.shares(replica));
  moved = shard_buffer<float>();
  CHECK(replica.unique());
}

TEST_CASE("a borrowed handle has the same elements and bytes, and keeps no memory") {
  const auto memory = memory_arena::create();
  shard_buffer<float> x(*memory, 3);
  std::fill_n(x.writable(), 3, 2.0F);
  const shard_buffer<float> view = x.borrowed();
  CHECK(x.unique());
  CHECK(view.data() == x.data());
  CHECK(view.as_bytes().size() == 12);
  CHECK(static_cast<const void*>(view.as_bytes().data()) == x.data());
}

TEST_CASE("a buffer without elements is a buffer") {
  const auto memory = memory_arena::create();
  shard_buffer<double> none(*memory, 0);
  CHECK(none.empty());
  CHECK(none.data() == nullptr);
  CHECK(none.begin() == none.end());
  CHECK(none.unique());
  shard_buffer<double> copy = none;
  copy.detach();
  CHECK(copy.size() == 0);
  CHECK(memory->system_allocations() == 0);
}

TEST_CASE("buffers keep their arena") {
  shard_buffer<int> small, large;
  {
    const auto memory = memory_arena::create();
    small = shard_buffer<int>(*memory, 10);
    large = shard_buffer<int>(*memory, 1 << 20);
    memory_arena::release(memory->allocate(500));
  }
  large.writable()[(1 << 20) - 1] = 1;
  small.writable()[0] = 2;
  shard_buffer<int> copy = small;
  copy.detach();
  CHECK(copy[0] == 2);
}

TEST_CASE("copies are made and dropped by several threads at once") {
  const auto memory = memory_arena::create();
  for (int round = 0; round < 50; ++round) {
    shard_buffer<int> x(*memory, 16);
    std::fill_n(x.writable(), 16, round);
    std::vector<std::jthread> threads;
    for (int t = 0; t < 3; ++t)
      threads.emplace_back([mine = x]() mutable {
        mine.detach();
        mine.writable()[0] = -1;
      });
    x = shard_buffer<int>();
  }
  CHECK(memory->allocated_bytes() == 0);
}
