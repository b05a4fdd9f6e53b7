// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/process/mapped_memory.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

#if defined(__linux__)
#include <cerrno>
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace shardwise {

namespace detail {

/// The begin of the file of a process: whoever opens the file sees that it is the right one.
struct memory_header {
  std::array<std::uint64_t, 2> token{};
  std::uint64_t bytes = 0;

  friend bool operator==(const memory_header&, const memory_header&) = default;
};

inline constexpr std::size_t header_page = 4096;

[[nodiscard]] constexpr std::size_t round_up(std::size_t bytes, std::size_t to) noexcept {
  return (bytes + to - 1) / to * to;
}

#if defined(__linux__)

/// A file of the system that is closed with this object.
class open_file {
 public:
  explicit open_file(int number) noexcept : number_(number) {}
  open_file(const open_file&) = delete;
  open_file& operator=(const open_file&) = delete;
  ~open_file() {
    if (number_ >= 0) ::close(number_);
  }
  [[nodiscard]] int get() const noexcept { return number_; }
  [[nodiscard]] int release() noexcept { return std::exchange(number_, -1); }
  [[nodiscard]] explicit operator bool() const noexcept { return number_ >= 0; }

 private:
  int number_;
};

/// Maps a file at a multiple of `huge_page`; null if the system does not permit it.
[[nodiscard]] inline std::byte* map_file(int file, std::size_t bytes, int protection) noexcept {
  const std::size_t reserved = bytes + huge_page;
  void* const begin =
      mmap(nullptr, reserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (begin == MAP_FAILED) return nullptr;
  const auto address = reinterpret_cast<std::size_t>(begin);
  const std::size_t head = (huge_page - address % huge_page) % huge_page;
  const auto base = static_cast<std::byte*>(begin);
  void* const out =
      mmap(base + head, bytes, protection, MAP_SHARED | MAP_FIXED | MAP_NORESERVE, file, 0);
  if (out == MAP_FAILED) {
    munmap(begin, reserved);
    return nullptr;
  }
  if (head > 0) munmap(begin, head);
  munmap(base + head + bytes, huge_page - head);
  return base + head;
}

/// Calls a function of the system again as long as a signal interrupts it.
template <class Call>
[[nodiscard]] bool succeeds(const Call& call) noexcept {
  for (;;) {
    if (call() == 0) return true;
    if (errno != EINTR) return false;
  }
}

/// Gives a part of a file pages, so that no access to it can fail.
[[nodiscard]] inline bool reserve_pages(int file, std::uint64_t begin, std::size_t bytes) noexcept {
  return succeeds([&] {
    return fallocate(file, FALLOC_FL_KEEP_SIZE, static_cast<off_t>(begin),
                     static_cast<off_t>(bytes));
  });
}
inline void release_pages(int file, std::uint64_t begin, std::size_t bytes) noexcept {
  (void)succeeds([&] {
    return fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(begin),
                     static_cast<off_t>(bytes));
  });
}

/// Returns a file that becomes readable when a process ends, or -1.
[[nodiscard]] inline int watch_process([[maybe_unused]] std::uint64_t process) noexcept {
#if defined(SYS_pidfd_open)
  return static_cast<int>(syscall(SYS_pidfd_open, static_cast<pid_t>(process), 0));
#else
  return -1;
#endif
}

/// Returns what identifies this machine since it was started, also in containers; 0 if unknown.
[[nodiscard]] inline std::uint64_t machine_number() noexcept {
  const open_file file(::open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC));
  std::array<char, 36> letters{};
  if (!file || read(file.get(), letters.data(), letters.size()) != ssize_t{letters.size()})
    return 0;
  std::uint64_t hash = 14695981039346656037U;
  for (const char each : letters) hash = (hash ^ static_cast<std::uint64_t>(each)) * 1099511628211U;
  return hash;
}

/// Returns the path of a file that a process has opened.
using file_path = std::array<char, 64>;
[[nodiscard]] inline file_path path_of(std::uint64_t process, std::uint64_t file) noexcept {
  file_path path{};
  std::snprintf(path.data(), path.size(), "/proc/%llu/fd/%llu",
                static_cast<unsigned long long>(process), static_cast<unsigned long long>(file));
  return path;
}

#endif

}  // namespace detail

