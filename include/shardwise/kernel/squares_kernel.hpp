// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/kernel_call.hpp"
#include "shardwise/kernel/reduction_kernel.hpp"
#include "shardwise/operation/sum_of_squares.hpp"

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace shardwise {

namespace detail {

/// Returns true if a sum of up to `leaf` squares, added in `T`, is as accurate as sums in `T` are:
/// no square was beyond the range of `T`, and those below it do not count. `double` is the widest.
template <class T>
[[nodiscard]] constexpr bool holds_squares(T sum) noexcept {
  constexpr T least = std::numeric_limits<T>::min() * static_cast<T>(1 << 26);
  // Both comparisons are made, so that compilers vectorise loops over sums.
  return std::same_as<T, double> ||
         (int{sum >= least} & int{sum <= std::numeric_limits<T>::max()}) != 0;
}
/// Returns the sum of squares, which are exact in `double`.
template <class T>
[[nodiscard]] double wide_squares(const T* from, index_t n) noexcept {
  constexpr index_t lanes = 16;
  double sums[lanes]{};
  index_t i = 0;
  for (; i + lanes <= n; i += lanes)
    for (index_t j = 0; j < lanes; ++j) {
      const double x = from[i + j];
      sums[j] += x * x;
    }
  double total = 0;
  for (; i < n; ++i) total += double{from[i]} * from[i];
  for (const double sum : sums) total += sum;
  return total;
}

/// Adds up the squares of each of `count` consecutive runs of `n` elements in the reader. The
/// squares of a leaf are added in `T`, in registers; where they are beyond its range they are added
/// again, in `double`.
template <class T, std::size_t N>
void add_squares_of_runs(const fused_reader<T, N>& reader, index_t first, index_t count, index_t n,
                         double* sums) {
  T buffer[leaf<T>];
  if (n > leaf<T>) {
    for (index_t i = 0; i < count; ++i)
      for (index_t done = 0; done < n; done += leaf<T>) {
        const index_t part = std::min(leaf<T>, n - done);
        const T* const from = reader.view(first + i * n + done, part, buffer);
        const T sum = reduce_run<T, functions::add, true>(from, part, T{});
        sums[i] += holds_squares(sum) ? sum : wide_squares(from, part);
      }
  } else if (n > 0) {
    // Short runs: as many as fit are computed at once.
    const index_t together = leaf<T> / n;
    T made[leaf<T>];
    for (index_t done = 0; done < count; done += together) {
      const index_t runs = std::min(together, count - done);
      const T* const from = reader.view(first + done * n, runs * n, buffer);
      reduce_each_run<T, functions::add, true>(from, runs, n, T{}, made);
      for (index_t i = 0; i < runs; ++i)
        sums[done + i] += holds_squares(made[i]) ? made[i] : wide_squares(from + i * n, n);
    }
  }
}
/// Adds the squares of `radix` rows to `sums`, in the same way.
template <class T>
void add_squares_of_rows(const T* const (&rows)[radix], index_t n, double* sums) {
  T made[neighbours<double>];
  reduce_rows<T, functions::add, false, true>(rows, made, n);
  int all_hold = 1;
  for (index_t i = 0; i < n; ++i) all_hold &= int{holds_squares(made[i])};
  if (all_hold != 0) {
    for (index_t i = 0; i < n; ++i) sums[i] += made[i];
    return;
  }
  for (index_t i = 0; i < n; ++i)
    if (holds_squares(made[i]))
      sums[i] += made[i];
    else
      for (const T* row : rows) sums[i] += double{row[i]} * row[i];
}

/// `run_sum_of_squares` of a tree without its type.
template <class T, std::size_t N>
void sum_squares_erased(const erased_tree<T, N>& prologue, bool passes_on,
                        const strided<const T> (&operands)[N], const strided<double>& out,
                        std::uint8_t reduced) {
  constexpr auto page = static_cast<index_t>(neighbours<double>);
  static constexpr T zeros[neighbours<double>]{};
  const reduction_nest<N> nest(operands, out, reduced);
  const T* data[N];
  for (std::size_t k = 0; k < N; ++k) data[k] = operands[k].data;
  fused_reader<T, N> reader(prologue, passes_on, data, nest.rows);
  T buffers[radix][neighbours<double>];
  double sums[neighbours<double>];
  for (index_t kept = 0; kept < nest.outer_kept.size(); ++kept)
    for (index_t first = 0; first < nest.row; first += page) {
      const index_t n = std::min(page, nest.row - first);
      const auto base = nest.outer_kept.at(kept);
      std::fill_n(sums, n, 0.0);
      const T* rows[radix];
      int pending = 0;
      const auto settle = [&] {
        while (pending < radix) rows[pending++] = zeros;
        add_squares_of_rows<T>(rows, n, sums);
        pending = 0;
      };
      // Without elements there may be no memory either.
      for (index_t r = 0; nest.run != 0 && r < nest.outer_reduced.size(); ++r) {
        const auto place = nest.outer_reduced.at(r);
        for (std::size_t k = 0; k < N; ++k)
          data[k] = operands[k].data + base.offsets[k] + place.offsets[k];
        reader.rebase(data);
        if (nest.run != 1) {
          add_squares_of_runs(reader, first * nest.run, n, nest.run, sums);
        } else {
          rows[pending] = reader.view(first, n, buffers[pending]);
          if (++pending == radix) settle();
        }
      }
      if (pending > 0) settle();
      for_each_piece(nest.out, kept * nest.row + first, n,
                     [&](index_t done, const index_t(&at)[1], index_t count) {
                       scatter_elements(sums + done, count, out.data + at[0],
                                        nest.out.inner_stride(0));
                     });
    }
}

}  // namespace detail

/// Adds up the squares of a fused tree over the dimensions whose bits are set in `reduced`, and
/// overwrites `out`; as `run_reduce`, but with the sums as `double`.
template <class T, class Tree, std::size_t N>
void run_sum_of_squares(const Tree& prologue, const strided<const T> (&operands)[N],
                        const strided<double>& out, std::uint8_t reduced) {
  detail::sum_squares_erased(detail::erase<T, N>(prologue), detail::passes_on<Tree, N>, operands,
                             out, reduced);
}

/// The local part of a sum of squares.
template <>
struct kernel_of<sum_of_squares_operation> {
  template <class T>
  static void run(const kernel_call& call) {
    const strided<const T> x = call.operands[0].as<const T>();
    run_tree<T>(call.how, fused::argument<0>{}, {x}, call.results[0], x.extents);
  }
  /// The same with a fused tree before it, whose result has these extents.
  template <class T, class Tree, std::size_t N>
  static void run_tree(const attributes& how, const Tree& tree,
                       const strided<const T> (&operands)[N], const any_block& out,
                       const extents_desc& extents) {
    const unsigned reduced = reduction_operation::reduced(how);
    run_sum_of_squares(tree, operands, internal::unreduced(out.as<double>(), extents, reduced),
                       static_cast<std::uint8_t>(reduced));
  }
};

}  // namespace shardwise
