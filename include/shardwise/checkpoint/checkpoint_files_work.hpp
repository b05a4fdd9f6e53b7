// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/checkpoint/checkpoint_files.hpp"
#include "shardwise/core/config.hpp"
#include "shardwise/io/file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <dirent.h>
#include <memory>

namespace shardwise::internal {

/// Repeats a call of the system that a signal interrupts.
template <class Call>
[[nodiscard]] auto retried(const Call& call) {
  for (;;)
    if (const auto result = call(); result >= 0 || errno != EINTR) return result;
}

SHARDWISE_INLINE_FILES placed_file placed_file::open_as(std::string path, int flags,
                                                        violation rule) {
  const int number =
      retried([&] { return file_calls::current().open(path.c_str(), flags | O_CLOEXEC, 0666); });
  if (number < 0) internal::fail_file(rule, path);
  return {std::move(path), number};
}
SHARDWISE_INLINE_FILES placed_file placed_file::create(std::string path) {
  return open_as(std::move(path), O_RDWR | O_CREAT | O_EXCL, violation::file_is_not_writable);
}
SHARDWISE_INLINE_FILES placed_file placed_file::open(std::string path) {
  return open_as(std::move(path), O_RDONLY, violation::file_is_not_readable);
}
SHARDWISE_INLINE_FILES placed_file placed_file::open_or_create(std::string path) {
  return open_as(std::move(path), O_RDWR | O_CREAT, violation::file_is_not_writable);
}
SHARDWISE_INLINE_FILES placed_file::~placed_file() {
  if (number_ >= 0) (void)file_calls::current().close(number_);
}

SHARDWISE_INLINE_FILES void placed_file::write(index_t place,
                                               std::span<const std::byte> from) const {
  // Linux writes at most 0x7ffff000 bytes at once.
  constexpr std::size_t most = std::size_t{1} << 30;
  while (!from.empty()) {
    const ssize_t done = retried([&] {
      return file_calls::current().write_at(number_, from.data(), std::min(most, from.size()),
                                            place);
    });
    if (done == 0) errno = ENOSPC;
    if (done <= 0) internal::fail_file(violation::file_is_not_writable, path_);
    from = from.subspan(static_cast<std::size_t>(done));
    place += done;
  }
}
SHARDWISE_INLINE_FILES void placed_file::read(index_t place, std::span<std::byte> to) const {
  constexpr std::size_t most = std::size_t{1} << 30;
  while (!to.empty()) {
    const ssize_t done = retried([&] {
      return file_calls::current().read_at(number_, to.data(), std::min(most, to.size()), place);
    });
    if (done < 0) internal::fail_file(violation::file_is_not_readable, path_);
    if (done == 0)
      internal::fail_file(violation::file_is_malformed, path_,
                          "it ends at byte " + std::to_string(place) + ", before the " +
                              std::to_string(to.size()) + " bytes that are read there");
    to = to.subspan(static_cast<std::size_t>(done));
    place += done;
  }
}
SHARDWISE_INLINE_FILES index_t placed_file::size() const {
  struct stat about {};
  if (::fstat(number_, &about) != 0) internal::fail_file(violation::file_is_not_readable, path_);
  return about.st_size;
}
SHARDWISE_INLINE_FILES bool placed_file::lock() const {
  return retried([&] { return file_calls::current().lock(number_); }) == 0 || errno != EWOULDBLOCK;
}
SHARDWISE_INLINE_FILES void placed_file::finish() {
  if (retried([&] { return file_calls::current().sync(number_); }) != 0)
    internal::fail_file(violation::file_is_not_writable, path_);
  // After `close` was interrupted the number is free.
  if (file_calls::current().close(std::exchange(number_, -1)) != 0 && errno != EINTR)
    internal::fail_file(violation::file_is_not_writable, path_);
}

SHARDWISE_INLINE_FILES std::string path_of(const std::string& folder, std::string_view name) {
  std::string path = folder.empty() ? "." : folder;
  if (path.back() != '/') path += '/';
  return path.append(name);
}
SHARDWISE_INLINE_FILES void write_whole(const std::string& path, std::string_view text) {
  const std::string beside = path + std::string(unfinished_name);
  placed_file file = placed_file::create(beside);
  file.write(0, std::as_bytes(std::span(text)));
  file.finish();
  rename_path(beside, path);
}
SHARDWISE_INLINE_FILES std::string read_whole(const std::string& path, index_t most) {
  const placed_file file = placed_file::open(path);
  const index_t size = file.size();
  if (size > most)
    internal::fail_file(violation::file_is_malformed, path,
                        "it has more than " + std::to_string(most) + " bytes");
  std::string text(static_cast<std::size_t>(size), ' ');
  file.read(0, std::as_writable_bytes(std::span(text)));
  return text;
}
SHARDWISE_INLINE_FILES std::string folder_above(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == path.npos ? "." : path.substr(0, slash + 1);
}
SHARDWISE_INLINE_FILES index_t size_of_file(const std::string& path) {
  struct stat about {};
  if (::stat(path.c_str(), &about) != 0) internal::fail_file(violation::file_is_not_readable, path);
  return about.st_size;
}
SHARDWISE_INLINE_FILES bool is_there(const std::string& path) {
  struct stat about {};
  return ::lstat(path.c_str(), &about) == 0;
}
SHARDWISE_INLINE_FILES bool is_folder(const std::string& path) {
  struct stat about {};
  return ::lstat(path.c_str(), &about) == 0 && S_ISDIR(about.st_mode);
}
SHARDWISE_INLINE_FILES std::vector<std::string> names_in(const std::string& folder,
                                                         bool only_folders) {
  const std::unique_ptr<DIR, int (*)(DIR*)> all(::opendir(path_of(folder, "").c_str()),
                                                &::closedir);
  if (all == nullptr) internal::fail_file(violation::file_is_not_readable, folder);
  std::vector<std::string> names;
  while (const dirent* const each = ::readdir(all.get())) {
    struct stat about {};
    const std::string_view name = each->d_name;
    if (name == "." || name == "..") continue;
    if (only_folders &&
        (::fstatat(::dirfd(all.get()), each->d_name, &about, AT_SYMLINK_NOFOLLOW) != 0 ||
         !S_ISDIR(about.st_mode)))
      continue;
    names.emplace_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}
SHARDWISE_INLINE_FILES void make_folder(const std::string& path, bool may_exist) {
  if (retried([&] { return file_calls::current().make_folder(path.c_str()); }) != 0 &&
      !(may_exist && errno == EEXIST))
    internal::fail_file(violation::file_is_not_writable, path);
}
SHARDWISE_INLINE_FILES void rename_path(const std::string& from, const std::string& to) {
  if (retried([&] { return file_calls::current().rename(from.c_str(), to.c_str()); }) != 0)
    internal::fail_file(violation::file_is_not_writable, to);
}
SHARDWISE_INLINE_FILES void sync_folder(const std::string& path) {
  // Some folders cannot be opened, and some file systems have nothing to write.
  const int number = retried([&] {
    return file_calls::current().open(path_of(path, "").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC,
                                      0);
  });
  if (number < 0) {
    if (errno == EACCES) return;
    internal::fail_file(violation::file_is_not_writable, path);
  }
  const int failed = retried([&] { return file_calls::current().sync(number); });
  const int reason = errno;
  (void)file_calls::current().close(number);
  errno = reason;
  if (failed != 0 && errno != EINVAL && errno != ENOTSUP && errno != EROFS)
    internal::fail_file(violation::file_is_not_writable, path);
}
SHARDWISE_INLINE_FILES std::string remove_path(const std::string& path, bool is_folder) {
  file_calls& calls = file_calls::current();
  const int failed = retried([&] {
    return is_folder ? calls.remove_folder(path.c_str()) : calls.remove_file(path.c_str());
  });
  return failed == 0 || errno == ENOENT ? std::string() : path + ": " + std::strerror(errno);
}

}  // namespace shardwise::internal
