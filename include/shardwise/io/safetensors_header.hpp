// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/io/stored_tensors.hpp"

#include <map>
#include <string>
#include <string_view>

namespace shardwise {

/// The tensors of a safetensors file, in the order of their bytes, and its metadata.
struct safetensors_header {
  stored_tensors tensors{};
  std::map<std::string, std::string> metadata{};

  /// Returns the tensor of this name, or null.
  [[nodiscard]] const stored_tensor* find(std::string_view name) const noexcept {
    return tensors.find(name);
  }
  /// Returns the number of bytes of all tensors.
  [[nodiscard]] index_t bytes() const noexcept {
    return tensors.empty() ? 0 : tensors.back().begin + tensors.back().bytes();
  }
};

/// A header that was read, or the reason why a text is not one.
struct read_header {
  safetensors_header header{};
  std::string reason{};

  [[nodiscard]] bool ok() const noexcept { return reason.empty(); }
};

/// The maximum length of a header in bytes; the format's own limit.
inline constexpr index_t longest_header = 100'000'000;

/// The name of the entry of a header that no tensor has: its metadata.
inline constexpr std::string_view metadata_name = "__metadata__";

/// Reads the header of a safetensors file: JSON with the name, elements, shape and offset of each
/// tensor, from its first character `{` on. Rejects anything else, duplicate names, and tensors
/// that overlap or leave gaps. Memory is allocated only in proportion to the text, and time grows
/// with it as sorting the names does. The names of elements and the number of dimensions may be
/// any.
[[nodiscard]] read_header parse_safetensors_header(std::string_view text);

/// Returns a header in the format: its length in 8 bytes, and the JSON, padded with blanks so that
/// the bytes of the tensors begin at a multiple of 8. Empty if a name or an entry of the metadata
/// is not UTF-8, which JSON requires.
[[nodiscard]] std::string write_safetensors_header(const safetensors_header& header);

}  // namespace shardwise

#if !defined(SHARDWISE_COMPILED_FILES)
#include "shardwise/io/safetensors_header_work.hpp"
#endif
