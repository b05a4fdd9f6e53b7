// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace shardwise {

/// The index of a directory of safetensors files: which of them, the *shards*, has each tensor.
struct safetensors_index {
  /// Texts, and numbers and truth values as texts; other metadata are not read.
  std::map<std::string, std::string> metadata{};
  /// The name of the file of each tensor: a plain name of a file beside the index.
  std::map<std::string, std::string> weight_map{};
};

/// An index that was read, or the reason why a text is not one.
struct read_index {
  safetensors_index index{};
  std::string reason{};

  [[nodiscard]] bool ok() const noexcept { return reason.empty(); }
};

/// The name of the index in a directory.
inline constexpr std::string_view index_name = "model.safetensors.index.json";

/// Reads an index, JSON of the form `{"metadata": {...}, "weight_map": {NAME: FILE, ...}}`; other
/// members are ignored. Refuses a name that occurs twice, and a file that is not beside the index.
/// Memory is allocated only in proportion to the text.
[[nodiscard]] read_index parse_safetensors_index(std::string_view text);

/// Returns an index in the format; empty if a name, or an entry of the metadata, is not UTF-8,
/// which JSON requires. The number of bytes, `total_size`, is written as a number.
[[nodiscard]] std::string write_safetensors_index(const safetensors_index& index);

}  // namespace shardwise

#if !defined(SHARDWISE_COMPILED_FILES)
#include "shardwise/io/safetensors_index_work.hpp"
#endif
