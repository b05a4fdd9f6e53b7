// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/host/distribute_from.hpp"
#include "shardwise/io/safetensors_directory.hpp"
#include "shardwise/io/safetensors_index_work.hpp"
#include "shardwise/io/safetensors_work.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <optional>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace shardwise {

namespace detail {

/// Returns the path of a file in a folder.
[[nodiscard]] inline std::string path_in(const std::string& folder, std::string_view name) {
  std::string path = folder.empty() ? "." : folder;
  if (path.back() != '/') path += '/';
  return path.append(name);
}
[[nodiscard]] inline bool exists(const std::string& path) noexcept {
  struct stat about {};
  return ::stat(path.c_str(), &about) == 0;
}

/// Reads the index of a directory, or only what is wrong with it.
[[nodiscard]] inline read_index index_in(const std::string& path) {
  const input_file file(path);
  if (file.size() > longest_header)
    return {{}, "an index has at most " + std::to_string(longest_header) + " bytes"};
  std::string text(static_cast<std::size_t>(file.size()), ' ');
  file.read(0, std::as_writable_bytes(std::span(text)));
  return parse_safetensors_index(text);
}

/// Appends a name to a list in an error.
inline void append_to_list(std::string& list, const std::string& name) {
  list += (list.empty() ? "'" : ", '") + name + "'";
}

}  // namespace detail

SHARDWISE_INLINE_FILES safetensors_directory::safetensors_directory(std::string folder,
                                                                    const directory_options& how)
    : tensor_source(std::move(folder)), files_(how.open_files) {
  internal::require_whole_path(violation::file_is_not_readable, path());
  const std::string at = detail::path_in(path(), how.index);
  read_index read = detail::index_in(at);
  if (!read.ok()) internal::fail_file(violation::file_is_malformed, at, read.reason);
  // All that is absent is known before any tensor is loaded.
  std::map<std::string, std::vector<std::string>> names_in;
  for (const auto& [name, shard] : read.index.weight_map) names_in[shard].push_back(name);
  std::string absent, lacking;
  for (const auto& [shard, names] : names_in)
    if (!detail::exists(detail::path_in(path(), shard))) detail::append_to_list(absent, shard);
  if (!absent.empty())
    internal::fail_file(violation::file_is_not_readable, at,
                        "shards that it names are absent: " + absent);
  safetensors_header all{{}, std::move(read.index.metadata)};
  index_t begin = 0;
  for (const auto& [shard, names] : names_in) {
    safetensors_file file(detail::path_in(path(), shard));
    for (stored_tensor one : file.header().tensors) {
      const auto named = read.index.weight_map.find(one.name);
      if (named == read.index.weight_map.end() || named->second != shard) continue;
      one.begin += begin;
      (void)all.tensors.add(std::move(one));
    }
    for (const std::string& name : names)
      if (file.find(name) == nullptr)
        detail::append_to_list(lacking, std::string(name).append("' in '").append(shard));
    starts_.push_back({begin, file.first_});
    begin += file.header().bytes();
    files_.add(std::move(file.file_));
  }
  if (!lacking.empty())
    internal::fail_file(violation::tensor_is_not_in_file, at,
                        "its shards lack tensors that it says they have: " + lacking);
  set_header(std::move(all));
}

SHARDWISE_INLINE_FILES void safetensors_directory::read(const stored_tensor& stored, index_t place,
                                                        std::span<std::byte> to) const {
  const auto next =
      std::upper_bound(starts_.begin(), starts_.end(), stored.begin,
                       [](index_t begin, const shard_start& each) { return begin < each.begin; });
  if (next == starts_.begin()) return;  // there are no shards, and no tensors
  const shard_start& shard = *std::prev(next);
  files_.read(static_cast<std::size_t>(std::prev(next) - starts_.begin()),
              shard.first + stored.begin - shard.begin + place, to);
}

