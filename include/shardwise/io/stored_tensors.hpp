// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/layout/tensor_desc.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
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
/// grows with the logarithm of their number.
class stored_tensors {
 public:
  [[nodiscard]] auto begin() const noexcept { return list_.begin(); }
  [[nodiscard]] auto end() const noexcept { return list_.end(); }
  [[nodiscard]] std::size_t size() const noexcept { return list_.size(); }
  [[nodiscard]] bool empty() const noexcept { return list_.empty(); }
  [[nodiscard]] const stored_tensor& operator[](std::size_t i) const noexcept { return list_[i]; }
  [[nodiscard]] const stored_tensor& back() const noexcept { return list_.back(); }

  /// Appends a tensor; returns false, and adds nothing, if there is one of that name.
  [[nodiscard]] bool add(stored_tensor one) {
    if (list_.size() == list_.capacity()) list_.reserve(2 * list_.size() + 8);
    if (!by_name_.try_emplace(one.name, list_.size()).second) return false;
    list_.push_back(std::move(one));  // has room, and so cannot fail after its name is listed
    return true;
  }

  /// Returns the tensor of this name, or null.
  [[nodiscard]] const stored_tensor* find(std::string_view name) const noexcept {
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? nullptr : &list_[found->second];
  }
  /// Calls `f(tensor)` for each tensor in the order of their names.
  template <class F>
  void for_each_by_name(const F& f) const {
    for (const auto& [name, place] : by_name_) f(list_[place]);
  }

 private:
  std::vector<stored_tensor> list_;
  std::map<std::string, std::size_t, std::less<>> by_name_;
};

}  // namespace shardwise
