// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/checkpoint/checkpoint_files.hpp"
#include "shardwise/checkpoint/checkpoint_index.hpp"
#include "shardwise/checkpoint/save_checkpoint.hpp"
#include "shardwise/io/safetensors_header.hpp"
#include "shardwise/layout/notation.hpp"
#include "shardwise/pool/worker_team.hpp"
#include "shardwise/process/owner_link.hpp"
#include "shardwise/process/run_result.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace shardwise::detail {

/// Returns the process that writes a shard: one of those that hold it, in turn, so that all write
/// about as much.
[[nodiscard]] inline index_t writer_of(const shard_table& where, const owner_link* link,
                                       index_t shard, std::size_t number) {
  if (link == nullptr) return 0;
  std::vector<index_t> holders;
  for (index_t device = 0; device < where.devices(); ++device)
    if (where.shard_of(device) == shard) holders.push_back(link->owners().owner_of(device));
  std::sort(holders.begin(), holders.end());
  holders.erase(std::unique(holders.begin(), holders.end()), holders.end());
  return holders[(number + static_cast<std::size_t>(shard)) % holders.size()];
}

/// Returns the name of a piece in its file: `w`, or `w[0:4,8:16]` if it is a part.
[[nodiscard]] inline std::string piece_name(const std::string& name, const tensor_desc& tensor,
                                            const held_box& box) {
  if (size_of_piece(box) == element_count(tensor.extents)) return name;
  std::string out = name + '[';
  for (const held_range& each : box) {
    if (out.back() != '[') out += ',';
    if (each.split.how.is_contiguous())
      out += std::to_string(each.range.begin) + ':' + std::to_string(each.range.end);
    else
      out += "part " + std::to_string(each.position) + " of " + std::to_string(each.split.parts);
  }
  return out + ']';
}

/// A piece that this process writes: where its bytes are.
struct piece_source {
  const std::byte* bytes = nullptr;
  index_t size = 0;
  checkpoint_piece* piece = nullptr;
};

/// Who writes the pieces of a process: the threads of a team, or the calling thread alone, which
/// calls `rest` after each part of the work.
struct piece_writers {
  worker_team* team = nullptr;
  function_view<void()> rest = [] {};
};

/// Writes pieces to a file, and fills in their checksums.
inline void write_pieces(const internal::placed_file& file, index_t first,
                         const std::vector<piece_source>& pieces, const piece_writers& writers) {
  // Several chunks at a time: fewer calls, and still enough for all threads.
  constexpr index_t at_once = 8 * checkpoint_chunk;
  struct span_of_piece {
    const piece_source* of;
    index_t begin;
  };
  std::vector<span_of_piece> tasks;
  index_t bytes = 0;
  for (const piece_source& each : pieces) {
    bytes += each.size;
    for (index_t begin = 0; begin < each.size; begin += at_once) tasks.push_back({&each, begin});
  }
  const auto write = [&](index_t task) {
    const auto [of, begin] = tasks[static_cast<std::size_t>(task)];
    const index_t end = std::min(begin + at_once, of->size);
    for (index_t at = begin; at < end; at += checkpoint_chunk)
      of->piece->checksums[static_cast<std::size_t>(at / checkpoint_chunk)] = checksum_of(
          of->bytes + at, static_cast<std::size_t>(std::min(checkpoint_chunk, end - at)));
    file.write(first + of->piece->begin + begin,
               {of->bytes + begin, static_cast<std::size_t>(end - begin)});
  };
  const auto count = static_cast<index_t>(tasks.size());
  if (writers.team != nullptr) {
    writers.team->run(count, write, bytes);
    return;
  }
  for (index_t task = 0; task < count; ++task) {
    write(task);
    writers.rest();
  }
}

/// Writes one checkpoint: each process its own part, the first one the index. The functions do not
/// wait for other processes, and may run in a thread of their own.
///
/// All files are written to `FOLDER.unfinished`; `commit` gives it its name.
class checkpoint_writer {
 public:
  /// `self` and `count` are the number of this process and of all. With `replaces`, a folder of
  /// this name that is damaged is renamed to `FOLDER.damaged` before.
  checkpoint_writer(std::string folder, checkpoint_snapshot held, index_t self, index_t count,
                    bool replaces = false)
      : folder_(std::move(folder)),
        unfinished_(folder_ + std::string(internal::unfinished_name)),
        held_(std::move(held)),
        self_(self),
        count_(count),
        replaces_(replaces) {}

