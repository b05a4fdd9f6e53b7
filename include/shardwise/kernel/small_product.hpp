// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/index.hpp"
#include "shardwise/kernel/eigen.hpp"
#include "shardwise/kernel/matrix_view.hpp"
#include "shardwise/kernel/pointwise_kernel.hpp"

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstring>
#include <type_traits>

namespace shardwise::detail {

/// The maximum number of elements of the operands of a small product, with the right one in whole
/// packets: they stay in or close to the first-level cache, so packing them in blocks would take
/// longer than it saves.
inline constexpr index_t most_on_left = 16384;
inline constexpr index_t most_on_right = 4096;

/// Returns true for a product that `multiply_small` computes.
template <std::floating_point C>
[[nodiscard]] bool is_small_product(const matrix_view<const C>& a,
                                    const matrix_view<const C>& b) noexcept {
  constexpr auto lanes = static_cast<index_t>(sizeof(typename vector_of<C>::type) / sizeof(C));
  return a.rows * a.columns <= most_on_left &&
         (b.columns + lanes - 1) / lanes * lanes * b.rows <= most_on_right;
}

/// Computes `Rows` rows of the result, `Packets` packets of each, whose sums stay in registers.
/// Rows of `b` are contiguous. Sums begin with 0, as in larger products: a sum of negative zeros is
/// 0.
template <std::size_t Rows, std::size_t Packets, std::floating_point C>
void multiply_tile(const matrix_view<const C>& a, const C* b, index_t b_stride, C* out,
                   index_t out_stride) noexcept {
  using P = typename vector_of<C>::type;
  constexpr std::size_t lanes = sizeof(P) / sizeof(C);
  const P zero = packet::pset1<P>(C{0});
  P sums[Rows][Packets];
  for_each_index<Rows * Packets>([&]<std::size_t I>() { sums[I / Packets][I % Packets] = zero; });
  for (index_t k = 0; k < a.columns; ++k, b += b_stride) {
    const C* const factors = a.data + k * a.column_stride;
    // Rounded, so that g++ keeps it in registers: otherwise it would be loaded again for each row
    // of the result.
    P row[Packets];
    for_each_index<Packets>(
        [&]<std::size_t V>() { row[V] = rounded(packet::ploadu<P>(b + V * lanes)); });
    for_each_index<Rows>([&]<std::size_t R>() {
      const P factor = packet::pset1<P>(factors[static_cast<index_t>(R) * a.row_stride]);
      for_each_index<Packets>(
          [&]<std::size_t V>() { sums[R][V] = packet::pmadd(factor, row[V], sums[R][V]); });
    });
  }
  for_each_index<Rows * Packets>([&]<std::size_t I>() {
    packet::pstoreu(out + static_cast<index_t>(I / Packets) * out_stride + I % Packets * lanes,
                    packet::padd(sums[I / Packets][I % Packets], zero));
  });
}

/// Copies `n` contiguous elements, at most `Most`, a power of two: by copies of fixed lengths,
/// which are faster than a loop.
template <std::size_t Most, class C>
void copy_few(const C* from, index_t n, C* to) noexcept {
  if ((static_cast<std::size_t>(n) & Most) != 0) {
    std::memcpy(to, from, Most * sizeof(C));
    from += Most;
    to += Most;
  }
  if constexpr (Most > 1) copy_few<Most / 2>(from, n, to);
}

/// Computes all rows of some columns of the result, at most `Packets` packets; rows of `b` are
/// contiguous in whole packets. All functions that it calls are inlined, since otherwise registers
/// would be memory.
template <std::size_t Packets, std::floating_point C>
[[gnu::noinline, gnu::flatten]] void multiply_columns(const matrix_view<const C>& a, const C* b,
                                                      index_t b_stride,
                                                      const matrix_view<C>& out) noexcept {
  constexpr auto whole =
      static_cast<index_t>(Packets * sizeof(typename vector_of<C>::type) / sizeof(C));
  const auto compute = [&]<std::size_t Rows>(std::integral_constant<std::size_t, Rows>, index_t i) {
    constexpr auto rows = static_cast<index_t>(Rows);
    C* const to = out.data + i * out.row_stride;
    if (out.columns == whole)
      return multiply_tile<Rows, Packets>(a.row_range(i, i + rows), b, b_stride, to,
                                          out.row_stride);
    C results[Rows * static_cast<std::size_t>(whole)];
    multiply_tile<Rows, Packets>(a.row_range(i, i + rows), b, b_stride, results, whole);
    for (index_t r = 0; r < rows; ++r)
      copy_few<static_cast<std::size_t>(whole)>(results + r * whole, out.columns,
                                                to + r * out.row_stride);
  };
  // As many sums as are needed to hide the latency of a multiplication, also on machines with few
  // registers.
  constexpr std::integral_constant<std::size_t, 8 / Packets> several;
  constexpr std::integral_constant<std::size_t, 1> one;
  index_t i = 0;
  for (; i + index_t{several} <= out.rows; i += index_t{several}) compute(several, i);
  for (; i < out.rows; ++i) compute(one, i);
}

/// Copies `width` columns of a matrix so that rows are contiguous: missing columns repeat the
/// first, which raises no floating-point exception of its own.
template <std::size_t Width, std::floating_point C>
void copy_columns(const matrix_view<const C>& from, C* to) noexcept {
  constexpr auto width = static_cast<index_t>(Width);
  for (index_t k = 0; k < from.rows; ++k, to += width) {
    const C* const row = from.data + k * from.row_stride;
    std::fill_n(to, width, *row);
    if (from.column_stride == 1)
      copy_few<Width>(row, from.columns, to);
    else
      for (index_t j = 1; j < from.columns; ++j) to[j] = row[j * from.column_stride];
  }
}

/// Computes `out = a * b` for a small product and a row-major `out`. An element is the sum of its
/// products from the first to the last, whatever the sizes and storage orders.
template <std::floating_point C>
void multiply_small(const matrix_view<const C>& a, const matrix_view<const C>& b,
                    const matrix_view<C>& out) noexcept {
  constexpr auto lanes = static_cast<index_t>(sizeof(typename vector_of<C>::type) / sizeof(C));
  const auto multiply = [&]<std::size_t Packets>(std::integral_constant<std::size_t, Packets>,
                                                 index_t begin) {
    constexpr auto width = static_cast<index_t>(Packets) * lanes;
    const index_t end = std::min(begin + width, out.columns);
    const matrix_view<const C> right = b.column_range(begin, end);
    const matrix_view<C> to = out.column_range(begin, end);
    if (b.is_row_major() && end - begin == width)
      return multiply_columns<Packets>(a, right.data, right.row_stride, to);
    C panel[most_on_right];
    copy_columns<static_cast<std::size_t>(width)>(right, panel);
    multiply_columns<Packets>(a, static_cast<const C*>(panel), width, to);
  };
  for (index_t j = 0; j < out.columns; j += 2 * lanes)
    if (out.columns - j > lanes)
      multiply(std::integral_constant<std::size_t, 2>{}, j);
    else
      multiply(std::integral_constant<std::size_t, 1>{}, j);
}

}  // namespace shardwise::detail
