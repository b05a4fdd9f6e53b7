// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/io/file.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

namespace shardwise {

namespace detail {

/// Pages that the system has mapped for this process, given back by their owner.
class mapped_pages {
 public:
  mapped_pages() = default;
  mapped_pages(std::byte* begin, std::size_t bytes) noexcept : begin_(begin), bytes_(bytes) {}
  mapped_pages(mapped_pages&& other) noexcept
      : begin_(std::exchange(other.begin_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  mapped_pages& operator=(mapped_pages&& other) noexcept {
    std::swap(begin_, other.begin_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~mapped_pages();

  /// Reserves memory, of which the system provides each page when it is first written; without any
  /// if it does not permit that.
  [[nodiscard]] static mapped_pages reserve(std::size_t bytes) noexcept;
  /// Gives back all but the first bytes, in whole pages.
  void shrink(std::size_t bytes) noexcept;

  [[nodiscard]] std::byte* begin() const noexcept { return begin_; }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

 private:
  std::byte* begin_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace detail

/// A file whose bytes are read where the system has mapped them: what is never touched is never
/// read, and what is read costs no memory of the program. It is not kept open, so that there may be
/// more of them than a process may have open. Throws `file_is_not_readable`.
///
/// Reading bytes that a file no longer has ends the program. So `bytes` looks at the size that the
/// file under this path has now, and throws if it is shorter than when it was opened. A file that
/// has lost its path, or is cut while its bytes are used, is not noticed.
class mapped_file {
 public:
  explicit mapped_file(std::string path);
  /// Maps a file that is open, and closes it.
  explicit mapped_file(input_file file);

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// Returns the size of the file when it was opened.
  [[nodiscard]] index_t size() const noexcept { return size_; }
  /// Returns all bytes, as long as this lives.
  [[nodiscard]] std::span<const std::byte> bytes() const {
    require_size();
    return {pages_.begin(), static_cast<std::size_t>(size_)};
  }

 private:
  void require_size() const;

  std::string path_;
  index_t size_ = 0;
  /// What the system calls the file; 0 for one without a path.
  std::uint64_t device_ = 0, number_ = 0;
  detail::mapped_pages pages_;
};

}  // namespace shardwise

#if !defined(SHARDWISE_COMPILED_FILES)
#include "shardwise/io/mapped_file_work.hpp"
#endif