#if defined(__linux__)

SHARDWISE_INLINE std::size_t mapped_memory::most_bytes(index_t owners) noexcept {
  // Half of the addresses that a process has.
  constexpr std::size_t addresses = std::size_t{64} << 40;
  const std::size_t each = addresses / static_cast<std::size_t>(std::max<index_t>(owners, 1));
  const std::size_t here = internal::physical_memory();
  std::size_t most = std::min(each, here != 0 ? here : std::size_t{64} << 30);
  // A file beyond the limit of its size would be answered by a signal.
  if (rlimit limit{}; getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
    most = std::min(most, static_cast<std::size_t>(limit.rlim_cur));
  return most / huge_page * huge_page;
}

SHARDWISE_INLINE std::unique_ptr<mapped_memory> mapped_memory::create(index_t owners,
                                                                      std::size_t bytes) {
  detail::memory_header head{.token = {}, .bytes = bytes};
  if (bytes < huge_page || bytes % huge_page != 0) return nullptr;
  detail::open_file file(memfd_create("shardwise", MFD_CLOEXEC));
  if (!file || ftruncate(file.get(), static_cast<off_t>(bytes)) != 0 ||
      !detail::reserve_pages(file.get(), 0, detail::header_page) ||
      getrandom(&head.token, sizeof head.token, 0) != ssize_t{sizeof head.token} ||
      pwrite(file.get(), &head, sizeof head, 0) != ssize_t{sizeof head})
    return nullptr;
  std::byte* const own = detail::map_file(file.get(), bytes, PROT_READ | PROT_WRITE);
  if (own == nullptr) return nullptr;
  std::unique_ptr<mapped_memory> made(new mapped_memory(file.release(), own, bytes, owners));
  made->address_ = {static_cast<std::uint64_t>(getpid()), static_cast<std::uint64_t>(made->file_),
                    head.token[0], head.token[1], detail::machine_number()};
  return made;
}

SHARDWISE_INLINE mapped_memory::mapped_memory(int file, std::byte* own, std::size_t bytes,
                                              index_t owners)
    : file_(file), own_(own), bytes_(bytes), others_(static_cast<std::size_t>(owners)) {
  large_.give(detail::header_page, bytes - detail::header_page);
}

SHARDWISE_INLINE mapped_memory::~mapped_memory() {
  for (const mapping& other : others_) {
    if (other.begin != nullptr) munmap(const_cast<std::byte*>(other.begin), other.bytes);
    if (other.process >= 0) ::close(other.process);
  }
  munmap(own_, bytes_);
  ::close(file_);
}

SHARDWISE_INLINE void* mapped_memory::take(std::size_t bytes) noexcept {
  if (bytes > bytes_) return nullptr;
  void* block = nullptr;
#if defined(__cpp_exceptions)
  try {
#endif
    const std::lock_guard lock(mutex_);
    block = is_large(bytes) ? take_large(bytes) : take_small(bytes);
#if defined(__cpp_exceptions)
  } catch (...) {
    // No memory for the list of free ranges is no memory.
  }
#endif
  return block;
}

SHARDWISE_INLINE void* mapped_memory::take_large(std::size_t bytes) {
  const std::size_t whole = detail::round_up(bytes, detail::header_page);
  const auto at = large_.take(whole, bytes >= huge_page ? huge_page : detail::header_page);
  if (!at) return nullptr;
  if (!detail::reserve_pages(file_, *at, whole)) {
    large_.give(*at, whole);
    return nullptr;
  }
  return own_ + *at;
}

SHARDWISE_INLINE void* mapped_memory::take_small(std::size_t bytes) {
  const std::size_t whole = detail::round_up(std::max<std::size_t>(bytes, 1), shard_alignment);
  auto at = small_.take(whole, shard_alignment);
  if (!at) {
    const auto step = large_.take(step_bytes, step_bytes);
    if (!step) return nullptr;
    if (!detail::reserve_pages(file_, *step, step_bytes)) {
      large_.give(*step, step_bytes);
      return nullptr;
    }
    small_.give(*step, step_bytes);
    at = small_.take(whole, shard_alignment);
  }
  return own_ + *at;
}

SHARDWISE_INLINE void mapped_memory::give_back(void* block, std::size_t bytes) noexcept {
  const std::uint64_t begin = offset_of(block);
#if defined(__cpp_exceptions)
  try {
#endif
    const std::lock_guard lock(mutex_);
    const auto give_large = [this](std::uint64_t at, std::size_t size) {
      detail::release_pages(file_, at, size);
      large_.give(at, size);
    };
    if (is_large(bytes)) return give_large(begin, detail::round_up(bytes, detail::header_page));
    const std::size_t whole = detail::round_up(std::max<std::size_t>(bytes, 1), shard_alignment);
    small_.give(begin, whole);
    // Steps that nothing uses are returned, but for one: blocks come and go.
    for (std::uint64_t step = begin / step_bytes * step_bytes;
         step < begin + whole && small_.bytes() >= 2 * step_bytes; step += step_bytes)
      if (small_.remove(step, step_bytes)) give_large(step, step_bytes);
#if defined(__cpp_exceptions)
  } catch (...) {
    // Without memory for the list of free ranges, these addresses are not used again.
  }
#endif
}

SHARDWISE_INLINE bool mapped_memory::open(index_t owner, const memory_address& at) noexcept {
  const auto [process, number, first, second, machine] = at;
  const detail::file_path path = detail::path_of(process, number);
  // Another process may have this number here, and any file behind it: it is looked at before it is
  // opened, which may have effects of its own.
  const detail::open_file place(::open(path.data(), O_PATH | O_CLOEXEC));
  struct stat found {};
  if (!place || fstat(place.get(), &found) != 0 || !S_ISREG(found.st_mode)) return false;
  const detail::open_file file(::open(
      detail::path_of(static_cast<std::uint64_t>(getpid()), static_cast<std::uint64_t>(place.get()))
          .data(),
      O_RDONLY | O_CLOEXEC));
  detail::memory_header head;
  if (!file || pread(file.get(), &head, sizeof head, 0) != ssize_t{sizeof head} ||
      head != detail::memory_header{{first, second}, static_cast<std::uint64_t>(found.st_size)})
    return false;
  detail::open_file watch(detail::watch_process(process));
  // The process that is watched has the file, and so is the one that gave the address.
  struct stat again {};
  if (stat(path.data(), &again) != 0 || again.st_dev != found.st_dev ||
      again.st_ino != found.st_ino)
    return false;
  const std::byte* const begin = detail::map_file(file.get(), head.bytes, PROT_READ);
  if (begin == nullptr) return false;
  madvise(const_cast<std::byte*>(begin), head.bytes, MADV_DONTDUMP);
  others_[static_cast<std::size_t>(owner)] = {begin, head.bytes, watch.release()};
  return true;
}

SHARDWISE_INLINE bool mapped_memory::is_gone(index_t owner) const noexcept {
  pollfd watch{others_[static_cast<std::size_t>(owner)].process, POLLIN, 0};
  return watch.fd >= 0 && poll(&watch, 1, 0) > 0;
}

SHARDWISE_INLINE std::size_t mapped_memory::reserved_bytes() const noexcept {
  struct stat now {};
  return fstat(file_, &now) == 0 ? static_cast<std::size_t>(now.st_blocks) * 512 : 0;
}

#else

SHARDWISE_INLINE std::size_t mapped_memory::most_bytes(index_t) noexcept { return 0; }
SHARDWISE_INLINE std::unique_ptr<mapped_memory> mapped_memory::create(index_t, std::size_t) {
  return nullptr;
}
SHARDWISE_INLINE mapped_memory::~mapped_memory() = default;
SHARDWISE_INLINE void* mapped_memory::take(std::size_t) noexcept { return nullptr; }
SHARDWISE_INLINE void mapped_memory::give_back(void*, std::size_t) noexcept {}
SHARDWISE_INLINE bool mapped_memory::open(index_t, const memory_address&) noexcept { return false; }
SHARDWISE_INLINE bool mapped_memory::is_gone(index_t) const noexcept { return false; }
SHARDWISE_INLINE std::size_t mapped_memory::reserved_bytes() const noexcept { return 0; }

#endif

}  // namespace shardwise
