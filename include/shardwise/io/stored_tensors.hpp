// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/layout/tensor_desc.hpp"

#include <cstddef>
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

/// The tensors of a file in the order of their bytes, which are also found by name, in time that
/// hardly grows with their number.
class stored_tensors {
 public:
  [[nodiscard]] auto begin() const noexcept { return list_.begin(); }
  [[nodiscard]] auto end() const noexcept { return list_.end(); }
  [[nodiscard]] std::size_t size() const noexcept { return list_.size(); }
  [[nodiscard]] bool empty() const noexcept { return list_.empty(); }
  [[nodiscard]] const stored_tensor& operator[](std::size_t i) const noexcept { return list_[i]; }
  [[nodiscard]] const stored_tensor& back() const noexcept { return list_.back(); }

  /// Appends a tensor; returns false, and adds nothing, if there is one of that name.
  [[nodiscard]] bool add(stored_tensor one);
  /// Returns the tensor of this name, or null.
  [[nodiscard]] const stored_tensor* find(std::string_view name) const noexcept;
  /// Returns the places of the tensors in the order of their names.
  [[nodiscard]] std::vector<std::size_t> by_name() const;

 private:
  [[nodiscard]] auto name_order() const noexcept {
    return [this](std::size_t a, std::size_t b) { return list_[a].name < list_[b].name; };
  }

  std::vector<stored_tensor> list_;
  /// Runs of places, each in the order of names: one run for each bit of their number, the longest
  /// first. So a tensor is added without moving all others, and found by a search in each run.
  std::vector<std::size_t> runs_;
};

}  // namespace shardwise

#if !defined(SHARDWISE_COMPILED_FILES)
#include "shardwise/io/stored_tensors_work.hpp"
#endif
