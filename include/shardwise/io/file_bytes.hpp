// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/io/mapped_file.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace shardwise {

/// The bytes of a file, or of a part of it, wherever they are: in a mapped file, or in memory where
/// they were unpacked. Copies share them, and the last one releases them.
class file_bytes {
 public:
  file_bytes() = default;
  /// Maps a file as it is. Throws `file_is_not_readable`.
  explicit file_bytes(const std::string& path);
  /// Takes a mapped file; `name` is that of the bytes in errors.
  file_bytes(std::string name, mapped_file file);
  /// Takes `size` bytes in memory, wherever they come from.
  file_bytes(std::string name, std::shared_ptr<const std::byte> memory, index_t size);

  /// Returns what errors call the bytes: the path of the file, and what in it they are.
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] index_t size() const noexcept { return size_; }

  /// Returns all bytes, which stay where they are as long as a copy lives. Throws
  /// `file_is_not_readable` if the file has become shorter since it was opened.
  [[nodiscard]] std::span<const std::byte> bytes() const;
  /// Returns some of them. Throws `file_is_malformed` if it does not have so many.
  [[nodiscard]] std::span<const std::byte> bytes(index_t place, index_t count) const;
  /// The same as characters.
  [[nodiscard]] std::string_view text() const {
    const std::span<const std::byte> all = bytes();
    return {reinterpret_cast<const char*>(all.data()), all.size()};
  }
  /// Returns a part, which shares the bytes; `name` is that of the part, or empty for the same.
  [[nodiscard]] file_bytes part(index_t place, index_t count, std::string name = {}) const;

  /// Throws `file_is_malformed` with the name and a reason.
  [[noreturn]] void refuse(const std::string& reason) const;

 private:
  void require_part(index_t place, index_t count) const;

  std::string name_;
  std::shared_ptr<const mapped_file> file_;
  std::shared_ptr<const std::byte> memory_;
  index_t begin_ = 0;
  index_t size_ = 0;
};

namespace internal {
/// Returns the first bytes of a file as errors show them: `3c 21 64 6f ("<!do")`.
[[nodiscard]] std::string first_bytes(std::span<const std::byte> of);
}  // namespace internal

}  // namespace shardwise

#if !defined(SHARDWISE_COMPILED_FILES)
#include "shardwise/io/file_bytes_work.hpp"
#endif
