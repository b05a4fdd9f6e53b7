// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/checkpoint/checkpoint.hpp"
#include "shardwise/checkpoint/piece_overlap.hpp"
#include "shardwise/core/config.hpp"
#include "shardwise/host/factories.hpp"
#include "shardwise/io/converted_elements_work.hpp"
#include "shardwise/io/safetensors_header.hpp"
#include "shardwise/io/safetensors_work.hpp"
#include "shardwise/io/tensor_source_work.hpp"
#include "shardwise/process/run_result.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

namespace shardwise {

namespace detail {

/// Returns true if the pieces of a tensor have each of its elements once.
[[nodiscard]] inline bool make_up(const checkpoint_tensor& tensor) {
  index_t count = 0;
  std::vector<const held_box*> boxes;
  for (const checkpoint_piece& each : tensor.pieces) {
    count += size_of_piece(each.box);
    boxes.push_back(&each.box);
  }
  if (count != element_count(tensor.extents)) return false;
  if (tensor.extents.empty()) return true;
  // Only those whose first indices begin before those of another end can meet it.
  const auto begin = [](const held_box* box) { return (*box)[0].global(0); };
  const auto end = [](const held_box* box) { return (*box)[0].global((*box)[0].size() - 1) + 1; };
  std::sort(boxes.begin(), boxes.end(),
            [&](const held_box* a, const held_box* b) { return begin(a) < begin(b); });
  for (std::size_t i = 0; i < boxes.size(); ++i)
    for (std::size_t j = i + 1; j < boxes.size() && begin(boxes[j]) < end(boxes[i]); ++j)
      if (shared_elements(*boxes[i], *boxes[j]) > 0) return false;
  return true;
}

/// Some files that stay open while tensors are loaded.
class some_open_files {
 public:
  [[nodiscard]] const internal::placed_file& open(const std::string& path) {
    const auto is_it = [&](const internal::placed_file& each) { return each.path() == path; };
    const auto found = std::find_if(files_.begin(), files_.end(), is_it);
    if (found != files_.end()) return *found;
    if (files_.size() == most) files_.pop_front();
    files_.push_back(internal::placed_file::open(path));
    return files_.back();
  }

