// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/index.hpp"
#include "shardwise/expression/fused.hpp"
#include "shardwise/kernel/loop_nest.hpp"
#include "shardwise/kernel/pointwise_kernel.hpp"
#include "shardwise/kernel/strided.hpp"
#include "shardwise/spec/reduction.hpp"

#include <algorithm>
#include <concepts>

namespace shardwise {

namespace detail {
/// Transposes a square with as many rows as a packet has lanes; the packet only determines the
/// type.
template <class P, class T>
void transpose_square(const P&, const T* from, index_t row_from, T* to, index_t row_to) noexcept {
  constexpr int lanes = static_cast<int>(sizeof(P) / sizeof(T));
  packet::PacketBlock<P, lanes> square;
  for (int i = 0; i < lanes; ++i) square.packet[i] = packet::ploadu<P>(from + i * row_from);
  packet::ptranspose(square);
  for (int i = 0; i < lanes; ++i) packet::pstoreu(to + i * row_to, square.packet[i]);
}

}  // namespace detail

namespace internal {

/// Computes `to[r, c] = from[c, r]`, both contiguous along their second dimension, tile by tile, so
/// that every cache line and page is used completely before it is evicted.
template <class T>
void transpose(const T* from, index_t row_from, T* to, index_t row_to, index_t rows,
               index_t columns) noexcept {
  constexpr index_t tile = 64;
  constexpr index_t side = std::max<index_t>(4, detail::step<T> / vector_of<T>::packets);
  for (index_t i = 0; i < rows; i += tile)
    for (index_t j = 0; j < columns; j += tile)
      for (index_t r = i; r < std::min(i + tile, rows); r += side)
        for (index_t c = j; c < std::min(j + tile, columns); c += side) {
          const index_t height = std::min(side, rows - r), width = std::min(side, columns - c);
          const T* source = from + c * row_from + r;
          T* target = to + r * row_to + c;
          if constexpr (std::floating_point<T>)
            if (height == side && width == side &&
                sizeof(typename vector_of<T>::type) == side * sizeof(T)) {
              transpose_square(typename vector_of<T>::type{}, source, row_from, target, row_to);
              continue;
            }
          for (index_t y = 0; y < height; ++y)
            for (index_t x = 0; x < width; ++x) target[y * row_to + x] = source[x * row_from + y];
        }
}
}  // namespace internal

/// Copies a block; the views have the same extents and do not overlap. Stride 0 in `from` repeats.
template <class T>
void copy_block(const strided<const T>& from, const strided<T>& to) noexcept {
  // The target is written front to back. The dimension along which `from` is contiguous, if it is
  // not the innermost one, is excluded from the nest and traversed together with the innermost one.
  const auto order = by_stride(to.strides);
  const int inner = order.empty() ? -1 : order.back();
  int crossing = -1;
  for (int d = 0; d < to.rank(); ++d)
    if (d != inner && from.strides[d] == 1 && to.extents[d] > 1) crossing = d;
  const bool transposes = crossing >= 0 && to.strides[inner] == 1 && to.extents[inner] > 1 &&
                          from.strides[inner] != 1 && from.strides[inner] != 0;
  loop_nest<2> nest;
  for (int d : order)
    if (!transposes || (d != inner && d != crossing))
      nest.push({to.extents[d], {from.strides[d], to.strides[d]}});
  if (to.size() == 0) return;
  if (transposes) {
    for (index_t i = 0; i < nest.size(); ++i) {
      const auto at = nest.at(i);
      internal::transpose(from.data + at.offsets[0], from.strides[inner], to.data + at.offsets[1],
                          to.strides[crossing], to.extents[crossing], to.extents[inner]);
    }
    return;
  }
  const index_t step_from = nest.inner_stride(0), step_to = nest.inner_stride(1);
  if (step_from == 0) return run_pointwise<T>(fused::argument<0>{}, {from}, to);
  const index_t run = nest.inner_extent();
  const bool is_run = step_from == 1 && step_to == 1 && run >= 16;
  for_each_row(nest, [&](const index_t(&at)[2]) {
    const T* source = from.data + at[0];
    T* target = to.data + at[1];
    if (is_run)
      copy_run(source, run, target);
    else if (step_to == 1)
      gather_elements(source, step_from, run, target);
    else
      for (index_t i = 0; i < run; ++i) target[i * step_to] = source[i * step_from];
  });
}

/// Sets every element of a block.
template <class T>
void fill_block(const T& value, const strided<T>& to) noexcept {
  inplace_vector<index_t, max_rank> nowhere;
  nowhere.resize(to.extents.size());
  run_pointwise<T>(fused::argument<0>{}, {strided<const T>{&value, to.extents, nowhere}}, to);
}

/// Computes `into = reduce(left, right)` element by element; max and min propagate NaN. `into` may
/// be `left`.
template <class T>
void reduce_block(reduction kind, const strided<const T>& left, const strided<const T>& right,
                  const strided<T>& into) noexcept {
  const auto run = [&]<class Function>(Function) {
    using tree = fused::call<Function, fused::argument<0>, fused::argument<1>>;
    run_pointwise<T>(tree{}, {left, right}, into);
  };
  switch (kind) {
    case reduction::sum:
      return run(functions::add{});
    case reduction::product:
      return run(functions::multiply{});
    case reduction::max:
      return run(functions::maximum{});
    case reduction::min:
      return run(functions::minimum{});
  }
}

/// Computes `into = reduce(into, from)`.
template <class T>
void reduce_block(reduction kind, const strided<const T>& from, const strided<T>& into) noexcept {
  reduce_block<T>(kind, {into.data, into.extents, into.strides}, from, into);
}

}  // namespace shardwise
