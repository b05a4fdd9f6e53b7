// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/fourier_line.hpp"
#include "shardwise/kernel/loop_nest.hpp"
#include "shardwise/kernel/strided.hpp"

#include <algorithm>
#include <cstddef>

namespace shardwise::detail {

/// Lines of a block along one dimension, transformed several at a time: as many as a packet has
/// lanes, or one after the other if they are too long for the cache. The number depends only on the
/// length, so that the bits of a line do not depend on how many lines a device has.
template <class T>
class fourier_lines {
 public:
  /// For lines of `length` complex numbers in memory, of which `transformed` are transformed.
  fourier_lines(index_t length, index_t transformed)
      : lanes_(length <= longest
                   ? static_cast<index_t>(sizeof(typename vector_of<T>::type) / sizeof(T))
                   : 1),
        line_(transformed, lanes_),
        memory_(make_scratch<T>(static_cast<std::size_t>(2 * length * lanes_))),
        parts_{memory_.get(), memory_.get() + length * lanes_} {}

  /// Calls `read(offset, lane)` for each line, transforms the lines, and calls `write(offset, lane,
  /// results)`. The offsets are those of two blocks.
  template <class Read, class Write>
  void run(const loop_nest<2>& nest, bool is_inverse, const Read& read, const Write& write) {
    for (index_t first = 0; first < nest.size(); first += lanes_) {
      const index_t count = std::min(lanes_, nest.size() - first);
      if (count < lanes_) std::fill(parts_.re, parts_.im + (parts_.im - parts_.re), T{0});
      loop_nest<2>::position at[most_lanes];
      for (index_t b = 0; b < count; ++b) {
        at[b] = nest.at(first + b);
        read(at[b].offsets[0], b, parts_);
      }
      const complex_parts<T> made =
          is_inverse ? line_.run(parts_.swapped()).swapped() : line_.run(parts_);
      for (index_t b = 0; b < count; ++b) write(at[b].offsets[1], b, made);
    }
  }
  /// The number of lines at a time.
  [[nodiscard]] index_t lanes() const noexcept { return lanes_; }

 private:
  static constexpr index_t longest = 4096;
  static constexpr std::size_t most_lanes = 64 / sizeof(T);

  index_t lanes_;
  fourier_line<T> line_;
  scratch_array<T> memory_;
  complex_parts<T> parts_;
};

/// Returns the loops over the lines along dimension `dim` of two blocks that have their first
/// `rank` dimensions in common.
template <class A, class B>
[[nodiscard]] loop_nest<2> lines_along(int dim, int rank, const A& from, const B& to) noexcept {
  loop_nest<2> nest;
  for (int d = 0; d < rank; ++d)
    if (d != dim) nest.push({from.extents[d], {from.strides[d], to.strides[d]}});
  return nest;
}
/// Returns the address of an element; blocks without elements may have no memory.
template <class T>
[[nodiscard]] T* element_at(const strided<T>& block, index_t offset) noexcept {
  return block.size() == 0 ? block.data : block.data + offset;
}

/// Transforms complex numbers along one dimension, from one block to another or within it.
template <class T>
void transform_pairs(const strided<const T>& from, const strided<T>& to, int dim, bool is_inverse,
                     T factor) {
  const int pairs = from.rank() - 1;
  const index_t length = from.extents[dim];
  if (from.size() == 0) return;
  fourier_lines<T> lines(length, length);
  const index_t lanes = lines.lanes();
  const index_t step = from.strides[dim], other = from.strides[pairs];
  const index_t move = to.strides[dim], beside = to.strides[pairs];
  lines.run(
      lines_along(dim, pairs, from, to), is_inverse,
      [&](index_t offset, index_t lane, const complex_parts<T>& line) {
        const T* const x = from.data + offset;
        for (index_t j = 0; j < length; ++j) {
          line.re[j * lanes + lane] = x[j * step];
          line.im[j * lanes + lane] = x[j * step + other];
        }
      },
      [&](index_t offset, index_t lane, const complex_parts<T>& line) {
        T* const y = to.data + offset;
        for (index_t j = 0; j < length; ++j) {
          y[j * move] = line.re[j * lanes + lane] * factor;
          y[j * move + beside] = line.im[j * lanes + lane] * factor;
        }
      });
}

}  // namespace shardwise::detail
