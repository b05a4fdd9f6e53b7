// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/io/file_bytes.hpp"
#include "shardwise/io/stored_elements.hpp"
#include "shardwise/layout/tensor_desc.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace shardwise {

/// An array in a file, as NPY, NPZ and IDX have it: the type of its elements, its extents, and
/// where its elements are. The order and the bytes of elements are those of the file; reading
/// yields them row-major, in the byte order of the machine. Copies share the bytes.
///
///     const file_array images = open_idx("train-images-idx3-ubyte.gz");
///     std::vector<std::uint8_t> row(784);
///     images.read_rows(17, std::span(row));
class file_array {
 public:
  element type = element::f32;  ///< of no meaning beside `other_type`
  extents_desc extents{};
  inplace_vector<index_t, max_rank> strides{};  ///< the elements from one index to the next
  bool is_swapped = false;                      ///< The bytes of an element are in reverse order.
  std::string other_type{};  ///< the name of elements that are none of `element`, or empty
  std::vector<index_t> other_shape{};  ///< the sizes of more than 8 dimensions, or empty
  file_bytes bytes{};                  ///< of the elements alone

  /// Returns true if tensors of this library have such elements and so many dimensions.
  [[nodiscard]] bool is_loadable() const noexcept {
    return other_type.empty() && other_shape.empty();
  }
  [[nodiscard]] index_t size() const noexcept { return element_count(extents); }
  /// Returns the number of rows, the first extent; an array without dimensions is one row.
  [[nodiscard]] index_t rows() const noexcept { return extents.empty() ? 1 : extents[0]; }
  /// Returns the number of elements of a row.
  [[nodiscard]] index_t row_size() const noexcept;

  /// Copies rows, from number `first` on: as many as fill `to`, whose elements are those of the
  /// file, row-major. Throws `stored_tensor_differs` for other elements or for part of a row, and
  /// `index_is_out_of_range`.
  template <Element T>
  void read_rows(index_t first, std::span<T> to,
                 stored_elements how = stored_elements::same) const {
    read_rows(first, to.data(), static_cast<index_t>(to.size()), element_of<T>, how);
  }
  /// Copies part of the array: `count[d]` indices of each dimension from `first[d]` on.
  void read(const global_index& first, const extents_desc& count, void* to) const;
  /// Copies `count` elements of the last dimension from `first` on.
  void read_run(const global_index& first, index_t count, void* to) const;
  /// Returns all elements where they are, if they are row-major in the byte order of the machine
  /// and at addresses that their type may have; else none.
  template <Element T>
    requires(!std::is_same_v<T, bool>)  // whose bytes may be others than 0 and 1
  [[nodiscard]] std::span<const T> in_place() const {
    const auto* const first = static_cast<const T*>(in_place(element_of<T>, alignof(T)));
    if (first == nullptr) return {};
    return {first, static_cast<std::size_t>(size())};
  }

  /// Throws `stored_tensor_differs` unless the elements have this type, or may be converted to it.
  void require_elements(element wanted, stored_elements how = stored_elements::same) const;
  /// Throws `stored_tensor_differs` unless it has these extents, where `dyn` matches any.
  void require_extents(const extents_desc& wanted) const;

 private:
  void read_rows(index_t first, void* to, index_t count, element wanted, stored_elements how) const;
  [[nodiscard]] const void* in_place(element wanted, std::size_t alignment) const;
};

}  // namespace shardwise

#if !defined(SHARDWISE_COMPILED_FILES)
#include "shardwise/io/file_array_work.hpp"
#endif
