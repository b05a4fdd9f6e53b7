// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#include <unistd.h>
#endif

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#include <sanitizer/asan_interface.h>
#endif
#elif defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

namespace shardwise {

/// The alignment of every shard: a cache line, and the widest vector.
inline constexpr std::size_t shard_alignment = 64;

/// From this size on, memory is aligned to this size, so that the system can use huge pages.
inline constexpr std::size_t huge_page = std::size_t{2} << 20;

namespace internal {

#if defined(__linux__)
/// Maps `bytes` at a multiple of `huge_page`: maps one more page and releases the ends.
[[nodiscard]] inline void* map_huge(std::size_t bytes) noexcept {
  const std::size_t mapped = bytes + huge_page;
  void* const begin =
      mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (begin == MAP_FAILED) return nullptr;
  const auto address = reinterpret_cast<std::size_t>(begin);
  const std::size_t head = (huge_page - address % huge_page) % huge_page;
  const auto block = static_cast<std::byte*>(begin) + head;
  if (head > 0) munmap(begin, head);
  munmap(block + bytes, huge_page - head);
  // Only advice: without it the memory works as well, with more page faults.
  madvise(block, bytes, MADV_HUGEPAGE);
  return block;
}
#endif

/// Returns memory from the system, or null. `bytes` must be a multiple of `shard_alignment` and,
/// from `huge_page` on, of the page size; memory is released with the same size.
[[nodiscard]] inline void* take_memory(std::size_t bytes) noexcept {
#if defined(__linux__)
  if (bytes >= huge_page) return map_huge(bytes);
#endif
  return ::operator new (bytes, std::align_val_t{shard_alignment}, std::nothrow);
}

inline void return_memory(void* block, std::size_t bytes) noexcept {
#if defined(__linux__)
  if (bytes >= huge_page) {
    munmap(block, bytes);
    return;
  }
#endif
  ::operator delete (block, std::align_val_t{shard_alignment});
}

}  // namespace internal

namespace internal {

/// Returns the bytes of memory of this machine, or 0 if the system does not report it.
[[nodiscard]] inline std::size_t physical_memory() noexcept {
#if defined(__linux__)
  const auto pages = sysconf(_SC_PHYS_PAGES);
  const auto bytes = sysconf(_SC_PAGESIZE);
  if (pages > 0 && bytes > 0)
    return static_cast<std::size_t>(pages) * static_cast<std::size_t>(bytes);
#endif
  return 0;
}

}  // namespace internal

namespace internal {}  // namespace internal

namespace detail {

/// Makes AddressSanitizer report every use of a block until it is allocated again.
inline void forbid([[maybe_unused]] void* block, [[maybe_unused]] std::size_t bytes) noexcept {
#if defined(ASAN_POISON_MEMORY_REGION)
  ASAN_POISON_MEMORY_REGION(block, bytes);
#endif
}
inline void permit([[maybe_unused]] void* block, [[maybe_unused]] std::size_t bytes) noexcept {
#if defined(ASAN_UNPOISON_MEMORY_REGION)
  ASAN_UNPOISON_MEMORY_REGION(block, bytes);
#endif
}

}  // namespace detail
}  // namespace shardwise
