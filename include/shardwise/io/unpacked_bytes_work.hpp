// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/io/file_bytes.hpp"
#include "shardwise/io/unpack_options.hpp"
#include "shardwise/tensor/out_of_memory.hpp"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <fcntl.h>
#include <memory>
#include <span>
#include <string>
#include <unistd.h>
#include <utility>

namespace shardwise::detail {

/// Opens a new file for reading and writing that has no name, or no longer has one.
[[nodiscard]] inline file_handle open_without_name(const std::string& folder) {
#if defined(O_TMPFILE)
  file_handle open(::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (open.number() >= 0) return open;
#endif
  // Not all systems and disks have files without names.
  std::string name = folder + "/shardwise-XXXXXX";
  file_handle named(::mkstemp(name.data()));
  if (named.number() < 0) internal::fail_file(violation::file_is_not_writable, folder);
  ::fcntl(named.number(), F_SETFD, FD_CLOEXEC);
  ::unlink(name.c_str());
  return named;
}

/// Bytes that are made one after another, of which nobody knows how many there will be: in memory
/// up to a bound, and in a temporary file as soon as there are more.
class unpacked_bytes {
 public:
  /// There will be at most `most` bytes.
  unpacked_bytes(index_t most, const unpack_options& options) : options_(options) {
    // One more than there will be, so that what goes on after its end is seen.
    const index_t wanted = std::min(std::max(options.memory, least_memory), most + 1);
    memory_ = mapped_pages::reserve(static_cast<std::size_t>(wanted));
    if (memory_.begin() == nullptr) internal::fail_for_memory(wanted);
  }

  [[nodiscard]] index_t size() const noexcept { return written_ + used_; }
  /// Returns where the next bytes are put; never empty.
  [[nodiscard]] std::span<std::byte> room() {
    if (static_cast<std::size_t>(used_) == memory_.bytes()) empty_memory();
    return std::span(memory_.begin(), memory_.bytes()).subspan(static_cast<std::size_t>(used_));
  }
  /// Keeps the first bytes of the room.
  void add(std::size_t count) noexcept { used_ += static_cast<index_t>(count); }

  /// Returns them under this name.
  [[nodiscard]] file_bytes finish(std::string name) && {
    if (file_.number() < 0) {
      memory_.shrink(static_cast<std::size_t>(used_));
      const auto pages = std::make_shared<const mapped_pages>(std::move(memory_));
      // The bytes keep the pages.
      return {std::move(name), std::shared_ptr<const std::byte>(pages, pages->begin()), used_};
    }
    empty_memory();
    memory_ = {};
    return {name, mapped_file(input_file(name + " (unpacked)", std::move(file_)))};
  }

 private:
  /// What a file is written from, however small the bound is.
  static constexpr index_t least_memory = index_t{64} << 10;
  static constexpr index_t step = index_t{1} << 20;

  [[nodiscard]] const std::string& folder() {
    if (options_.folder.empty()) {
      const char* const of_user = std::getenv("TMPDIR");
      options_.folder = of_user != nullptr && *of_user != '\0' ? of_user : "/tmp";
    }
    return options_.folder;
  }
  /// Moves what is in memory to the file, which is made when it is first needed.
  void empty_memory() {
    if (file_.number() < 0) file_ = open_without_name(folder());
    std::span<const std::byte> rest(memory_.begin(), static_cast<std::size_t>(used_));
    while (!rest.empty()) {
      const auto put = ::write(file_.number(), rest.data(), rest.size());
      if (put < 0 && errno == EINTR) continue;
      if (put < 0) internal::fail_file(violation::file_is_not_writable, folder());
      rest = rest.subspan(static_cast<std::size_t>(put));
    }
    written_ += used_;
    used_ = 0;
    memory_.shrink(static_cast<std::size_t>(step));
  }

  unpack_options options_;
  mapped_pages memory_;
  index_t used_ = 0;     // of the memory
  index_t written_ = 0;  // to the file
  file_handle file_{-1};
};

}  // namespace shardwise::detail
