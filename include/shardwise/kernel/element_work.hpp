// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/any_block.hpp"
#include "shardwise/kernel/copy_kernel.hpp"

#include <concepts>

namespace shardwise {

namespace detail {

template <class T>
void copy_any(const const_any_block& from, const any_block& to) {
  copy_block<T>(from.as<const T>(), to.as<T>());
}

/// Folds in the type that is computed in, a run at a time where that is another one.
template <class T>
void fold_any(reduction kind, const const_any_block& from, const any_block& into) {
  using C = compute_type<T>;
  if constexpr (std::same_as<T, bool>) {
    // Of truth values, which are bytes of 0 and 1, there are the largest and the least.
    fold_block<std::uint8_t>(kind, from.as<const std::uint8_t>(), into.as<std::uint8_t>());
  } else if constexpr (std::same_as<T, C>) {
    fold_block<T>(kind, from.as<const T>(), into.as<T>());
  } else {
    const strided<const T> a = from.as<const T>();
    const strided<T> b = into.as<T>();
    loop_nest<2> nest;
    for (int d = 0; d < b.rank(); ++d) nest.push({b.extents[d], {a.strides[d], b.strides[d]}});
    C left[staged], right[staged];
    for (index_t first = 0; first < nest.size(); first += staged) {
      const index_t n = nest.size() - first < staged ? nest.size() - first : staged;
      for_each_piece(nest, first, n, [&](index_t done, const index_t(&at)[2], index_t run) {
        for (index_t i = 0; i < run; ++i) {
          left[done + i] = b.data[at[1] + i * nest.inner_stride(1)];
          right[done + i] = a.data[at[0] + i * nest.inner_stride(0)];
        }
      });
      fold_block<C>(kind, {right, {n}, {1}}, {left, {n}, {1}});
      for_each_piece(nest, first, n, [&](index_t done, const index_t(&at)[2], index_t run) {
        for (index_t i = 0; i < run; ++i)
          b.data[at[1] + i * nest.inner_stride(1)] = static_cast<T>(left[done + i]);
      });
    }
  }
}

template <class T>
void load_run(const void* from, index_t stride, index_t count, void* to) {
  using C = compute_type<T>;
  const T* const source = static_cast<const T*>(from);
  C* const target = static_cast<C*>(to);
  if constexpr (std::same_as<T, C>) {
    gather_elements(source, stride, count, target);
  } else {
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
    for (index_t i = 0; i < count; ++i) target[i] = static_cast<T>(source[i]);
}

}  // namespace detail

}  // namespace shardwise