  [[nodiscard]] const std::string& folder() const noexcept { return folder_; }
  [[nodiscard]] const std::optional<managed_step>& managed() const noexcept {
    return held_.managed;
  }
  [[nodiscard]] bool is_first() const noexcept { return self_ == 0; }
  /// Returns the threads of the pool whose tensors are saved, or null without tensors.
  [[nodiscard]] worker_team* team() const {
    return held_.tensors.empty() ? nullptr : &held_.tensors[0].tensor->home()->team();
  }

  /// Creates the unfinished folder, after removing what an earlier save may have left of it. Only
  /// the first process calls it, before any writes.
  void begin() const;
  /// Writes what this process has of the snapshot.
  void write_part(const piece_writers& writers) const;
  /// Returns true once the parts of all processes are complete.
  [[nodiscard]] bool parts_are_there() const;
  /// Writes the index, and gives the folder its name. Only the first process calls it, after all
  /// parts are there.
  void commit() const;
  /// Removes the unfinished folder. Returns what could not be removed.
  std::vector<std::string> abandon() const;
  /// Lets go of the tensors.
  void release() noexcept { held_.tensors.clear(); }

 private:
  [[nodiscard]] std::string name_of_part(index_t process, const char* ending) const {
    return "part-" + std::to_string(process + 1) + "-of-" + std::to_string(count_) + ending;
  }

  std::string folder_, unfinished_;
  checkpoint_snapshot held_;
  index_t self_, count_;
  bool replaces_;
};

/// The end of the name of a checkpoint that cannot be loaded, and has been replaced.
inline constexpr std::string_view damaged_name = ".damaged";

/// Returns true for the names that a writer gives to files.
[[nodiscard]] inline bool is_checkpoint_file(std::string_view name) {
  if (name.ends_with(internal::unfinished_name))
    name.remove_suffix(internal::unfinished_name.size());
  if (name == checkpoint_index_name) return true;
  const auto skip_number = [&] {
    const std::size_t digits = std::min(name.find_first_not_of("0123456789"), name.size());
    name.remove_prefix(digits);
    return digits > 0;
  };
  const auto skip = [&](std::string_view word) {
    const bool is_there = name.starts_with(word);
    if (is_there) name.remove_prefix(word.size());
    return is_there;
  };
  return skip("part-") && skip_number() && skip("-of-") && skip_number() &&
         (name == ".safetensors" || name == ".json");
}

/// Removes the files of a checkpoint, its index first, and its folder if nothing else is in it.
/// Returns what could not be removed, a line each, and throws nothing.
inline std::vector<std::string> remove_checkpoint(const std::string& folder) {
  std::vector<std::string> left;
  const auto remove = [&](const std::string& path, bool is_folder) {
    if (std::string words = internal::remove_path(path, is_folder); !words.empty())
      left.push_back(std::move(words));
  };
  remove(internal::path_of(folder, checkpoint_index_name), false);
  std::vector<std::string> names;
  const internal::run_result how =
      internal::result_of_run([&] { names = internal::names_in(folder, false); });
  if (how.is_failure()) left.push_back(how.words);
  for (const std::string& name : names)
    if (is_checkpoint_file(name)) remove(internal::path_of(folder, name), false);
  remove(folder, true);
  return left;
}

inline void checkpoint_writer::begin() const {
  if (internal::is_there(folder_) && !replaces_)
    internal::fail_file(violation::file_is_not_writable, folder_, "it exists already");
  if (internal::is_there(unfinished_)) {
    // A link leads to files of others.
    if (!internal::is_folder(unfinished_))
      internal::fail_file(violation::file_is_not_writable, unfinished_,
                          "it exists, and is not a folder");
    const std::vector<std::string> left = remove_checkpoint(unfinished_);
    // A file of somebody else stays; one of an earlier save would be taken for one of this.
    if (internal::is_there(unfinished_))
      for (const std::string& name : internal::names_in(unfinished_, false))
        if (is_checkpoint_file(name))
          fail({.rule = violation::file_is_not_writable},
               "what an earlier save has left cannot be removed: " + left.front());
  }
  internal::make_folder(unfinished_, true);
}