 private:
  static constexpr std::size_t most = 64;
  std::deque<internal::placed_file> files_;
};

/// A part of a tensor that is being loaded, and its memory.
struct loaded_part {
  held_box box;
  std::byte* to;
};

}  // namespace detail

SHARDWISE_INLINE_FILES checkpoint::checkpoint(std::string folder) : folder_(std::move(folder)) {
  internal::require_whole_path(violation::file_is_not_readable, folder_);
  const std::string at = internal::path_of(folder_, checkpoint_index_name);
  const auto refuse = [](const std::string& path, const std::string& reason) {
    internal::fail_file(violation::file_is_malformed, path, reason);
  };
  read_json<checkpoint_index> index =
      parse_checkpoint_index(internal::read_whole(at, longest_header));
  if (!index.ok()) refuse(at, index.reason);
  index_ = std::move(index.value);
  for (const checkpoint_index::part& each : index_.parts) {
    const std::string list = internal::path_of(folder_, each.list);
    const std::string text = internal::read_whole(list, longest_header);
    if (checksum_of(text.data(), text.size()) != each.checksum)
      refuse(list, "it has another checksum than the index says");
    read_json<checkpoint_part> part = parse_checkpoint_part(text);
    if (!part.ok()) refuse(list, part.reason);
    const std::string path = internal::path_of(folder_, part.value.file);
    if (std::any_of(files_.begin(), files_.end(),
                    [&](const part_file& other) { return other.path == path; }))
      refuse(list, "another list has its file, too");
    const index_t size = part.value.header + part.value.bytes;
    if (const index_t has = internal::size_of_file(path); has != size)
      refuse(path, "it has " + std::to_string(has) + " bytes, and had " + std::to_string(size) +
                       " when it was written");
    for (auto& [name, tensor] : part.value.tensors) {
      const auto [known, is_new] = tensors_.try_emplace(name);
      if (is_new) {
        known->second.type = tensor.type;
        known->second.extents = tensor.extents;
        known->second.layout = tensor.layout;
      } else if (known->second.type != tensor.type || known->second.extents != tensor.extents) {
        refuse(list, "tensor '" + name + "' has other elements or extents in another list");
      }
      for (checkpoint_piece& piece : tensor.pieces) {
        places_[name].push_back({files_.size(), piece.begin});
        known->second.pieces.push_back(std::move(piece));
      }
    }
    files_.push_back({path, part.value.header, part.value.header_checksum});
  }
  for (const auto& [name, tensor] : tensors_)
    if (!detail::make_up(tensor))
      refuse(at, "the pieces of '" + name + "' are not the whole of it");
}

SHARDWISE_INLINE_FILES index_t checkpoint::bytes_of_chunk(const checkpoint_tensor& tensor,
                                                          std::size_t piece,
                                                          std::size_t chunk) const noexcept {
  const index_t all = size_of_piece(tensor.pieces[piece].box) * size_of(tensor.type);
  return std::min(checkpoint_chunk, all - static_cast<index_t>(chunk) * checkpoint_chunk);
}

SHARDWISE_INLINE_FILES std::string checkpoint::read_chunk(const internal::placed_file& file,
                                                          const std::string& name,
                                                          const checkpoint_tensor& tensor,
                                                          std::size_t piece, std::size_t chunk,
                                                          std::span<std::byte> to) const {
  const place& at = places_.at(name)[piece];
  const index_t begin =
      files_[at.file].header + at.begin + static_cast<index_t>(chunk) * checkpoint_chunk;
  file.read(begin, to);
  bytes_.fetch_add(static_cast<index_t>(to.size()), std::memory_order_relaxed);
  chunks_.fetch_add(1, std::memory_order_relaxed);
  if (checksum_of(to.data(), to.size()) == tensor.pieces[piece].checksums[chunk]) return {};
  return file.path() + ": bytes " + std::to_string(begin) + " to " +
         std::to_string(begin + static_cast<index_t>(to.size())) + ", of '" + name +
         "', have another checksum than when they were written";
}

SHARDWISE_INLINE_FILES node_ptr checkpoint::load_tensor(const state_entry& entry,
                                                        const std::string& name) const {
  const checkpoint_tensor& stored = tensors_.at(name);
  const element type = entry.tensor().type;
  const index_t width = size_of(stored.type), own_width = size_of(type);
  std::vector<detail::loaded_part> parts;
  std::mutex guard;
  node_ptr made = entry.filled([&](const held_box& part, const any_block& block) {
    const std::lock_guard lock(guard);
    parts.push_back({part, static_cast<std::byte*>(block.data)});
  });
  struct piece_target {
    const detail::loaded_part* part;
    piece_overlap shared;
  };
  struct chunk_task {
    const internal::placed_file* file;
    std::size_t piece, chunk;
    const std::vector<piece_target>* targets;
  };
  std::vector<index_t> covered(parts.size(), 0);
  std::vector<std::vector<piece_target>> targets(stored.pieces.size());
  detail::some_open_files files;
  const auto run = [&](const std::vector<chunk_task>& tasks) {
    made->home()->team().run(
        static_cast<index_t>(tasks.size()),
        [&](index_t number) {
          const chunk_task& task = tasks[static_cast<std::size_t>(number)];
          const auto bytes = bytes_of_chunk(stored, task.piece, task.chunk);
          const index_t begin = static_cast<index_t>(task.chunk) * checkpoint_chunk / width;
          const index_t end = begin + bytes / width;
          // A chunk that one part has in one run is read where it belongs.
          std::byte* direct = nullptr;
          index_t runs = 0;
          for (const piece_target& each : *task.targets)
            each.shared.for_each_run(begin, end, [&](index_t, index_t to, index_t count) {
              ++runs;
              direct = count == end - begin ? each.part->to + to * own_width : nullptr;
            });
          if (runs != 1 || type != stored.type) direct = nullptr;
          std::vector<std::byte> memory(direct == nullptr ? static_cast<std::size_t>(bytes) : 0);
          const std::span<std::byte> to(direct == nullptr ? memory.data() : direct,
                                        static_cast<std::size_t>(bytes));
          const std::string wrong =
              read_chunk(*task.file, name, stored, task.piece, task.chunk, to);
          if (!wrong.empty()) fail({.rule = violation::file_is_malformed}, wrong);
          if (direct != nullptr) return;
          for (const piece_target& each : *task.targets)
            each.shared.for_each_run(begin, end, [&](index_t from, index_t at, index_t count) {
              const std::byte* const source = memory.data() + (from - begin) * width;
              std::byte* const target = each.part->to + at * own_width;
              if (type == stored.type)
                std::memcpy(target, source, static_cast<std::size_t>(count * width));
              else
                internal::convert_elements(stored.type, source, count, type, target);
            });
        },
        static_cast<index_t>(tasks.size()) * checkpoint_chunk);
  };
  // The files of a few pieces at a time: they stay open while their chunks are read.
  std::vector<chunk_task> tasks;
  std::size_t files_used = 0;
  for (std::size_t p = 0; p < stored.pieces.size(); ++p) {
    for (std::size_t i = 0; i < parts.size(); ++i) {
      piece_overlap shared(stored.pieces[p].box, parts[i].box);
      if (shared.size() == 0) continue;
      covered[i] += shared.size();
      targets[p].push_back({&parts[i], std::move(shared)});
    }
    if (targets[p].empty()) continue;
    if (++files_used == 32) {
      run(tasks);
      tasks.clear();
      files_used = 1;
    }
    const internal::placed_file& file = files.open(files_[places_.at(name)[p].file].path);
    for (std::size_t c = 0; c < stored.pieces[p].checksums.size(); ++c) {
      const index_t begin = static_cast<index_t>(c) * checkpoint_chunk / width;
      const index_t end = begin + bytes_of_chunk(stored, p, c) / width;
      if (std::any_of(targets[p].begin(), targets[p].end(),
                      [&](const piece_target& each) { return each.shared.reaches(begin, end); }))
        tasks.push_back({&file, p, c, &targets[p]});
    }
  }
  run(tasks);
  return made;
}

SHARDWISE_INLINE_FILES state_difference checkpoint::load_state(const state_view& state,
                                                               state_names names,
                                                               stored_elements elements,
                                                               bool is_whole) const {
  state_difference apart;
  std::vector<std::pair<const state_entry*, std::string>> wanted;
  std::map<std::string, bool> is_wanted;
  for (const state_entry& each : state) {
    const std::string name = internal::stored_name(each.name());
    is_wanted[name] = true;
    const auto found = tensors_.find(name);
    if (found == tensors_.end()) {
      if (names == state_names::all)
        internal::fail_file(violation::tensor_is_not_in_file, folder_, "'" + name + "'");
      apart.missing.push_back(name);
      continue;
    }
    const tensor_desc& tensor = each.tensor();
    if (tensor.type != found->second.type && elements == stored_elements::same)
      internal::fail_elements(name, found->second.type, tensor.type);
    if (tensor.extents != found->second.extents)
      internal::fail_file(violation::stored_tensor_differs, folder_,
                          "'" + name + "' is [" + internal::stored_words(found->second.extents) +
                              "], not [" + internal::stored_words(tensor.extents) + "]");
    wanted.emplace_back(&each, name);
  }
  for (const std::string& each : state.left_out()) is_wanted[each] = true;
  for (const auto& [name, tensor] : tensors_)
    if (is_wanted.count(name) == 0) apart.unexpected.push_back(name);
  if (is_whole && names == state_names::all && !apart.unexpected.empty())
    fail({.rule = violation::state_names_differ}, internal::words_of(apart));
  for (const auto& [entry, name] : wanted) entry->replace(load_tensor(*entry, name));
  return apart;
}

SHARDWISE_INLINE_FILES std::vector<std::string> checkpoint::verify() const {
  std::vector<std::string> wrong;
  std::vector<std::byte> memory;
  detail::some_open_files files;
  const auto look = [&](function_view<std::string()> check) {
    std::string words;
    const internal::run_result how = internal::result_of_run([&] { words = check(); });
    if (how.is_failure()) words = how.words;
    if (!words.empty()) wrong.push_back(std::move(words));
  };
  for (const part_file& each : files_)
    look([&]() -> std::string {
      memory.resize(static_cast<std::size_t>(each.header));
      files.open(each.path).read(0, memory);
      if (checksum_of(memory.data(), memory.size()) == each.header_checksum) return {};
      return each.path + ": its header has another checksum than when it was written";
    });
  for (const auto& [name, tensor] : tensors_)
    for (std::size_t p = 0; p < tensor.pieces.size(); ++p)
      for (std::size_t c = 0; c < tensor.pieces[p].checksums.size(); ++c)
        look([&] {
          memory.resize(static_cast<std::size_t>(bytes_of_chunk(tensor, p, c)));
          return read_chunk(files.open(files_[places_.at(name)[p].file].path), name, tensor, p, c,
                            memory);
        });
  return wrong;
}

}  // namespace shardwise
