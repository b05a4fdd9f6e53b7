// SPDX-License-Identifier: BSL-1.0
// Memory in a file that other processes map: what is taken, what they read, and when they are gone.
#include "support/catch.hpp"
#include <shardwise/process/mapped_memory.hpp>

#include <atomic>
#include <cstring>
#include <new>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace shardwise;

namespace {

constexpr std::size_t little = 8 * huge_page;
constexpr std::size_t kib = 1024;

std::unique_ptr<mapped_memory> make(std::size_t bytes = little) {
  auto memory = mapped_memory::create(2, bytes);
  REQUIRE(memory != nullptr);
  return memory;
}

bool is_aligned(const void* block, std::size_t to) {
  return reinterpret_cast<std::uintptr_t>(block) % to == 0;
}

}  // namespace

TEST_CASE("free ranges are taken from the lowest on, aligned, and join again") {
  free_ranges free;
  free.give(100, 1000);
  REQUIRE(free.take(50, 64) == 128U);
  REQUIRE(free.count() == 2);
  REQUIRE(free.bytes() == 950);
  REQUIRE(free.take(28, 1) == 100U);
  REQUIRE(free.take(2000, 1) == std::nullopt);
  REQUIRE(free.take(0x40, 0x100) == 256U);
  REQUIRE(free.count() == 2);
  free.give(256, 0x40);
  REQUIRE(free.count() == 1);
  free.give(100, 28);
  REQUIRE(free.count() == 2);
  free.give(128, 50);
  REQUIRE(free.count() == 1);
  REQUIRE(free.bytes() == 1000);
  REQUIRE_FALSE(free.remove(1000, 101));
  REQUIRE_FALSE(free.remove(99, 2));
  REQUIRE(free.remove(500, 100));
  REQUIRE_FALSE(free.remove(550, 1));
  REQUIRE(free.count() == 2);
  REQUIRE(free.take(600, 1) == std::nullopt);
}

TEST_CASE("mapped memory is aligned like a shard, from 2 MiB on to 2 MiB") {
  const auto memory = make();
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{64}, 4 * kib, 63 * kib, 64 * kib,
                                  65 * kib, 1024 * kib, huge_page, huge_page + 64}) {
    void* const block = memory->take(bytes);
    REQUIRE(block != nullptr);
    REQUIRE(is_aligned(block, bytes >= huge_page ? huge_page : shard_alignment));
    std::memset(block, 0x5A, bytes);
    REQUIRE(memory->offset_of(block) >= 4096);
    REQUIRE(memory->at(0, memory->offset_of(block)) == block);
  }
  REQUIRE(memory->offset_of(nullptr) == 0);
}

TEST_CASE("mapped memory that there is not is a null pointer, and the rest can still be used") {
  const auto memory = make();
  REQUIRE(memory->take(little) == nullptr);
  REQUIRE(memory->take(~std::size_t{0} / 2) == nullptr);
  std::vector<void*> all;
  for (void* block = nullptr; (block = memory->take(huge_page)) != nullptr;) all.push_back(block);
  REQUIRE(all.size() == little / huge_page - 1);
  // What is left is the rest of the first 2 MiB.
  void* const small = memory->take(100);
  REQUIRE(small != nullptr);
  REQUIRE(memory->take(huge_page / 2) == nullptr);
  for (void* block : all) memory->give_back(block, huge_page);
  void* const most = memory->take(little - huge_page);
  REQUIRE(most == all.front());
  memory->give_back(most, little - huge_page);
  memory->give_back(small, 100);
}

TEST_CASE("mapped memory is reserved when it is taken and returned when it is given back") {
  const auto memory = make();
  const std::size_t before = memory->reserved_bytes();
  REQUIRE(before <= 64 * kib);
  void* const large = memory->take(3 * huge_page);
  REQUIRE(memory->reserved_bytes() == before + 3 * huge_page);
  memory->give_back(large, 3 * huge_page);
  REQUIRE(memory->reserved_bytes() == before);
  // Small blocks share pages, in steps of 1 MiB, of which one is kept.
  std::vector<void*> small(100);
  for (void*& block : small) block = memory->take(60 * kib);
  REQUIRE(memory->reserved_bytes() == before + 6 * mapped_memory::step_bytes);
  for (void* block : small) memory->give_back(block, 60 * kib);
  REQUIRE(memory->reserved_bytes() <= before + 2 * mapped_memory::step_bytes);
}

