// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/kernel/any_block.hpp"
#include "shardwise/kernel/kernel_pointer.hpp"
#include "shardwise/spec/reduction.hpp"
#if !defined(SHARDWISE_COMPILED)
#include "shardwise/kernel/element_work.hpp"
#endif

#include <array>
#include <cstddef>

namespace shardwise {

/// Pointers to eight rows of elements.
using eight_rows = std::array<const void*, 8>;

/// The functions on elements of one type that do not depend on the operation: copying and reducing
/// blocks, and converting runs to the type used for arithmetic and back.
struct element_kernels {
  element type = element::f32;
  /// Copies a block; see `copy_block`.
  kernel_pointer<const_any_block, any_block> copy{};
  /// `reduce(kind, left, right, into)` writes the reduction of two blocks; see `reduce_block`.
  kernel_pointer<reduction, const_any_block, const_any_block, any_block> reduce{};
  /// `reduce_rows(kind, rows, n, into)` reduces eight rows of `n` contiguous elements in pairs,
  /// with the bits of `reduce` applied to pairs, then to pairs of the results, and then to the last
  /// two. It is null if `reduce` rounds to the element type each time.
  kernel_pointer<reduction, eight_rows, index_t, void*> reduce_rows{};
  /// Reads `count` elements that are `stride` apart into contiguous elements of the type used for
  /// arithmetic.
  void (*load)(const void* from, index_t stride, index_t count, void* to) = nullptr;
  /// Writes `count` contiguous elements of the type used for arithmetic as elements.
  void (*store)(const void* from, index_t count, void* to) = nullptr;
};

#if defined(SHARDWISE_COMPILED)

namespace detail {
/// The kernels of all types, indexed by `element`; in the compiled library.
extern const element_kernels compiled_elements[element_types];
}  // namespace detail

/// Returns the kernels of a type.
template <Element T>
inline constexpr const element_kernels& element_kernels_of =
    detail::compiled_elements[static_cast<std::size_t>(element_of<T>)];

#else

/// Returns the kernels of a type.
template <Element T>
inline constexpr element_kernels element_kernels_of{
    element_of<T>,
    decltype(element_kernels::copy)::to<&detail::copy_any<T>>(),
    decltype(element_kernels::reduce)::to<&detail::reduce_any<T>>(),
    detail::reduce_rows_of<T, decltype(element_kernels::reduce_rows)>(),
    &detail::load_run<T>,
    &detail::store_run<T>};

#endif

/// Copies a block; see `copy_block`.
template <Element T>
void copy_elements(const strided<const T>& from, const strided<T>& to) {
  element_kernels_of<T>.copy({from.data, element_of<T>, from.extents, from.strides},
                             {to.data, element_of<T>, to.extents, to.strides});
}

/// Sets every element of a block.
template <Element T>
void fill_elements(const T& value, const strided<T>& to) {
  inplace_vector<index_t, max_rank> nowhere;
  nowhere.resize(to.extents.size());
  copy_elements<T>({&value, to.extents, nowhere}, to);
}

}  // namespace shardwise
