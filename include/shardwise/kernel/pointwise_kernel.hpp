// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/fused_reader.hpp"

#include <algorithm>
#include <cstddef>

namespace shardwise {

namespace detail {
/// `run_pointwise` of a tree without its type.
template <class T, std::size_t N>
void run_erased(const erased_tree<T, N>& tree, const strided<const T> (&operands)[N],
                const strided<T>& out) {
  loop_nest<N> inputs;
  loop_nest<1> output;
  const T* data[N];
  for (std::size_t k = 0; k < N; ++k) data[k] = operands[k].data;
  for (int d : by_stride(out.strides)) {
    typename loop_nest<N>::loop loop{out.extents[d], {}};
    for (std::size_t k = 0; k < N; ++k) loop.strides[k] = operands[k].strides[d];
    inputs.push(loop);
    output.push({out.extents[d], {out.strides[d]}});
  }
  const fused_reader<T, N> reader(tree, false, data, inputs);
  const index_t stride = output.inner_stride(0);
  if (stride == 1) {
    // If adjacent elements of an operand are far apart, columns of blocks reuse its cache lines.
    const bool by_column = reader.gathers() && inputs.inner_extent() < output.size();
    const index_t row =
        by_column ? std::min(inputs.inner_extent(), output.inner_extent()) : output.inner_extent();
    const index_t width = by_column ? staged : row;
    for (index_t column = 0; column < row; column += width)
      for (index_t first = column; first < output.size(); first += row)
        reader.read(first, std::min(width, row - column), out.data + output.at(first).offsets[0]);
    return;
  }
  T buffer[staged];
  for (index_t first = 0; first < output.size();) {
    const index_t run = std::min(staged, output.size() - first);
    reader.read(first, run, buffer);
    for_each_piece(output, first, run, [&](index_t done, const index_t(&at)[1], index_t n) {
      scatter_elements(buffer + done, n, out.data + at[0], stride);
    });
    first += run;
  }
}
}  // namespace detail

/// Computes a fused tree for every element in one pass. All views have the same extents; stride 0
/// repeats an element of an operand. `out` may be one of the operands, with the same strides.
///
/// The bits of an element depend only on its operands, not on its position. Exceptions of a user's
/// own kernels are propagated.
template <class T, class Tree, std::size_t N>
void run_pointwise(const Tree& tree, const strided<const T> (&operands)[N], const strided<T>& out) {
  detail::run_erased(detail::erase<T, N>(tree), operands, out);
}

}  // namespace shardwise
