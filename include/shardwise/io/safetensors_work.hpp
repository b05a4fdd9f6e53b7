// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/io/safetensors.hpp"
#include "shardwise/process/owner_link.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>

namespace shardwise {

SHARDWISE_INLINE_FILES safetensors_file::safetensors_file(std::string path)
    : tensor_source(std::move(path)), file_(this->path()) {
  const auto refuse = [&](const std::string& reason) {
    internal::fail_file(violation::file_is_malformed, this->path(), reason);
  };
  std::byte length[8];
  if (file_.size() < 8) refuse("it is shorter than the length of its header");
  file_.read(0, length);
  std::uint64_t count = 0;
  std::memcpy(&count, length, sizeof(count));
  if (count > static_cast<std::uint64_t>(std::min(longest_header, file_.size() - 8)))
    refuse("its header would have " + std::to_string(count) + " bytes");
  std::string words(static_cast<std::size_t>(count), ' ');
  file_.read(8, std::as_writable_bytes(std::span(words)));
  read_header read = parse_safetensors_header(words);
  if (!read.ok()) refuse(read.reason);
  first_ = 8 + static_cast<index_t>(count);
  if (file_.size() - first_ != read.header.bytes())
    refuse("it holds " + std::to_string(file_.size() - first_) +
           " bytes of tensors, and its header says " + std::to_string(read.header.bytes()));
  set_header(std::move(read.header));
}

namespace internal {

/// Returns the name of a tensor in a file: its path, or `tensor` for a tensor that is saved on its
/// own.
[[nodiscard]] inline std::string stored_name(const std::string& name) {
  return name.empty() ? "tensor" : name;
}

SHARDWISE_INLINE_FILES void require_entries(std::size_t count) {
  if (count == 0) fail({.rule = violation::pattern_matches_nothing}, "the state has no tensors");
}

}  // namespace internal

namespace detail {

SHARDWISE_INLINE_FILES void write_file(const std::string& path, const const_state_view& state,
                                       const std::map<std::string, std::string>& metadata) {
  safetensors_header header{{}, metadata};
  for (const const_state_entry& each : state) {
    const tensor_desc& tensor = each.tensor();
    std::string name = internal::stored_name(each.name());
    if (name == metadata_name)
      internal::fail_file(violation::file_is_not_writable, path,
                          "the metadata are called '__metadata__', and no tensor is");
    if (!header.tensors.add({name, tensor.type, tensor.extents, header.bytes()}))
      internal::fail_file(violation::file_is_not_writable, path,
                          "two tensors are called '" + name + "'");
  }
  const std::string words = write_safetensors_header(header);
  if (words.empty())
    internal::fail_file(violation::file_is_not_writable, path,
                        "its names and metadata are in UTF-8");
  if (std::ssize(words) - 8 > longest_header)
    internal::fail_file(violation::file_is_not_writable, path,
                        "its header would have " + std::to_string(words.size() - 8) +
                            " bytes, and at most " + std::to_string(longest_header) + " are read");
  output_file file(path);
  file.write(std::as_bytes(std::span(words)));
  for (const const_state_entry& each : state) file.write(each.bytes());
  file.commit();
}
SHARDWISE_INLINE_FILES void write_state(const std::string& path, const const_state_view& state,
                                        const std::map<std::string, std::string>& metadata) {
  // Other owners of the mesh gather the tensors with this one, and are told if it fails.
  auto* const link = state.empty() ? nullptr : state[0].share()->home()->link();
  internal::run_for_owners(link, [&] { write_file(path, state, metadata); });
}

SHARDWISE_INLINE_FILES void read_state(const tensor_source& source, const state_view& state,
                                       stored_elements elements) {
  const auto stored = [&](const state_entry& each) -> const stored_tensor& {
    return source.find(internal::stored_name(each.name()), each.tensor().type, elements);
  };
  for (const state_entry& each : state) source.require_extents(stored(each), each.tensor().extents);
  for (const state_entry& each : state)
    each.replace(each.filled([&](const held_box& part, const any_block& block) {
      read_part(source, {&stored(each), each.tensor().extents}, part, block);
    }));
}

SHARDWISE_INLINE_FILES state_difference read_nest(const tensor_source& source,
                                                  const state_view& state, state_names names,
                                                  stored_elements elements) {
  state_difference apart;
  std::vector<std::string> wanted;
  state_view common;
  for (const state_entry& each : state) {
    wanted.push_back(internal::stored_name(each.name()));
    if (source.find(wanted.back()) != nullptr)
      common.push_back(each);
    else
      apart.missing.push_back(wanted.back());
  }
  // Files of earlier versions have the frozen parts of an optimizer's state.
  for (const std::string& each : state.left_out()) wanted.push_back(internal::stored_name(each));
  std::sort(wanted.begin(), wanted.end());
  for (const stored_tensor& each : source.header().tensors)
    if (!std::binary_search(wanted.begin(), wanted.end(), each.name))
      apart.unexpected.push_back(each.name);
  if (names == state_names::all && !apart.unexpected.empty())
    fail({.rule = violation::state_names_differ}, words_of(apart));
  read_state(source, names == state_names::all ? state : common, elements);
  return apart;
}

}  // namespace detail

}  // namespace shardwise