TEST_CASE("what is written into mapped memory is read where it was opened, and only read") {
  const auto mine = make();
  const auto theirs = make(2 * little);
  auto* const block = static_cast<int*>(mine->take(100 * sizeof(int)));
  std::memset(block, 0, 100 * sizeof(int));
  block[7] = 42;
  REQUIRE(theirs->open(1, mine->address()));
  const std::byte* const seen = theirs->at(1, mine->offset_of(block));
  REQUIRE(seen != reinterpret_cast<const std::byte*>(block));
  REQUIRE(std::memcmp(seen, block, 100 * sizeof(int)) == 0);
  block[8] = 43;
  REQUIRE(std::memcmp(seen, block, 100 * sizeof(int)) == 0);
  REQUIRE_FALSE(theirs->is_gone(1));
  // What has not been opened is the memory of this owner.
  REQUIRE(theirs->at(0, 4096) == theirs->at(0, 0) + 4096);
  REQUIRE_FALSE(theirs->is_gone(0));
}

TEST_CASE("another file than that of the address is not opened") {
  const auto mine = make();
  const auto theirs = make();
  memory_address at = mine->address();
  REQUIRE_FALSE(theirs->open(1, {}));
  for (std::size_t part : {std::size_t{2}, std::size_t{3}}) {
    memory_address wrong = at;
    ++wrong[part];
    REQUIRE_FALSE(theirs->open(1, wrong));
  }
  // A pipe in its place is not even opened: that would wait for a writer.
  int pipe_ends[2] = {};
  REQUIRE(pipe(pipe_ends) == 0);
  at[1] = static_cast<std::uint64_t>(pipe_ends[0]);
  REQUIRE_FALSE(theirs->open(1, at));
  close(pipe_ends[0]);
  close(pipe_ends[1]);
  at[1] = theirs->address()[1];
  REQUIRE_FALSE(theirs->open(1, at));
  REQUIRE(theirs->open(1, mine->address()));
}

TEST_CASE("a process that has mapped memory is seen to end, and its memory stays") {
  int told[2] = {}, asked[2] = {};
  REQUIRE(pipe(told) == 0);
  REQUIRE(pipe(asked) == 0);
  const pid_t child = fork();
  if (child == 0) {
    const auto memory = mapped_memory::create(2, little);
    auto* const block = static_cast<char*>(memory->take(16));
    std::strcpy(block, "still here");
    const memory_address at = memory->address();
    const std::uint64_t offset = memory->offset_of(block);
    char none = 0;
    if (write(told[1], &at, sizeof at) < 0 || write(told[1], &offset, sizeof offset) < 0 ||
        read(asked[0], &none, 1) < 0)
      _exit(1);
    _exit(0);
  }
  memory_address at{};
  std::uint64_t offset = 0;
  REQUIRE(read(told[0], &at, sizeof at) == ssize_t{sizeof at});
  REQUIRE(read(told[0], &offset, sizeof offset) == ssize_t{sizeof offset});
  const auto memory = make();
  REQUIRE(memory->open(1, at));
  REQUIRE_FALSE(memory->is_gone(1));
  REQUIRE(write(asked[1], "x", 1) == 1);
  for (int i = 0; i < 5000 && !memory->is_gone(1); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  REQUIRE(memory->is_gone(1));
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(status == 0);
  REQUIRE(memory->is_gone(1));
  REQUIRE(std::strcmp(reinterpret_cast<const char*>(memory->at(1, offset)), "still here") == 0);
  // It can no longer be opened.
  REQUIRE_FALSE(make()->open(1, at));
  for (int end : {told[0], told[1], asked[0], asked[1]}) close(end);
}

TEST_CASE("threads take and give back mapped memory at once") {
  const auto memory = make(64 * huge_page);
  std::atomic<bool> is_right{true};
  std::vector<std::thread> threads;
  for (unsigned char t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (std::size_t i = 0; i < 300; ++i) {
        const std::size_t bytes = 64 + (i * 7919 + t * 104729U) % (256 * kib);
        auto* const block = static_cast<unsigned char*>(memory->take(bytes));
        if (block == nullptr) {
          is_right = false;
          return;
        }
        std::memset(block, t, bytes);
        std::this_thread::yield();
        if (block[0] != t || block[bytes / 2] != t || block[bytes - 1] != t) is_right = false;
        memory->give_back(block, bytes);
      }
    });
  for (std::thread& thread : threads) thread.join();
  REQUIRE(is_right);
  REQUIRE(memory->reserved_bytes() <= 3 * mapped_memory::step_bytes);
}

TEST_CASE("the addresses of a host's owners fit into one process") {
  REQUIRE(mapped_memory::most_bytes(2) >= std::size_t{1} << 30);
  REQUIRE(mapped_memory::most_bytes(2) % huge_page == 0);
  REQUIRE(mapped_memory::most_bytes(1 << 16) <= std::size_t{1} << 30);
  REQUIRE(mapped_memory::create(2, 1000) == nullptr);
  const auto memory = mapped_memory::create(2);
  REQUIRE(memory != nullptr);
  REQUIRE(memory->reserved_bytes() <= 64 * kib);
}
