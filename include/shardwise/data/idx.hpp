// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/error.hpp"
#include "shardwise/layout/layout_rules.hpp"
#include "shardwise/tensor/out_of_memory.hpp"

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
#include <vector>
#include <zlib.h>

namespace shardwise {

/// The contents of an IDX file: an array of bytes of any rank, row-major.
struct idx_array {
  extents_desc extents;
  std::vector<std::uint8_t> bytes;
};

namespace detail {

/// Reads the bytes of a file, which may be compressed by gzip, in order.
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
  [[noreturn]] void refuse(violation rule, const std::string& reason) const {
    fail({.rule = rule}, path_ + ": " + reason);
  }

 private:
  std::string path_;
  std::unique_ptr<gzFile_s, int (*)(gzFile)> handle_;
  index_t size_ = -1;  // of a regular file
};

}  // namespace detail

/// Reads an IDX file of bytes, the format of MNIST's images and labels, uncompressed or compressed
/// by gzip. Throws `file_is_not_readable`, or `file_is_malformed` if the file does not contain
/// exactly what its header states. It needs no more memory than the array, and a header that states
/// more than the bytes of the file can hold, packed or not, is refused before any is requested.
///
///     const idx_array images = read_idx("train-images-idx3-ubyte.gz");   // {60000, 28, 28}
[[nodiscard]] inline idx_array read_idx(const std::string& path) {
  const detail::packed_file file(path);
  const auto refuse = [&](const std::string& reason) {
    file.refuse(violation::file_is_malformed, reason);
  };
  std::uint8_t head[4]{};
  if (file.read(head, 4) != 4) refuse("it is shorter than the header of an IDX file");
  if (head[0] != 0 || head[1] != 0) refuse("it does not begin as an IDX file does, with two zeros");
  if (head[2] != 8) refuse("its elements are of type " + std::to_string(head[2]) + ", not bytes");
  if (head[3] < 1 || head[3] > max_rank)
    refuse("it has " + std::to_string(head[3]) + " dimensions, not 1 to " +
           std::to_string(max_rank));
  idx_array made;
  // Sizes whose product exceeds any memory are rejected before they are multiplied.
  constexpr index_t most = index_t{1} << 40;
  index_t count = 1;
  for (int d = 0; d < int{head[3]}; ++d) {
    std::uint8_t size[4]{};
    if (file.read(size, 4) != 4) refuse("its header ends before its sizes do");
    index_t extent = 0;
    for (const std::uint8_t byte : size) extent = extent << 8 | byte;
    if (extent > 0 && count > most / extent) refuse("its sizes are those of no file");
    count *= extent;
    made.extents.push_back(extent);
  }
  // The header may be wrong, so pages are written only for data that is actually there. The whole
  // memory is requested at once, since growing would copy it, and need up to three times as much.
  if (file.require_room(4 + 4 * made.extents.ssize(), count))
    internal::with_memory_for(count, 1,
                              [&] { made.bytes.reserve(static_cast<std::size_t>(count)); });
  constexpr index_t step = index_t{1} << 20;
  while (static_cast<index_t>(made.bytes.size()) < count) {
    const std::size_t have = made.bytes.size();
    const auto wanted =
        static_cast<std::size_t>(std::min(step, count - static_cast<index_t>(have)));
    made.bytes.resize(have + wanted);
    if (file.read(made.bytes.data() + have, wanted) != wanted)
      refuse("it ends before the " + std::to_string(count) + " bytes that its header says");
  }
  std::uint8_t more = 0;
  if (file.read(&more, 1) != 0)
    refuse("it has more than the " + std::to_string(count) + " bytes that its header says");
  return made;
}

}  // namespace shardwise
