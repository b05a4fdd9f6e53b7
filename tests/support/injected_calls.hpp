// SPDX-License-Identifier: BSL-1.0
// Calls of the operating system that fail, do less than asked, or end the process.
#pragma once

#include <shardwise/checkpoint/file_calls.hpp>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <functional>
#include <limits>
#include <map>
#include <mutex>
#include <string>

namespace support {

/// The calls by which checkpoints are written and read, until the end of this object. They are
/// numbered from 0 on, in all threads together.
class injected_calls : public shardwise::internal::file_calls {
 public:
  injected_calls() : before_(exchange(this)) {}
  injected_calls(const injected_calls&) = delete;
  ~injected_calls() override { exchange(before_); }

  static constexpr long never = std::numeric_limits<long>::max();

  /// Which calls fail with `error`: the one with this number, and all after it up to `last`.
  std::atomic<long> first_failure{never};
  std::atomic<long> last_failure{never};
  std::atomic<int> error{EIO};
  /// The call before which the process is killed; half of a write is done first.
  std::atomic<long> death{never};
  /// The most bytes that a call reads or writes.
  std::atomic<std::size_t> most{std::numeric_limits<std::size_t>::max()};
  /// Every second call is interrupted.
  std::atomic<bool> interrupts{false};
  /// Only calls for paths that contain this text are numbered.
  std::string numbered_path{};
  /// Writes to files whose path contains this text fail; see `error`.
  std::string failing_path{};
  /// Files whose path contains this text cannot be removed.
  std::string unremovable_path{};
  /// Called before each write, with the path.
  std::function<void(const std::string&)> before_write{};

  /// The number of calls so far, and of those that opened a file of data.
  std::atomic<long> calls{0};
  std::atomic<long> opened_data{0};

  int open(const char* path, int flags, mode_t mode) override {
    if (is_failed(path)) return -1;
    const int file = file_calls::open(path, flags, mode);
    if (std::string(path).ends_with(".safetensors")) ++opened_data;
    const std::lock_guard lock(mutex_);
    if (file >= 0) names_[file] = path;
    return file;
  }
  ssize_t write_at(int file, const void* from, std::size_t bytes, off_t place) override {
    const std::string name = name_of(file);
    if (before_write) before_write(name);
    if (calls == death) (void)file_calls::write_at(file, from, bytes / 2, place);
    if (is_failed(name)) return -1;
    if (!failing_path.empty() && name.find(failing_path) != name.npos) {
      errno = error;
      return -1;
    }
    return file_calls::write_at(file, from, std::min(bytes, most.load()), place);
  }
  ssize_t read_at(int file, void* to, std::size_t bytes, off_t place) override {
    if (is_failed(name_of(file))) return -1;
    return file_calls::read_at(file, to, std::min(bytes, most.load()), place);
  }
  /// Does nothing: tests end processes, not machines, and disks are slow.
  int sync(int file) override { return is_failed(name_of(file)) ? -1 : 0; }
  int lock(int file) override { return is_failed(name_of(file)) ? -1 : file_calls::lock(file); }
  int close(int file) override {
    // The system frees the number in any case.
    const bool failed = is_failed(name_of(file));
    const int reason = errno, result = file_calls::close(file);
    if (!failed) return result;
    errno = reason;
    return -1;
  }
  int rename(const char* from, const char* to) override {
    return is_failed(from, false) ? -1 : file_calls::rename(from, to);
  }
  int make_folder(const char* path) override {
    return is_failed(path, false) ? -1 : file_calls::make_folder(path);
  }
  int remove_file(const char* path) override {
    if (!unremovable_path.empty() &&
        std::string(path).find(unremovable_path) != std::string::npos) {
      errno = EPERM;
      return -1;
    }
    return is_failed(path, false) ? -1 : file_calls::remove_file(path);
  }
  int remove_folder(const char* path) override {
    return is_failed(path, false) ? -1 : file_calls::remove_folder(path);
  }

 private:
  [[nodiscard]] bool is_failed(const std::string& path, bool may_be_interrupted = true) {
    if (path.find(numbered_path) == path.npos) return false;
    const long number = calls++;
    if (number == death) (void)std::raise(SIGKILL);
    if (interrupts && may_be_interrupted && number % 2 == 0) {
      errno = EINTR;
      return true;
    }
    if (number < first_failure || number > last_failure) return false;
    errno = error;
    return true;
  }
  [[nodiscard]] std::string name_of(int file) {
    const std::lock_guard lock(mutex_);
    return names_[file];
  }

  std::mutex mutex_;
  std::map<int, std::string> names_;
  file_calls* before_;
};

}  // namespace support
