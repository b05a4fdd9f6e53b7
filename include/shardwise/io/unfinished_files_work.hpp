// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/io/file.hpp"

#include <algorithm>
#include <cerrno>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <string>
#include <string_view>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace shardwise::detail {

/// The end of the name of a file that is being written, `TARGET.PROCESS.NUMBER.saving`. No program
/// gives such names to files that it keeps.
inline constexpr std::string_view unfinished_ending = ".saving";

/// Returns true for a name that `output_file` gives to a file before it becomes `target`.
[[nodiscard]] constexpr bool is_unfinished_name(std::string_view name,
                                                std::string_view target) noexcept {
  if (name.substr(0, target.size()) != target) return false;
  name.remove_prefix(target.size());
  for (int part = 0; part < 2; ++part) {  // the process and the number
    if (name.empty() || name.front() != '.') return false;
    name.remove_prefix(1);
    const std::size_t digits = std::min(name.find_first_not_of("0123456789"), name.size());
    if (digits == 0) return false;
    name.remove_prefix(digits);
  }
  return name == unfinished_ending;
}

/// Locks an open file, which the system unlocks when all that have it open have closed it or ended,
/// however they end. Returns false if another one has locked it or it cannot be locked.
[[nodiscard]] inline bool lock_file(int number, bool waits) noexcept {
  int failed = 0;
  do {
    failed = ::flock(number, LOCK_EX | (waits ? 0 : LOCK_NB));
  } while (failed != 0 && errno == EINTR);
  return failed == 0;
}

/// Returns true if a name in an open folder, or relative to the working directory, is that of an
/// open file, which another process may have removed or replaced.
[[nodiscard]] inline bool has_name(int number, int folder, const char* name) noexcept {
  struct stat open {
  }, named{};
  return ::fstat(number, &open) == 0 && ::fstatat(folder, name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
         open.st_dev == named.st_dev && open.st_ino == named.st_ino;
}

/// Returns the folder of a file.
[[nodiscard]] inline std::string folder_of(const std::string& path) {
  const std::size_t name = path.rfind('/') + 1;
  return name == 0 ? "." : path.substr(0, name);
}

/// Removes the files that were being written for `target` by processes that have ended since. Those
/// that a process still has open are locked by it. What cannot be removed stays.
inline void remove_unfinished(const std::string& target) {
  const std::string_view name = std::string_view(target).substr(target.rfind('/') + 1);
  const std::unique_ptr<DIR, int (*)(DIR*)> all(::opendir(folder_of(target).c_str()), &::closedir);
  if (all == nullptr) return;
  const int folder = ::dirfd(all.get());
  while (const dirent* const each = ::readdir(all.get())) {
    if (!is_unfinished_name(each->d_name, name)) continue;
    // Some file systems lock only what is open for writing, and some files are only readable.
    constexpr int how = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
    file_handle file(::openat(folder, each->d_name, O_WRONLY | how));
    if (file.number() < 0) file = file_handle(::openat(folder, each->d_name, O_RDONLY | how));
    struct stat about {};
    if (file.number() < 0 || ::fstat(file.number(), &about) != 0 || !S_ISREG(about.st_mode))
      continue;
    // Once it is locked, nobody writes it; but meanwhile its writer may have renamed it, and
    // another one may have taken the name.
    if (lock_file(file.number(), false) && has_name(file.number(), folder, each->d_name))
      ::unlinkat(folder, each->d_name, 0);
  }
}

/// Writes the names in a folder to the disk. Returns false if the disk fails; some file systems
/// have nothing to write, and some folders cannot be opened.
[[nodiscard]] inline bool sync_folder(const std::string& folder) noexcept {
  const file_handle open(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return open.number() < 0 || ::fsync(open.number()) == 0 || (errno != EIO && errno != ENOSPC);
}

}  // namespace shardwise::detail
