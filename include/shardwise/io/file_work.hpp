// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/io/file.hpp"
#include "shardwise/io/unfinished_files_work.hpp"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

namespace shardwise {

namespace internal {

SHARDWISE_INLINE_FILES void fail_file(violation rule, const std::string& path,
                                      const std::string& reason) {
  fail({.rule = rule}, path + ": " + reason);
}
SHARDWISE_INLINE_FILES void fail_file(violation rule, const std::string& path) {
  fail_file(rule, path, std::strerror(errno));
}
SHARDWISE_INLINE_FILES void fail_shorter_file(const std::string& path, index_t size_then,
                                              index_t size_now) {
  fail_file(violation::file_is_not_readable, path,
            "it became shorter: it had " + std::to_string(size_then) +
                " bytes when it was opened, and has " + std::to_string(size_now));
}

}  // namespace internal

namespace detail {

SHARDWISE_INLINE_FILES file_handle::~file_handle() {
  if (number_ >= 0) ::close(number_);
}
SHARDWISE_INLINE_FILES bool file_handle::close() noexcept {
  return ::close(std::exchange(number_, -1)) == 0;
}

/// Opens a file for reading, whatever it is: a pipe without a writer does not block.
[[nodiscard]] inline file_handle open_to_read(const std::string& path) {
  internal::require_whole_path(violation::file_is_not_readable, path);
  file_handle open(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (open.number() < 0) internal::fail_file(violation::file_is_not_readable, path);
  return open;
}

}  // namespace detail

SHARDWISE_INLINE_FILES input_file::input_file(std::string path)
    : path_(std::move(path)), handle_(detail::open_to_read(path_)) {
  measure();
}
SHARDWISE_INLINE_FILES input_file::input_file(std::string path, detail::file_handle open)
    : path_(std::move(path)), handle_(std::move(open)) {
  measure();
}

SHARDWISE_INLINE_FILES void input_file::measure() {
  struct stat about {};
  if (::fstat(handle_.number(), &about) != 0)
    internal::fail_file(violation::file_is_not_readable, path_);
  if (!S_ISREG(about.st_mode))
    internal::fail_file(violation::file_is_not_readable, path_, "it is no regular file");
  identity_ = {about.st_dev, about.st_ino, about.st_size, about.st_mtim.tv_sec,
               about.st_mtim.tv_nsec};
}

SHARDWISE_INLINE_FILES void input_file::read(index_t place, std::span<std::byte> to) const {
  while (!to.empty()) {
    const auto got = ::pread(handle_.number(), to.data(), to.size(), place);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) internal::fail_file(violation::file_is_not_readable, path_);
    if (got == 0) internal::fail_file(violation::file_is_not_readable, path_, "it became shorter");
    to = to.subspan(static_cast<std::size_t>(got));
    place += got;
  }
}

SHARDWISE_INLINE_FILES output_file::output_file(std::string path)
    : path_(std::move(path)), handle_(-1) {
  internal::require_whole_path(violation::file_is_not_writable, path_);
  // A device or a pipe would be replaced by a file.
  struct stat about {};
  const bool exists = ::stat(path_.c_str(), &about) == 0;
  if (exists && !S_ISREG(about.st_mode))
    internal::fail_file(violation::file_is_not_writable, path_, "it is no regular file");
  // A symbolic link stays, and the file that it names is replaced or created.
  target_ = path_;
  for (int links = 0; links < 40; ++links) {
    char named[4096];
    const auto size = ::readlink(target_.c_str(), named, sizeof(named));
    if (size <= 0 || static_cast<std::size_t>(size) == sizeof(named)) break;
    const std::string_view next(named, static_cast<std::size_t>(size));
    const bool is_absolute = next.front() == '/';
    target_.resize(is_absolute ? 0 : target_.rfind('/') + 1);  // the folder of the link
    target_ += next;
  }
  detail::remove_unfinished(target_);
  // A name that no other process or thread uses; the mode is that of any new file of the program.
  static std::atomic<unsigned> files{0};
  for (int removed = 0; removed < 100; ++removed) {
    do {
      beside_ = target_ + '.' + std::to_string(::getpid()) + '.' + std::to_string(files++);
      beside_ += detail::unfinished_ending;
      handle_ = detail::file_handle(
          ::open(beside_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    } while (handle_.number() < 0 && errno == EEXIST);
    if (handle_.number() < 0) {
      beside_.clear();
      internal::fail_file(violation::file_is_not_writable, path_);
    }
    // While it is locked, no other process takes it for one whose process has ended. One may have
    // before, and has removed it. Where files cannot be locked, none is removed.
    (void)detail::lock_file(handle_.number(), true);
    if (detail::has_name(handle_.number(), AT_FDCWD, beside_.c_str())) break;
  }
  // Who may read a file that is replaced, may read the new one; where that cannot be had, nobody
  // loses data.
  if (exists) (void)::fchmod(handle_.number(), about.st_mode & 0777U);
}

SHARDWISE_INLINE_FILES output_file::~output_file() {
  if (!beside_.empty()) ::unlink(beside_.c_str());
}

SHARDWISE_INLINE_FILES void output_file::write(std::span<const std::byte> from) {
  while (!from.empty()) {
    const auto put = ::write(handle_.number(), from.data(), from.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) internal::fail_file(violation::file_is_not_writable, path_);
    from = from.subspan(static_cast<std::size_t>(put));
  }
}

SHARDWISE_INLINE_FILES void output_file::commit() {
  // Closed, and so unlocked, after it has its name: otherwise another process might remove it.
  if (::fsync(handle_.number()) != 0 || ::rename(beside_.c_str(), target_.c_str()) != 0)
    internal::fail_file(violation::file_is_not_writable, path_);
  beside_.clear();
  const bool is_named = detail::sync_folder(detail::folder_of(target_));
  if (!handle_.close() || !is_named) internal::fail_file(violation::file_is_not_writable, path_);
}

}  // namespace shardwise
