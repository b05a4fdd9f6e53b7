// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/layout/tensor_desc.hpp"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace shardwise {

/// A tensor in a file: its name, elements and extents, and the offset of its bytes after the
/// header. They are row-major and little-endian. A tensor with elements of the format that no
/// tensor of this library has, such as `F8_E4M3`, or with more than 8 dimensions, is listed with
/// their name or their sizes, and cannot be loaded.
struct stored_tensor {
  std::string name;
  element type = element::f32;  ///< of no meaning beside `other_type`
  extents_desc extents{};
  index_t begin = 0;
  std::string other_type{};  ///< the name of elements that are none of `element`, or empty
  std::vector<index_t> other_shape{};  ///< the sizes of more than 8 dimensions, or empty
  index_t other_bytes = 0;             ///< the bytes of a tensor that cannot be loaded

  /// Returns true if tensors of this library have such elements and so many dimensions.
  [[nodiscard]] bool is_loadable() const noexcept {
    return other_type.empty() && other_shape.empty();
  }
  [[nodiscard]] index_t bytes() const noexcept {
    return is_loadable() ? element_count(extents) * size_of(type) : other_bytes;
  }
};

/// The tensors of a safetensors file, in the order of their bytes, and its metadata.
struct safetensors_header {
  std::vector<stored_tensor> tensors{};
  std::map<std::string, std::string> metadata{};

  /// Returns the tensor of this name, or null.
  [[nodiscard]] const stored_tensor* find(std::string_view name) const noexcept {
    for (const stored_tensor& one : tensors)
      if (one.name == name) return &one;
    return nullptr;
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

/// Reads the header of a safetensors file: JSON with the name, elements, shape and offset of each
/// tensor. Rejects anything else, duplicate names, and tensors that overlap or leave gaps; memory
/// is allocated only in proportion to the text. The names of elements and the number of dimensions
/// may be any.
[[nodiscard]] read_header parse_safetensors_header(std::string_view text);

/// Returns a header in the format: its length in 8 bytes, and the JSON, padded with blanks so that
/// the bytes of the tensors begin at a multiple of 8. Empty if a name or an entry of the metadata
/// is not UTF-8, which JSON requires.
[[nodiscard]] std::string write_safetensors_header(const safetensors_header& header);

}  // namespace shardwise

#if !defined(SHARDWISE_COMPILED_FILES)
#include "shardwise/io/safetensors_header_work.hpp"
#endif
