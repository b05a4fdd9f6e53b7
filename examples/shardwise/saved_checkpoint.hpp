// SPDX-License-Identifier: BSL-1.0
// What is in a checkpoint: its tensors with the layouts that they had, the step, the metadata, and
// the checksums.
#pragma once

#include "json.hpp"
#include "refusal.hpp"
#include "text_table.hpp"
#include <shardwise/checkpoint/checkpoint.hpp>

#include <array>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tool {

/// A checkpoint, and whether everything in it has been compared with its checksums.
struct saved_checkpoint {
  std::map<std::string, checkpoint_tensor> tensors;
  std::map<std::string, std::string> metadata;
  std::optional<managed_step> managed;
  bool is_verified = false;
};

/// Returns true for a folder that is a checkpoint, or would be if its index were not damaged.
[[nodiscard]] inline bool is_checkpoint(const std::string& folder) {
  std::error_code ignored;
  return std::filesystem::exists(std::filesystem::path(folder) / checkpoint_index_name, ignored);
}

/// Opens a checkpoint. One with other bytes than were written is refused if that is asked for.
[[nodiscard]] inline outcome<saved_checkpoint> read_checkpoint(const std::string& folder,
                                                               bool verifies) {
  const checkpoint saved(folder);
  if (verifies) {
    std::string wrong;
    for (const std::string& words : saved.verify()) wrong += (wrong.empty() ? "" : "\n") + words;
    if (!wrong.empty()) return refusal("file_is_malformed", wrong);
  }
  return saved_checkpoint{saved.tensors(), saved.metadata(), saved.managed(), verifies};
}

namespace detail {

[[nodiscard]] inline std::string hex_words(std::uint64_t checksum) {
  std::array<char, 16> digits{};
  char* const end = std::to_chars(digits.data(), digits.data() + 16, checksum, 16).ptr;
  std::string words(digits.data(), end);
  return words.insert(0, 16 - words.size(), '0');
}

/// Returns the indices that a piece has of a dimension.
[[nodiscard]] inline std::string range_words(const held_range& held) {
  if (held.split.how.is_contiguous())
    return std::to_string(held.range.begin) + ':' + std::to_string(held.range.end);
  return "part " + std::to_string(held.position) + " of " + std::to_string(held.split.parts);
}

/// Returns how many of something there are.
[[nodiscard]] inline std::string count_words(std::size_t count, const std::string& what) {
  return std::to_string(count) + ' ' + what + (count == 1 ? "" : "s");
}

[[nodiscard]] inline std::vector<std::string> checksums_of(const checkpoint_piece& piece) {
  std::vector<std::string> all;
  all.reserve(piece.checksums.size());
  for (const std::uint64_t each : piece.checksums) all.push_back(hex_words(each));
  return all;
}

}  // namespace detail

/// What follows the name of the folder, and the lines below it.
[[nodiscard]] inline std::string to_text(const saved_checkpoint& saved) {
  std::string out = "checkpoint";
  if (saved.managed) {
    out += ", step " + std::to_string(saved.managed->step);
    if (saved.managed->metric) out += ", metric " + metadata_text(*saved.managed->metric);
  }
  if (saved.is_verified) out += ", all checksums hold";
  out += '\n';
  text_table rows;
  for (const auto& [name, tensor] : saved.tensors) {
    std::vector<std::string> sums;
    for (const checkpoint_piece& piece : tensor.pieces)
      for (std::string& each : detail::checksums_of(piece)) sums.push_back(std::move(each));
    rows.row({"  " + name, tensor.layout, detail::count_words(tensor.pieces.size(), "piece"),
              sums.size() == 1 ? sums.front() : detail::count_words(sums.size(), "checksum")});
  }
  out += rows.words();
  if (saved.metadata.empty()) return out;
  text_table numbers;
  for (const auto& [name, words] : saved.metadata) numbers.row({"    " + name, words});
  return out + "  metadata\n" + numbers.words();
}

/// Writes the members of an object that only checkpoints have.
inline void write_json(json_writer& out, const saved_checkpoint& saved) {
  out.key("step");
  if (saved.managed)
    out.value(saved.managed->step);
  else
    out.null();
  out.key("metric");
  if (saved.managed && saved.managed->metric)
    out.value(std::string_view(metadata_text(*saved.managed->metric)));
  else
    out.null();
  out.key("metadata");
  out.open('{');
  for (const auto& [name, words] : saved.metadata) {
    out.key(name);
    out.value(std::string_view(words));
  }
  out.close('}');
  out.key("verified");
  out.boolean(saved.is_verified);
}
/// The same for one of its tensors.
inline void write_json(json_writer& out, const checkpoint_tensor& tensor) {
  out.key("layout");
  out.value(std::string_view(tensor.layout));
  out.key("pieces");
  out.open('[');
  for (const checkpoint_piece& piece : tensor.pieces) {
    std::vector<std::string> ranges;
    for (const held_range& held : piece.box) ranges.push_back(detail::range_words(held));
    out.open('{');
    out.key("index");
    out.words(ranges);
    out.key("checksums");
    out.words(detail::checksums_of(piece));
    out.close('}');
  }
  out.close(']');
}

}  // namespace tool
