// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/element_runs.hpp"
#include "shardwise/kernel/kernel_call.hpp"
#include "shardwise/kernel/reduction_arithmetic.hpp"
#include "shardwise/operation/max_with_index.hpp"

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

namespace shardwise {

namespace detail {

/// One traversal of the dimension for each result.
template <class Class>
struct extreme_kernel {
  /// Returns the element types of the results after the first.
  template <class>
  [[nodiscard]] static further_elements further() noexcept {
    return {&element_kernels_of<std::int64_t>};
  }
  template <class T>
  static void run(const kernel_call& call) {
    const strided<const T> from = call.operands[0].as<const T>();
    const strided<T> values = call.results[0].as<T>();
    const strided<std::int64_t> places = call.results[1].as<std::int64_t>();
    const auto dim = static_cast<int>(call.how.integers[0]);
    const bool in_parts = call.how.integers.size() > 1;
    const index_t parts = in_parts ? values.extents[dim] : 1;
    const index_t size = parts == 0 ? 0 : from.extents[dim] / parts;
    // The global positions of the elements, if another step has found them.
    strided<const std::int64_t> given;
    if (call.operands.size() > 1) given = call.operands[1].as<const std::int64_t>();

    // The last offset is the first index of the part.
    loop_nest<5> nest;
    for (int d = 0, kept = 0; d < from.rank(); ++d) {
      if (d == dim && !in_parts) continue;
      const index_t step = d == dim ? size : 1;
      const index_t given_step = call.operands.size() > 1 ? given.strides[d] * step : 0;
      nest.push({d == dim ? parts : from.extents[d],
                 {from.strides[d] * step, values.strides[kept], places.strides[kept], given_step,
                  d == dim ? size : 0}});
      ++kept;
    }
    const bool is_first_step = call.operands.size() == 1;
    const bool is_counted = size > 0 && size <= index_t{std::numeric_limits<counter<T>>::max()};
    if (is_first_step && is_counted && from.strides[dim] != 1 && nest.inner_stride(0) == 1 &&
        nest.inner_stride(1) == 1 && nest.inner_stride(2) == 1) {
      const held_range& range = call.parts[0][dim];
      for (index_t i = 0; i < nest.size(); i += nest.inner_extent()) {
        const auto at = nest.at(i);
        run_columns(from.data + at.offsets[0], from.strides[dim], size, nest.inner_extent(),
                    values.data + at.offsets[1], places.data + at.offsets[2],
                    [&](index_t place) { return range.global(at.offsets[4] + place); });
      }
      return;
    }
    for (index_t i = 0; i < nest.size(); ++i) {
      const auto at = nest.at(i);
      // Lines without elements may have no memory.
      const T* const line = size > 0 ? from.data + at.offsets[0] : from.data;
      const index_t place = place_of_best(line, from.strides[dim], size);
      const T best =
          place < 0 ? static_cast<T>(identity_of<T>(Class::kind)) : line[place * from.strides[dim]];
      values.data[at.offsets[1]] = best;
      if (!is_first_step)
        places.data[at.offsets[2]] =
            place < 0 ? -1 : given.data[at.offsets[3] + place * given.strides[dim]];
      else
        places.data[at.offsets[2]] =
            place < 0 ? -1 : call.parts[0][dim].global(at.offsets[4] + place);
    }
  }

 private:
  /// NaN is better than all numbers. Without branches, which would prevent vectorisation.
  template <class T>
  [[nodiscard]] static bool is_better(const T& next, const T& best) noexcept {
    return static_cast<bool>(static_cast<int>(!comes_after(next, best)) &
                             static_cast<int>(best == best));
  }
  /// Of two elements or of the lanes of two vectors.
  template <class T>
  [[nodiscard]] static auto comes_after(const T& next, const T& best) noexcept {
    if constexpr (Class::kind == reduction::max)
      return next <= best;
    else
      return next >= best;
  }

