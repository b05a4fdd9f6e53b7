// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdio>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

namespace shardwise::internal {

/// The calls of the operating system by which checkpoints are written and read. Tests replace them
/// by calls that fail, write less than asked, or end the process.
class file_calls {
 public:
  virtual ~file_calls() = default;

  virtual int open(const char* path, int flags, mode_t mode) { return ::open(path, flags, mode); }
  virtual ssize_t write_at(int file, const void* from, std::size_t bytes, off_t place) {
    return ::pwrite(file, from, bytes, place);
  }
  virtual ssize_t read_at(int file, void* to, std::size_t bytes, off_t place) {
    return ::pread(file, to, bytes, place);
  }
  virtual int sync(int file) { return ::fsync(file); }
  virtual int close(int file) { return ::close(file); }
  virtual int rename(const char* from, const char* to) { return ::rename(from, to); }
  /// Locks an open file that nobody else has locked, until it is closed.
  virtual int lock(int file) { return ::flock(file, LOCK_EX | LOCK_NB); }
  virtual int make_folder(const char* path) { return ::mkdir(path, 0777); }
  virtual int remove_file(const char* path) { return ::unlink(path); }
  virtual int remove_folder(const char* path) { return ::rmdir(path); }

  /// Returns the calls that are in use.
  [[nodiscard]] static file_calls& current() noexcept { return *used(); }
  /// Uses other calls, and returns those before; not while a checkpoint is written or read.
  static file_calls* exchange(file_calls* other) noexcept {
    file_calls* const before = used();
    used() = other;
    return before;
  }

 private:
  [[nodiscard]] static file_calls*& used() noexcept {
    static file_calls system;
    static file_calls* now = &system;
    return now;
  }
};

}  // namespace shardwise::internal