inline void checkpoint_writer::write_part(const piece_writers& writers) const {
  checkpoint_part part{.file = name_of_part(self_, ".safetensors")};
  std::vector<piece_source> sources;
  safetensors_header header;
  for (std::size_t number = 0; number < held_.tensors.size(); ++number) {
    const auto& [name, node] = held_.tensors[number];
    const shard_table& where = node->where();
    checkpoint_tensor& tensor = part.tensors[name];
    tensor.type = node->tensor().type;
    tensor.extents = node->tensor().extents;
    message_text layout;
    layout << to_text(where.mesh(), node->tensor());
    tensor.layout.assign(layout.c_str(), layout.size());
    // Their addresses are those of the list from here on.
    tensor.pieces.reserve(static_cast<std::size_t>(where.count_here()));
    for (index_t i = 0; i < where.count_here(); ++i) {
      const index_t shard = where.shard_here(i);
      if (writer_of(where, node->home()->link(), shard, number) != self_) continue;
      const index_t bytes = where.size_of_shard(shard) * size_of(tensor.type);
      // An empty part needs no piece.
      if (bytes == 0) continue;
      checkpoint_piece& piece = tensor.pieces.emplace_back();
      piece.box = stored_box(where.held_by(where.first_device_of(shard)));
      piece.begin = header.bytes();
      piece.checksums.resize(static_cast<std::size_t>(ceil_div(bytes, checkpoint_chunk)));
      sources.push_back({node->shard(shard).data(), bytes, &piece});
      if (!header.tensors.add({piece_name(name, node->tensor(), piece.box), tensor.type,
                               where.extents_of_shard(shard), piece.begin}))
        internal::fail_file(violation::file_is_not_writable, folder_,
                            "two tensors are called '" + name + "'");
    }
  }
  const std::string words = write_safetensors_header(header);
  if (words.empty())
    internal::fail_file(violation::file_is_not_writable, folder_,
                        "the names of tensors must be UTF-8");
  part.header = static_cast<index_t>(words.size());
  part.header_checksum = checksum_of(words.data(), words.size());
  part.bytes = header.bytes();
  internal::placed_file file =
      internal::placed_file::create(internal::path_of(unfinished_, part.file));
  file.write(0, std::as_bytes(std::span(words)));
  write_pieces(file, static_cast<index_t>(words.size()), sources, writers);
  file.finish();
  internal::sync_folder(unfinished_);
  // The first process takes the name of the list for the end of this part, so that nothing may fail
  // after it; `commit` flushes the folder again.
  internal::write_whole(internal::path_of(unfinished_, name_of_part(self_, ".json")),
                        write_checkpoint_part(part));
}

inline bool checkpoint_writer::parts_are_there() const {
  for (index_t process = 0; process < count_; ++process)
    if (!internal::is_there(internal::path_of(unfinished_, name_of_part(process, ".json"))))
      return false;
  return true;
}

inline void checkpoint_writer::commit() const {
  checkpoint_index index{{}, held_.metadata, held_.managed};
  for (index_t process = 0; process < count_; ++process) {
    const std::string list = name_of_part(process, ".json");
    const std::string text =
        internal::read_whole(internal::path_of(unfinished_, list), longest_header);
    index.parts.push_back({list, checksum_of(text.data(), text.size())});
  }
  const std::string text = write_checkpoint_index(index);
  for (auto each = index.metadata.begin(); text.empty() && each != index.metadata.end(); ++each)
    if (write_checkpoint_index({{}, {*each}, {}}).empty())
      internal::fail_file(violation::file_is_not_writable, folder_,
                          "the metadata must be UTF-8, and '" + each->first + "' are not");
  internal::write_whole(internal::path_of(unfinished_, checkpoint_index_name), text);
  internal::sync_folder(unfinished_);
  if (replaces_ && internal::is_there(folder_))
    internal::rename_path(folder_, folder_ + std::string(damaged_name));
  internal::rename_path(unfinished_, folder_);
  const internal::run_result written =
      internal::result_of_run([&] { internal::sync_folder(internal::folder_above(folder_)); });
  if (!written.is_failure()) return;
  // What is reported as failed must not look complete, and can be repeated.
  (void)internal::result_of_run([&] { internal::rename_path(folder_, unfinished_); });
  internal::throw_failure(written);
}

inline std::vector<std::string> checkpoint_writer::abandon() const {
  if (!internal::is_there(unfinished_)) return {};
  return remove_checkpoint(unfinished_);
}

}  // namespace shardwise::detail
