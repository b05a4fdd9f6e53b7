// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/error.hpp"
#include "shardwise/layout/layout_rules.hpp"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

namespace shardwise {

/// A file that is read in order, from its first byte on: as it is, or unpacked if it is packed by
/// gzip, all members one after another. It may be a pipe. Throws `file_is_not_readable`, or
/// `file_is_malformed` where the packed data are damaged or end too early.
class packed_file {
 public:
  explicit packed_file(const std::string& path) : path_(path), handle_(nullptr, &::gzclose) {
    internal::require_whole_path(violation::file_is_not_readable, path);
    const int number = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat about {};
    if (number < 0 || ::fstat(number, &about) != 0) {
      const int problem = errno;
      if (number >= 0) ::close(number);
      refuse(violation::file_is_not_readable, std::strerror(problem));
    }
    if (S_ISREG(about.st_mode)) size_ = about.st_size;
    errno = ENOMEM;  // zlib may not say why it opens nothing
    handle_.reset(::gzdopen(number, "rb"));
    if (handle_ != nullptr) return;
    const int problem = errno;
    ::close(number);
    refuse(violation::file_is_not_readable, std::strerror(problem));
  }

  /// Fails unless the file can hold `count` bytes after the header of `before` bytes that has been
  /// read. Returns false if only its end will tell: it is no regular file.
  bool require_room(index_t before, index_t count) const {
    if (size_ < 0) return false;
    // Deflate writes at most 258 bytes for two bits.
    const bool is_packed = ::gzdirect(handle_.get()) == 0;
    constexpr index_t most_for_a_byte = 258 * 4;
    const index_t room = size_ > max_elements / most_for_a_byte ? max_elements
                         : is_packed                            ? size_ * most_for_a_byte
                                                                : size_;
    if (count > room - before)
      refuse(violation::file_is_malformed,
             "its header says " + std::to_string(count) + " bytes, and its " +
                 std::to_string(size_) + " bytes hold at most " +
                 std::to_string(std::max(room - before, index_t{0})) +
                 (is_packed ? " when they are unpacked" : " after it"));
    return true;
  }

  /// Reads up to `count` bytes: fewer only at the end of the file.
  [[nodiscard]] std::size_t read(std::uint8_t* to, std::size_t count) const {
    const int got = ::gzread(handle_.get(), to, static_cast<unsigned>(count));
    if (got >= 0) {
      // For a truncated compressed file, the bytes before the end are returned first, and then an
      // error.
      int problem = Z_OK;
      const char* const words = ::gzerror(handle_.get(), &problem);
      if (problem == Z_OK || problem == Z_STREAM_END) return static_cast<std::size_t>(got);
      refuse(violation::file_is_malformed, words);
    }
    int problem = Z_OK;
    const char* const words = ::gzerror(handle_.get(), &problem);
    refuse(problem == Z_ERRNO ? violation::file_is_not_readable : violation::file_is_malformed,
           problem == Z_ERRNO ? std::strerror(errno) : words);
  }
  /// Throws an error with the path and a reason.
  [[noreturn]] void refuse(violation rule, const std::string& reason) const {
    fail({.rule = rule}, path_ + ": " + reason);
  }

 private:
  std::string path_;
  std::unique_ptr<gzFile_s, int (*)(gzFile)> handle_;
  index_t size_ = -1;  // of a regular file
};

}  // namespace shardwise
