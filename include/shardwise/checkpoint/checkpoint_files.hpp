// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/checkpoint/file_calls.hpp"
#include "shardwise/core/error.hpp"
#include "shardwise/core/index.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace shardwise::internal {

/// A file of a checkpoint, which is written or read at any place by several threads at once. Calls
/// that are interrupted, or do less than asked, are repeated.
class placed_file {
 public:
  /// Creates a file that does not exist, opens one for reading, or either for writing. Throws
  /// `file_is_not_writable` or `file_is_not_readable`, as all functions do, with the path and the
  /// error of the system.
  [[nodiscard]] static placed_file create(std::string path);
  [[nodiscard]] static placed_file open(std::string path);
  [[nodiscard]] static placed_file open_or_create(std::string path);

  placed_file(placed_file&& other) noexcept
      : path_(std::move(other.path_)), number_(std::exchange(other.number_, -1)) {}
  placed_file& operator=(placed_file&&) = delete;
  ~placed_file();

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// Writes all of `from`, from a place in the file on.
  void write(index_t place, std::span<const std::byte> from) const;
  /// Fills `to`. Throws `file_is_malformed` if the file ends before.
  void read(index_t place, std::span<std::byte> to) const;
  [[nodiscard]] index_t size() const;
  /// Locks the file until it is closed; returns false if another one has locked it. Where files
  /// cannot be locked, nobody is kept out.
  [[nodiscard]] bool lock() const;
  /// Writes everything to the disk, and closes the file.
  void finish();

 private:
  [[nodiscard]] static placed_file open_as(std::string path, int flags, violation rule);
  placed_file(std::string path, int number) : path_(std::move(path)), number_(number) {}

  std::string path_;
  int number_;
};

/// The end of the name of a file or a folder that is not complete.
inline constexpr std::string_view unfinished_name = ".unfinished";

/// Returns the path of a file in a folder.
[[nodiscard]] std::string path_of(const std::string& folder, std::string_view name);
/// Writes a small file: all of it is on the disk when it appears under its name.
void write_whole(const std::string& path, std::string_view text);
/// Reads a file of at most `most` bytes.
[[nodiscard]] std::string read_whole(const std::string& path, index_t most);
/// Returns the folder that a path without a slash at its end is in.
[[nodiscard]] std::string folder_above(const std::string& path);
/// Returns the size of a file.
[[nodiscard]] index_t size_of_file(const std::string& path);
/// Returns true if a path names something: a file, a folder, or a link, wherever it leads.
[[nodiscard]] bool is_there(const std::string& path);
/// Returns true for a folder that is no link.
[[nodiscard]] bool is_folder(const std::string& path);
/// Returns the names in a folder, in ascending order; those of folders that are no links alone, if
/// only these are asked for.
[[nodiscard]] std::vector<std::string> names_in(const std::string& folder, bool only_folders);
/// Creates a folder; it may exist if `may_exist`.
void make_folder(const std::string& path, bool may_exist);
/// Renames a file or a folder.
void rename_path(const std::string& from, const std::string& to);
/// Writes the names in a folder to the disk.
void sync_folder(const std::string& path);
/// Removes a file, or an empty folder; returns the error of the system, or nothing.
[[nodiscard]] std::string remove_path(const std::string& path, bool is_folder);

}  // namespace shardwise::internal

#if !defined(SHARDWISE_COMPILED_FILES)
#include "shardwise/checkpoint/checkpoint_files_work.hpp"
#endif
