// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/error.hpp"
#include "shardwise/interop/strided_span.hpp"
#include "shardwise/kernel/strided.hpp"
#include "shardwise/layout/tensor_desc.hpp"

#include <concepts>
#include <cstdint>
#include <memory>
#include <span>  // has the range concepts, without the compile time of the views
#include <type_traits>
#include <utility>

namespace shardwise {

/// A view of elements in the memory of this host, as other libraries describe them: the address of
/// the first one, extents, and the distance between adjacent elements along each dimension, in
/// elements. It is read-only if `T` is const.
///
/// The memory must outlive the view, unless the view has an owner that keeps it alive: then the
/// view and its copies share it.
///
///     float grid[3][10];
///     array_view<float> columns(&grid[0][0], {3, 4}, {10, 1});         // the first four
///     auto x = distribute<X>(pool, columns);
template <class T>
class array_view {
  static_assert(Element<std::remove_const_t<T>>);

 public:
  using element_type = T;
  using value_type = std::remove_const_t<T>;

  /// A view of elements whose memory the caller knows to be there. Throws `host_array_is_unusable`
  /// for negative strides, an address that is not aligned, or none for elements that there are.
  array_view(T* first, const extents_desc& extents, const extents_desc& strides,
             std::shared_ptr<const void> owner = nullptr)
      : elements_{first, extents, strides}, owner_(std::move(owner)) {
    detail::require_known_extents(extents);
    span_ = detail::required_span(extents, strides);
    if (span_ == 0) return;
    if (first == nullptr) detail::fail_array("it has elements, and no address");
    if (reinterpret_cast<std::uintptr_t>(first) % alignof(value_type) != 0)
      detail::fail_array("the address of the first element is not a multiple of its alignment");
  }
  /// A view of contiguous row-major elements.
  array_view(T* first, const extents_desc& extents)
      : array_view(first, extents, detail::compact_strides(extents)) {}
  /// A view of elements within some memory; the first is the first of it. Throws
  /// `host_size_differs` if the last one is beyond its end.
  array_view(std::span<T> memory, const extents_desc& extents, const extents_desc& strides)
      : array_view(memory.data(), extents, strides) {
    const auto size = static_cast<index_t>(memory.size());
    if (span_ > size) fail({.rule = violation::host_size_differs, .have = size, .want = span_});
  }
  array_view(std::span<T> memory, const extents_desc& extents)
      : array_view(memory, extents, detail::compact_strides(extents)) {}
  /// What can be written can be read.
  template <class Other>
    requires(std::same_as<const Other, T> && !std::same_as<Other, T>)
  array_view(const array_view<Other>& from)
      : array_view(from.data(), from.extents(), from.strides(), from.owner()) {}

  [[nodiscard]] T* data() const noexcept { return elements_.data; }
  [[nodiscard]] const extents_desc& extents() const noexcept { return elements_.extents; }
  [[nodiscard]] const extents_desc& strides() const noexcept { return elements_.strides; }
  [[nodiscard]] int rank() const noexcept { return elements_.rank(); }
  /// Returns the number of elements.
  [[nodiscard]] index_t size() const noexcept { return elements_.size(); }
  /// Returns the number of elements of the memory from the first element to the last.
  [[nodiscard]] index_t required_span() const noexcept { return span_; }
  /// Returns true if the elements are row-major, and there are no others between them.
  [[nodiscard]] bool is_contiguous() const noexcept {
    return detail::is_row_major(extents(), strides());
  }
  /// Returns what keeps the memory alive, or null.
  [[nodiscard]] const std::shared_ptr<const void>& owner() const noexcept { return owner_; }
  /// Returns the view as kernels use it.
  [[nodiscard]] const strided<T>& elements() const noexcept { return elements_; }

  /// Returns the element at one index for each dimension, counted from 0 and below the extent.
  template <std::convertible_to<index_t>... I>
  [[nodiscard]] T& operator()(I... indices) const {
    if (sizeof...(I) != extents().size())
      fail(
          {.rule = violation::operand_rank_differs, .have = index_t{sizeof...(I)}, .want = rank()});
    index_t offset = 0;
    int d = 0;
    [[maybe_unused]] const auto along = [&](index_t i) {
      if (i < 0 || i >= extents()[d])
        fail({.rule = violation::index_is_out_of_range, .dim = d, .have = i, .want = extents()[d]});
      return i * strides()[d++];
    };
    ((offset += along(static_cast<index_t>(indices))), ...);
    return data()[offset];
  }

 private:
  strided<T> elements_;
  index_t span_ = 0;
  std::shared_ptr<const void> owner_;
};

/// Returns the elements of a view as a `std::span`. Throws `host_array_is_unusable` if they are not
/// contiguous and row-major.
template <class T>
[[nodiscard]] std::span<T> as_span(const array_view<T>& view) {
  if (!view.is_contiguous())
    detail::fail_array("its elements are not contiguous and row-major, as those of a span are");
  return {view.data(), static_cast<std::size_t>(view.size())};
}

}  // namespace shardwise