namespace detail {

/// Returns the name of a shard, counted from 0, in a series of them.
[[nodiscard]] inline std::string shard_name(int series, std::size_t number, std::size_t count) {
  const auto digits = [](std::size_t n) {
    const std::string text = std::to_string(n);
    return std::string(text.size() < 5 ? 5 - text.size() : 0, '0') + text;
  };
  return (series == 1 ? "model-" : "model-" + std::to_string(series) + "-") + digits(number + 1) +
         "-of-" + digits(count) + ".safetensors";
}

/// Distributes tensors to shards in their order.
[[nodiscard]] inline std::vector<const_state_view> cut_state(const const_state_view& state,
                                                             index_t most_bytes) {
  std::vector<const_state_view> shards(1);
  index_t held = 0;
  for (const const_state_entry& each : state) {
    const tensor_desc& tensor = each.tensor();
    const index_t bytes = element_count(tensor.extents) * size_of(tensor.type);
    if (!shards.back().empty() && bytes > most_bytes - held) {
      shards.emplace_back();
      held = 0;
    }
    shards.back().push_back(each);
    held += bytes;
  }
  return shards;
}

/// Returns the index of shards in a series; throws if two tensors have one name.
[[nodiscard]] inline safetensors_index index_of(const std::vector<const_state_view>& shards,
                                                int series, const std::string& folder,
                                                std::map<std::string, std::string> metadata) {
  safetensors_index index{std::move(metadata), {}};
  index_t total = 0;
  for (std::size_t s = 0; s < shards.size(); ++s)
    for (const const_state_entry& each : shards[s]) {
      const std::string name = internal::stored_name(each.name());
      if (!index.weight_map.try_emplace(name, shard_name(series, s, shards.size())).second)
        internal::fail_file(violation::file_is_not_writable, folder,
                            "two tensors are called '" + name + "'");
      total += element_count(each.tensor().extents) * size_of(each.tensor().type);
    }
  index.metadata.try_emplace("total_size", std::to_string(total));
  return index;
}

/// Returns the names of the shards that a directory has, if it has an index.
[[nodiscard]] inline std::vector<std::string> shards_in(const std::string& index) {
  std::vector<std::string> names;
  if (!exists(index)) return names;
  for (auto& [name, shard] : index_in(index).index.weight_map) names.push_back(std::move(shard));
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

/// Returns the first series whose names are not those of shards that exist. All owners of a mesh
/// that share the directory get the choice of the first.
[[nodiscard]] inline int free_series(const std::vector<std::string>& taken, std::size_t count,
                                     const std::shared_ptr<pool_state>& home) {
  const auto is_taken = [&](int series) {
    for (std::size_t s = 0; s < count; ++s)
      if (std::binary_search(taken.begin(), taken.end(), shard_name(series, s, count))) return true;
    return false;
  };
  std::int64_t series = 1;
  while (is_taken(static_cast<int>(series))) ++series;
  if (home == nullptr || home->link() == nullptr) return static_cast<int>(series);
  const layout_desc everywhere = layout_of(home->mesh(), spec_desc{}, {}, exact{});
  const node_ptr chosen = distribute_of_one<std::int64_t>(
      home, 0, std::span<const std::int64_t>(&series, 1), {element::i64, {}, everywhere});
  return static_cast<int>(gather<std::int64_t>(chosen).value());
}

SHARDWISE_INLINE_FILES void write_directory(const std::string& folder,
                                            const const_state_view& state, shard_files size,
                                            const std::map<std::string, std::string>& metadata) {
  internal::require_within(size.most_bytes > 0, "a shard has at least 1 byte");
  internal::require_whole_path(violation::file_is_not_writable, folder);
  const std::shared_ptr<pool_state> home = state.empty() ? nullptr : state[0].share()->home();
  internal::run_for_owners(home == nullptr ? nullptr : home->link(), [&] {
    const std::string at = path_in(folder, index_name);
    const std::vector<std::string> before = shards_in(at);
    const std::vector<const_state_view> shards = cut_state(state, size.most_bytes);
    const int series = free_series(before, shards.size(), home);
    const std::string text = write_safetensors_index(index_of(shards, series, folder, metadata));
    if (text.empty())
      internal::fail_file(violation::file_is_not_writable, at,
                          "its names and metadata are in UTF-8");
    if (::mkdir(folder.c_str(), 0777) != 0 && errno != EEXIST)
      internal::fail_file(violation::file_is_not_writable, folder);
    std::vector<std::string> after;
    for (std::size_t s = 0; s < shards.size(); ++s) {
      after.push_back(shard_name(series, s, shards.size()));
      // Some readers of the format refuse files that do not say whose tensors they are.
      write_file(path_in(folder, after.back()), shards[s], {{"format", "pt"}});
    }
    output_file index(at);
    index.write(std::as_bytes(std::span(text)));
    index.commit();
    // From here on nobody reads the others.
    for (const std::string& each : before)
      if (std::find(after.begin(), after.end(), each) == after.end())
        ::unlink(path_in(folder, each).c_str());
  });
}

}  // namespace detail

}  // namespace shardwise
