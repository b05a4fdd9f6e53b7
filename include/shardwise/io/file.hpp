// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/error.hpp"
#include "shardwise/core/index.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

namespace shardwise {

namespace internal {

/// Reports an error of a file: its name, and a reason.
[[noreturn]] void fail_file(violation rule, const std::string& path, const std::string& reason);
/// The same with the error of the operating system as the reason.
[[noreturn]] void fail_file(violation rule, const std::string& path);
/// Reports a file that has become shorter since it was opened.
[[noreturn]] void fail_shorter_file(const std::string& path, index_t size_then, index_t size_now);

}  // namespace internal

namespace detail {

/// An open file of the operating system, closed by its owner.
class file_handle {
 public:
  explicit file_handle(int number) noexcept : number_(number) {}
  file_handle(file_handle&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  file_handle& operator=(file_handle&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~file_handle();
  [[nodiscard]] int number() const noexcept { return number_; }
  /// Closes the file; returns false if the system could not write buffered data.
  [[nodiscard]] bool close() noexcept;

 private:
  int number_;
};

}  // namespace detail

/// Tells a file from another one that has taken its path since, and from itself before it was
/// changed.
struct file_identity {
  std::uint64_t device = 0, number = 0;
  index_t size = 0;
  std::int64_t seconds = 0, nanoseconds = 0;  ///< of the last change

  friend bool operator==(const file_identity&, const file_identity&) = default;
};

/// A file whose bytes can be read from any position, by several threads at once. Throws
/// `file_is_not_readable` with the error of the operating system.
class input_file {
 public:
  explicit input_file(std::string path);
  /// Takes a regular file that is open already, such as one without a name; `path` names it in
  /// errors.
  input_file(std::string path, detail::file_handle open);

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// Returns the size of the file when it was opened.
  [[nodiscard]] index_t size() const noexcept { return identity_.size; }
  /// Returns the file as the operating system knows it.
  [[nodiscard]] const detail::file_handle& handle() const noexcept { return handle_; }
  /// Returns which file was opened, and in which state.
  [[nodiscard]] const file_identity& identity() const noexcept { return identity_; }

  /// Fills `to` with the bytes from `place` on.
  void read(index_t place, std::span<std::byte> to) const;

 private:
  /// Takes the size of a regular file.
  void measure();

  std::string path_;
  detail::file_handle handle_;
  file_identity identity_{};
};

/// A file that is written under a temporary name beside its target, `TARGET.PROCESS.NUMBER.saving`,
/// and renamed by `commit`: before that, and if writing fails or the program ends, the target does
/// not change. What a program that was killed has left beside the target is removed when the next
/// file is written for it; what another one is still writing is locked, and stays. Throws
/// `file_is_not_writable` with the error of the operating system, or if the target is not a regular
/// file.
class output_file {
 public:
  explicit output_file(std::string path);
  output_file(const output_file&) = delete;
  output_file& operator=(const output_file&) = delete;
  ~output_file();

  /// Appends bytes.
  void write(std::span<const std::byte> from);
  /// Replaces the target by the file, after its data is on the disk, and writes the name to the
  /// disk.
  void commit();

 private:
  std::string path_;
  /// The file that is replaced: the one that `path_` names, without symbolic links.
  std::string target_;
  /// The temporary name until `commit`; empty afterwards.
  std::string beside_;
  detail::file_handle handle_;
};

}  // namespace shardwise

#if !defined(SHARDWISE_COMPILED_FILES)
#include "shardwise/io/file_work.hpp"
#endif