  /// Returns the position of the first of the best elements of a line; -1 for an empty line.
  template <class T>
  [[nodiscard]] static index_t place_of_best(const T* line, index_t stride, index_t n) {
    if constexpr (std::floating_point<T>)
      if (stride == 1) return place_in_run(line, n);
    index_t place = n == 0 ? -1 : 0;
    for (index_t x = 1; x < n; ++x)
      if (is_better(line[x * stride], line[place * stride])) place = x;
    return place;
  }
  /// The same for contiguous elements: the best of each part first, then its position in that part.
  /// 0 and -0 are equal, so the first one is taken.
  template <class T>
  [[nodiscard]] static index_t place_in_run(const T* line, index_t n) {
    const reducer<T> reduce = reducer_of<T>(Class::kind);
    T best{};
    index_t place = -1;
    for (index_t x = 0; x < n; x += leaf<T>) {
      T next{};
      reduce.runs(line + x, 1, std::min(leaf<T>, n - x), reduce.identity, &next);
      if (place >= 0 && !is_better(next, best)) continue;
      best = next;
      place = x;
    }
    if (place < 0) return place;
    if (best == best)
      while (line[place] != best) ++place;
    else
      while (line[place] == line[place]) ++place;
    return place;
  }

  /// Positions with the size of an element if possible: compilers vectorise both together.
  template <class T>
  using counter = std::conditional_t<sizeof(T) == 8, std::int64_t, std::int32_t>;

  /// The number of rows that are compared before the best elements are stored.
  static constexpr index_t at_once = 4;

  /// Compares `Rows` rows, from number `x` on, with the best elements of `n` columns.
  template <index_t Rows, class T>
  static void take_rows(const T* rows, index_t row_stride, index_t x, index_t n, T* best,
                        counter<T>* place) {
    index_t i = 0;
    if constexpr (std::is_arithmetic_v<T> && sizeof(T) == sizeof(counter<T>)) {
      typedef T vector __attribute__((vector_size(permuted_bytes)));
      typedef counter<T> places __attribute__((vector_size(permuted_bytes)));
      constexpr auto lanes = static_cast<index_t>(permuted_bytes / sizeof(T));
      for (; i + lanes <= n; i += lanes) {
        vector most;
        places at;
        std::memcpy(&most, best + i, sizeof most);
        std::memcpy(&at, place + i, sizeof at);
        for (index_t r = 0; r < Rows; ++r) {
          vector next;
          std::memcpy(&next, rows + r * row_stride + i, sizeof next);
          const places is_better = ~comes_after(next, most) & (most == most);
          most = is_better ? next : most;
          at = is_better ? static_cast<counter<T>>(x + r) - places{} : at;
        }
        std::memcpy(best + i, &most, sizeof most);
        std::memcpy(place + i, &at, sizeof at);
      }
    }
    for (; i < n; ++i)
      for (index_t r = 0; r < Rows; ++r) {
        const T next = rows[r * row_stride + i];
        const bool better = is_better(next, best[i]);
        best[i] = better ? next : best[i];
        place[i] = better ? static_cast<counter<T>>(x + r) : place[i];
      }
  }

  /// Computes adjacent lines, row by row and some columns at a time; `global(place)` is written.
  template <class T, class Global>
  static void run_columns(const T* from, index_t row_stride, index_t size, index_t columns,
                          T* values, std::int64_t* places, const Global& global) {
    // As many as stay in the nearest caches with their positions: rows are read in long runs.
    constexpr std::size_t most = 16384 / sizeof(counter<T>);
    constexpr auto width = static_cast<index_t>(most);
    for (index_t c = 0; c < columns; c += width) {
      const index_t n = std::min(width, columns - c);
      // No vector of them spans two cache lines.
      alignas(64) T best[most];
      alignas(64) counter<T> place[most];
      std::copy_n(from + c, n, best);
      std::fill_n(place, n, counter<T>{0});
      index_t x = 1;
      for (; x + at_once <= size; x += at_once)
        take_rows<at_once>(from + x * row_stride + c, row_stride, x, n, best, place);
      for (; x < size; ++x) take_rows<1>(from + x * row_stride + c, row_stride, x, n, best, place);
      for (index_t i = 0; i < n; ++i) {
        values[c + i] = best[i];
        places[c + i] = global(index_t{place[i]});
      }
    }
  }
};

}  // namespace detail

template <>
struct kernel_of<max_with_index_operation> : detail::extreme_kernel<max_with_index_operation> {};
template <>
struct kernel_of<min_with_index_operation> : detail::extreme_kernel<min_with_index_operation> {};

}  // namespace shardwise
