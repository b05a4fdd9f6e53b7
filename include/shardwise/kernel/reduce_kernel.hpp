// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/index.hpp"
#include "shardwise/kernel/cascade.hpp"
#include "shardwise/kernel/loop_nest.hpp"
#include "shardwise/kernel/pointwise_kernel.hpp"
#include "shardwise/kernel/reduction_arithmetic.hpp"
#include "shardwise/kernel/strided.hpp"
#include "shardwise/spec/reduction.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace shardwise {

namespace detail {
/// Reduces the elements [first, first + n) of a reader to one number, leaf by leaf.
template <class T, std::size_t N>
[[nodiscard]] T reduce_long_run(const reducer<T>& reduce, const fused_reader<T, N>& reader,
                                index_t first, index_t n) {
  T buffer[leaf<T>];
  T lanes[radix][step<T>];
  cascade<T, step<T>> leaves(reduce, step<T>);
  int slot = 0;
  for (index_t done = 0; done < n; done += leaf<T>) {
    const index_t count = std::min(leaf<T>, n - done);
    reduce.lanes(reader.view(first + done, count, buffer), count, reduce.identity, lanes[slot]);
    leaves.add(lanes[slot]);
    slot = leaves.is_settled() ? 0 : slot + 1;
  }
  T result;
  reduce.runs(leaves.finish(), 1, step<T>, reduce.identity, &result);
  return result;
}

/// Reduces each of `count` consecutive runs of `n` elements in the reader to one number.
template <class T, std::size_t N>
void reduce_runs(const reducer<T>& reduce, const fused_reader<T, N>& reader, index_t first,
                 index_t count, index_t n, T* out) {
  if (n == 0) {
    std::fill_n(out, count, reduce.identity);
  } else if (n > leaf<T> && n <= radix * leaf<T> && reader.is_in_place()) {
    reduce.runs(reader.view(first, count * n, nullptr), count, n, reduce.identity, out);
  } else if (n > leaf<T>) {
    for (index_t i = 0; i < count; ++i) out[i] = reduce_long_run(reduce, reader, first + i * n, n);
  } else {
    // Short runs: as many as fit are computed at once.
    T buffer[leaf<T>];
    const index_t together = leaf<T> / n;
    for (index_t done = 0; done < count; done += together) {
      const index_t runs = std::min(together, count - done);
      const T* from = reader.view(first + done * n, runs * n, buffer);
      reduce.runs(from, runs, n, reduce.identity, out + done);
    }
  }
}

/// The dimensions of a reduction: runs of reduced elements inside rows of kept ones, both
/// contiguous in the order of the dimensions, and the remaining reduced and kept dimensions outside
/// them.
template <std::size_t N>
struct reduction_nest {
  loop_nest<N> rows;         ///< the last kept dimensions, then the reduced ones inside them
  index_t row = 1, run = 1;  ///< how many elements of each
  loop_nest<N> outer_reduced;
  loop_nest<N> outer_kept;
  loop_nest<1> out;  ///< all kept dimensions

  template <class T, class Made>
  reduction_nest(const strided<const T> (&operands)[N], const strided<Made>& result,
                 std::uint8_t reduced) noexcept {
    const auto is_reduced = [&](int d) { return (reduced >> d & 1) != 0; };
    int runs = result.rank(), begin = 0;
    while (runs > 0 && (is_reduced(runs - 1) || result.extents[runs - 1] == 1)) --runs;
    for (begin = runs; begin > 0 && (!is_reduced(begin - 1) || result.extents[begin - 1] == 1);)
      --begin;
    for (int d = 0; d < result.rank(); ++d) {
      typename loop_nest<N>::loop loop{result.extents[d], {}};
      for (std::size_t k = 0; k < N; ++k) loop.strides[k] = operands[k].strides[d];
      if (d >= begin)
        rows.push(loop);
      else
        (is_reduced(d) ? outer_reduced : outer_kept).push(loop);
      if (d >= begin) (d >= runs ? run : row) *= loop.extent;
      if (!is_reduced(d)) out.push({loop.extent, {result.strides[d]}});
    }
  }
};
}  // namespace detail

namespace detail {
/// `run_reduce` of a tree without its type.
template <class T, std::size_t N>
void reduce_erased(const reducer<T>& reduce, const erased_tree<T, N>& prologue, bool passes_on,
                   const strided<const T> (&operands)[N], const strided<T>& out,
                   std::uint8_t reduced) {
  constexpr auto page = static_cast<index_t>(neighbours<T>);
  const reduction_nest<N> nest(operands, out, reduced);
  const T* data[N];
  for (std::size_t k = 0; k < N; ++k) data[k] = operands[k].data;
  fused_reader<T, N> reader(prologue, passes_on, data, nest.rows);
  // The usual matrix, whose rows are read in place.
  const bool are_rows = reader.is_in_place() && nest.run == 1 && nest.outer_reduced.rank() == 1;
  const index_t row_step = nest.outer_reduced.inner_stride(N - 1);
  T buffers[radix][neighbours<T>];
  for (index_t kept = 0; kept < nest.outer_kept.size(); ++kept)
    for (index_t first = 0; first < nest.row; first += page) {
      const index_t n = std::min(page, nest.row - first);
      const auto base = nest.outer_kept.at(kept);
      cascade<T, neighbours<T>> rows(reduce, n);
      if (are_rows)
        rows.add(operands[N - 1].data + base.offsets[N - 1] + first, row_step,
                 nest.outer_reduced.size());
      for (index_t r = 0; !are_rows && r < nest.outer_reduced.size(); ++r) {
        const auto place = nest.outer_reduced.at(r);
        if (nest.run != 0)  // without elements there may be no memory either
          for (std::size_t k = 0; k < N; ++k)
            data[k] = operands[k].data + base.offsets[k] + place.offsets[k];
        reader.rebase(data);
        T* buffer = buffers[r % radix];
        if (nest.run == 1) {
          rows.add(reader.view(first, n, buffer));
        } else {
          reduce_runs(reduce, reader, first * nest.run, n, nest.run, buffer);
          rows.add(buffer);
        }
      }
      const T* result = rows.finish();
      for_each_piece(nest.out, kept * nest.row + first, n,
                     [&](index_t done, const index_t(&at)[1], index_t count) {
                       scatter_elements(result + done, count, out.data + at[0],
                                        nest.out.inner_stride(0));
                     });
    }
}

/// Reduces a tensor without a prologue.
template <class T>
void reduce_one(const reducer<T>& reduce, const strided<const T>& from, const strided<T>& out,
                std::uint8_t reduced) {
  static constexpr fused::argument<0> itself{};
  reduce_erased<T, 1>(reduce, erase<T, 1>(itself), passes_on<fused::argument<0>, 1>, {from}, out,
                      reduced);
}
}  // namespace detail

/// Reduces a fused tree over the dimensions whose bits are set in `reduced`, and overwrites `out`.
///
/// All views have the extents of the operands; `out` has stride 0 along reduced dimensions.
/// Elements are reduced as a tree that depends only on the extents, and so do the bits; a reduction
/// of no elements gives the identity; max and min propagate NaN.
template <class T, class Tree, std::size_t N>
void run_reduce(reduction kind, const Tree& prologue, const strided<const T> (&operands)[N],
                const strided<T>& out, std::uint8_t reduced) {
  detail::reduce_erased(detail::reducer_of<T>(kind), detail::erase<T, N>(prologue),
                        detail::passes_on<Tree, N>, operands, out, reduced);
}

}  // namespace shardwise
