// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/io/file.hpp"

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace shardwise {

/// Files that are read as if all were open, of which only a bounded number is: the one that has not
/// been read for the longest time is closed for another one. Several threads may read at the same
/// time; if each open file is being read, the next one waits.
///
/// A file that has been replaced or changed since it was added is an error when it is opened again,
/// `file_is_not_readable`; one that is still open is read as it was.
class open_files {
 public:
  /// At most this number of files is open at once, at least one.
  explicit open_files(int most);

  /// Adds a file, which stays open if there is room; returns its number.
  std::size_t add(input_file file);
  /// Fills `to` with the bytes of a file from `place` on.
  void read(std::size_t number, index_t place, std::span<std::byte> to) const;

 private:
  struct known_file {
    std::string path;
    file_identity identity{};
  };
  /// A file that is open, or room for one.
  struct slot {
    std::size_t number = 0;
    std::optional<input_file> file{};
    int readers = 0;
    std::uint64_t last_read = 0;
  };

  /// Returns a slot with this file, which is counted as being read.
  [[nodiscard]] slot& open(std::size_t number) const;
  void close(slot& from) const noexcept;

  std::vector<known_file> known_;
  mutable std::mutex guard_;
  mutable std::condition_variable is_free_;
  mutable std::vector<slot> slots_;
  mutable std::uint64_t reads_ = 0;
};

}  // namespace shardwise

#if !defined(SHARDWISE_COMPILED_FILES)
#include "shardwise/io/open_files_work.hpp"
#endif
