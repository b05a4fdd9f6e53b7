// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/index.hpp"
#include "shardwise/kernel/matrix_product.hpp"
#include "shardwise/kernel/packet_lanes.hpp"
#include "shardwise/kernel/wide_kernel.hpp"

#include <algorithm>
#include <cstddef>

namespace shardwise::detail {

/// Block sizes of products over semirings: the rows and columns of the right matrix that are
/// combined with all rows of the result while they are in the cache.
inline constexpr index_t rows_in_cache = 64;
inline constexpr index_t columns_in_cache = 512;

/// A part of a product over a semiring: `out`, which holds partial results, and the matrices whose
/// products are reduced onto it. Rows of `b` and `out` are contiguous; `b` has at most
/// `rows_in_cache` rows.
template <class T>
struct product_part {
  matrix_view<const T> a, b;
  matrix_view<T> out;
};

/// The number of rows of a tile, whose elements stay in registers while products are reduced onto
/// them: every loaded element of `b` is used that many times.
inline constexpr std::size_t tile_rows = 4;

/// A group of rows of `a` and of the result, possibly fewer at the end: missing ones are copies of
/// the last one, whose results are stored separately.
template <class T>
struct row_group {
  matrix_view<const T> a, b;
  T* out[tile_rows];
};

/// Reduces the products of a group of rows onto it, tile by tile; those of one element in the order
/// of the rows of `b`.
template <class Reduce, class Times, class T>
struct tile_run {
  const row_group<T>& group;

  template <class Lanes>
  [[gnu::always_inline]] void operator()(Lanes) const {
    constexpr auto size = vectors<Lanes> * Lanes::size;
    constexpr auto width = static_cast<index_t>(size);
    const auto& [a, b, out] = group;
    index_t j = 0;
    for (; j + width <= b.columns; j += width) {
      T* to[tile_rows];
      for (std::size_t r = 0; r < tile_rows; ++r) to[r] = out[r] + j;
      run_tile<Lanes>(b.data + j, b.row_stride, to);
    }
    if (j == b.columns) return;
    // The last columns, filled with some of their own elements, are computed in the same way.
    const index_t rest = b.columns - j;
    T padded[rows_in_cache * size];
    T results[tile_rows][size];
    T* to[tile_rows];
    for (index_t k = 0; k < b.rows; ++k) {
      const T* const row = b.data + k * b.row_stride + j;
      std::fill(std::copy_n(row, rest, padded + k * width), padded + (k + 1) * width, *row);
    }
    for (std::size_t r = 0; r < tile_rows; ++r) {
      to[r] = results[r];
      std::fill(std::copy_n(out[r] + j, rest, to[r]), to[r] + width, out[r][j]);
    }
    run_tile<Lanes>(padded, width, to);
    for (std::size_t r = 0; r < tile_rows; ++r) std::copy_n(to[r], rest, out[r] + j);
  }

 private:
  /// The number of vectors in a row of a tile, as many as the registers hold: processors with
  /// vectors of 64 bytes have 32.
  template <class Lanes>
  static constexpr std::size_t vectors = sizeof(typename Lanes::vector) == 64 ? 4 : 2;

  template <class Lanes>
  [[gnu::always_inline]] void run_tile(const T* from, index_t row_stride,
                                       T* const (&to)[tile_rows]) const {
    using vector = typename Lanes::vector;
    constexpr std::size_t n = vectors<Lanes>;
    const matrix_view<const T>& a = group.a;
    const T* left[tile_rows];
    for (std::size_t r = 0; r < tile_rows; ++r)
      left[r] = a.data + std::min(static_cast<index_t>(r), a.rows - 1) * a.row_stride;
    vector sums[tile_rows][n];
#pragma GCC unroll 4
    for (std::size_t r = 0; r < tile_rows; ++r)
#pragma GCC unroll 4
      for (std::size_t u = 0; u < n; ++u) Lanes::load(to[r] + u * Lanes::size, sums[r][u]);
    for (index_t k = 0; k < a.columns; ++k, from += row_stride) {
      vector row[n];
#pragma GCC unroll 4
      for (std::size_t u = 0; u < n; ++u) {
        Lanes::load(from + u * Lanes::size, row[u]);
        Lanes::hold(row[u]);
      }
#pragma GCC unroll 4
      for (std::size_t r = 0; r < tile_rows; ++r) {
        vector factor;
        Lanes::fill(left[r][k * a.column_stride], factor);
#pragma GCC unroll 4
        for (std::size_t u = 0; u < n; ++u) {
          vector product = factor;
          Lanes::run(Times{}, product, row[u]);
          Lanes::run(Reduce{}, sums[r][u], product);
        }
      }
    }
#pragma GCC unroll 4
    for (std::size_t r = 0; r < tile_rows; ++r)
#pragma GCC unroll 4
      for (std::size_t u = 0; u < n; ++u) Lanes::store(sums[r][u], to[r] + u * Lanes::size);
  }
};

/// The tiles on packets of the width that the program was compiled for.
template <class Reduce, class Times, class T>
[[gnu::noinline, gnu::flatten]] void run_narrow_tiles(const tile_run<Reduce, Times, T>& run) {
  run(packet_lanes<T>{});
}

/// Reduces products onto a group of rows. A process always uses vectors of the same width.
template <class Reduce, class Times, class T>
void run_tiles(const row_group<T>& rows) {
  const tile_run<Reduce, Times, T> run{rows};
  if constexpr (runs_wide<T, Reduce> && runs_wide<T, Times>)
    if (with_wide_lanes<T>(run)) return;
  run_narrow_tiles(run);
}

/// Calls `update(rows)` for each group of rows of a part.
template <class T, class Update>
void for_each_row_group(const product_part<T>& part, const Update& update) {
  constexpr auto rows = static_cast<index_t>(tile_rows);
  T unused[columns_in_cache];
  for (index_t i = 0; i < part.out.rows; i += rows) {
    const index_t end = std::min(i + rows, part.out.rows);
    row_group<T> group{part.a.row_range(i, end), part.b, {}};
    for (index_t r = 0; r < rows; ++r)
      group.out[r] = i + r < end ? part.out.data + (i + r) * part.out.row_stride : unused;
    if (i + rows > end) std::copy_n(group.out[end - i - 1], part.out.columns, unused);
    update(group);
  }
}

}  // namespace shardwise::detail
