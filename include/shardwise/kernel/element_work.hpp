// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/any_block.hpp"
#include "shardwise/kernel/copy_kernel.hpp"
#include "shardwise/kernel/narrow_runs.hpp"
#include "shardwise/kernel/reduction_arithmetic.hpp"

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace shardwise {

namespace detail {

template <class T>
void copy_any(const const_any_block& from, const any_block& to) {
  copy_block<T>(from.as<const T>(), to.as<T>());
}

/// Reduces in the type used for arithmetic, one run at a time if that differs.
template <class T>
void reduce_any(reduction kind, const const_any_block& left, const const_any_block& right,
                const any_block& into) {
  using C = compute_type<T>;
  if constexpr (std::same_as<T, bool>) {
    // `bool` elements are bytes of 0 and 1, and have only a maximum and a minimum.
    reduce_block<std::uint8_t>(kind, left.as<const std::uint8_t>(), right.as<const std::uint8_t>(),
                               into.as<std::uint8_t>());
  } else if constexpr (std::same_as<T, C>) {
    reduce_block<T>(kind, left.as<const T>(), right.as<const T>(), into.as<T>());
  } else {
    const strided<const T> a = left.as<const T>();
    const strided<const T> b = right.as<const T>();
    const strided<T> c = into.as<T>();
    loop_nest<3> nest;
    for (int d = 0; d < c.rank(); ++d)
      nest.push({c.extents[d], {a.strides[d], b.strides[d], c.strides[d]}});
    C first_run[staged], second_run[staged];
    for (index_t first = 0; first < nest.size(); first += staged) {
      const index_t n = nest.size() - first < staged ? nest.size() - first : staged;
      for_each_piece(nest, first, n, [&](index_t done, const index_t(&at)[3], index_t run) {
        for (index_t i = 0; i < run; ++i) {
          first_run[done + i] = a.data[at[0] + i * nest.inner_stride(0)];
          second_run[done + i] = b.data[at[1] + i * nest.inner_stride(1)];
        }
      });
      reduce_block<C>(kind, {second_run, {n}, {1}}, {first_run, {n}, {1}});
      for_each_piece(nest, first, n, [&](index_t done, const index_t(&at)[3], index_t run) {
        for (index_t i = 0; i < run; ++i)
          c.data[at[2] + i * nest.inner_stride(2)] = static_cast<T>(first_run[done + i]);
      });
    }
  }
}

/// Reduces `radix` rows of `n` elements in pairs, without storing partial results.
template <class T>
void reduce_rows_any(reduction kind, const std::array<const void*, radix>& from, index_t n,
                     void* into) {
  // `bool` elements are bytes of 0 and 1, and have only a maximum and a minimum.
  using memory = std::conditional_t<std::same_as<T, bool>, std::uint8_t, T>;
  const memory* rows[radix];
  for (std::size_t i = 0; i < radix; ++i) rows[i] = static_cast<const memory*>(from[i]);
  auto* const to = static_cast<memory*>(into);
  switch (kind) {
    case reduction::sum:
      return reduce_rows<memory, functions::add>(rows, to, n);
    case reduction::product:
      return reduce_rows<memory, functions::multiply>(rows, to, n);
    case reduction::max:
      return reduce_rows<memory, functions::maximum>(rows, to, n);
    case reduction::min:
      return reduce_rows<memory, functions::minimum>(rows, to, n);
  }
}

/// Returns a pointer to it, or null for elements whose arithmetic uses another type, since each
/// pair must be rounded.
template <class T, class Pointer>
[[nodiscard]] constexpr Pointer reduce_rows_of() noexcept {
  if constexpr (computed_in(element_of<T>) == element_of<T>)
    return Pointer::template to<&reduce_rows_any<T>>();
  else
    return {};
}

template <class T>
void load_run(const void* from, index_t stride, index_t count, void* to) {
  using C = compute_type<T>;
  const T* const source = static_cast<const T*>(from);
  C* const target = static_cast<C*>(to);
  if constexpr (std::same_as<T, C>) {
    gather_elements(source, stride, count, target);
  } else {
    if (stride == 1) return widen_run(source, count, target);
    for (index_t i = 0; i < count; ++i) target[i] = source[i * stride];
  }
}

template <class T>
void store_run(const void* from, index_t count, void* to) {
  using C = compute_type<T>;
  const C* const source = static_cast<const C*>(from);
  T* const target = static_cast<T*>(to);
  if constexpr (std::same_as<T, C>)
    gather_elements(source, 1, count, target);
  else
    narrow_run(source, count, target);
}

}  // namespace detail

}  // namespace shardwise
