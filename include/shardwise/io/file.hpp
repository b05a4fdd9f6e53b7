// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/error.hpp"
#include "shardwise/core/index.hpp"

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <fcntl.h>
#include <span>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace shardwise {

namespace detail {

/// Reports an error of a file: its name, and a reason.
[[noreturn]] inline void fail_file(violation rule, const std::string& path,
                                   const std::string& reason) {
  fail({.rule = rule}, text_view((path + ": " + reason).c_str()));
}
/// The same with the error of the operating system as the reason.
[[noreturn]] inline void fail_file(violation rule, const std::string& path) {
  fail_file(rule, path, std::strerror(errno));
}

/// An open file of the operating system, closed by its owner.
class file_handle {
 public:
  explicit file_handle(int number) noexcept : number_(number) {}
  file_handle(file_handle&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  file_handle& operator=(file_handle&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~file_handle() {
    if (number_ >= 0) ::close(number_);
  }
  [[nodiscard]] int number() const noexcept { return number_; }
  /// Closes the file; returns false if the system could not write buffered data.
  [[nodiscard]] bool close() noexcept { return ::close(std::exchange(number_, -1)) == 0; }

 private:
  int number_;
};

}  // namespace detail

/// A file whose bytes can be read from any position, by several threads at once. Throws
/// `file_is_not_readable` with the error of the operating system.
class input_file {
 public:
  explicit input_file(std::string path)
      : path_(std::move(path)), handle_(::open(path_.c_str(), O_RDONLY | O_CLOEXEC)) {
    struct stat about {};
    if (handle_.number() < 0 || ::fstat(handle_.number(), &about) != 0)
      detail::fail_file(violation::file_is_not_readable, path_);
    if (!S_ISREG(about.st_mode))
      detail::fail_file(violation::file_is_not_readable, path_, "it is no regular file");
    size_ = about.st_size;
  }

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// Returns the size of the file when it was opened.
  [[nodiscard]] index_t size() const noexcept { return size_; }

  /// Fills `to` with the bytes from `place` on.
  void read(index_t place, std::span<std::byte> to) const {
    while (!to.empty()) {
      const auto got = ::pread(handle_.number(), to.data(), to.size(), place);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) detail::fail_file(violation::file_is_not_readable, path_);
      if (got == 0) detail::fail_file(violation::file_is_not_readable, path_, "it became shorter");
      to = to.subspan(static_cast<std::size_t>(got));
      place += got;
    }
  }

 private:
  std::string path_;
  detail::file_handle handle_;
  index_t size_ = 0;
};

/// A file that is written under a temporary name beside its target and renamed by `commit`: before
/// that, and if writing fails or the program ends, the target does not change. Throws
/// `file_is_not_writable` with the error of the operating system.
class output_file {
 public:
  explicit output_file(std::string path) : path_(std::move(path)), handle_(-1) {
    // A name that no other process or thread uses; the mode is that of any new file of the program.
    static std::atomic<unsigned> files{0};
    do {
      beside_ = path_ + '.' + std::to_string(::getpid()) + '.' + std::to_string(files++);
      handle_ = detail::file_handle(
          ::open(beside_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    } while (handle_.number() < 0 && errno == EEXIST);
    if (handle_.number() < 0) {
      beside_.clear();
      detail::fail_file(violation::file_is_not_writable, path_);
    }
  }
  output_file(const output_file&) = delete;
  output_file& operator=(const output_file&) = delete;
  ~output_file() {
    if (!beside_.empty()) ::unlink(beside_.c_str());
  }

  /// Appends bytes.
  void write(std::span<const std::byte> from) {
    while (!from.empty()) {
      const auto put = ::write(handle_.number(), from.data(), from.size());
      if (put < 0 && errno == EINTR) continue;
      if (put < 0) detail::fail_file(violation::file_is_not_writable, path_);
      from = from.subspan(static_cast<std::size_t>(put));
    }
  }
  /// Replaces the target by the file, after its data is on the disk.
  void commit() {
    if (::fsync(handle_.number()) != 0 || !handle_.close() ||
        ::rename(beside_.c_str(), path_.c_str()) != 0)
      detail::fail_file(violation::file_is_not_writable, path_);
    beside_.clear();
  }

 private:
  std::string path_;
  /// The temporary name until `commit`; empty afterwards.
  std::string beside_;
  detail::file_handle handle_;
};

}  // namespace shardwise
