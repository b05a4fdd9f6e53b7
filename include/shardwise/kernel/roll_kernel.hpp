// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/copy_kernel.hpp"
#include "shardwise/kernel/kernel_call.hpp"
#include "shardwise/operation/roll.hpp"

namespace shardwise {

/// Two copies: the elements that wrap around, and all others.
template <>
struct kernel_of<roll_operation> {
  static constexpr bool moves_elements = true;

  template <class T>
  static void run(const kernel_call& call) {
    const auto dim = static_cast<int>(call.how.integers[0]);
    const strided<const T> from = call.operands[0].as<const T>();
    if (from.size() == 0) return;
    const index_t size = from.extents[dim];
    // A dimension that is moved by nothing or by whole turns may be split.
    const bool moves = call.rule.factors[dim] == factor_kind::permutation;
    const index_t places = moves ? (call.how.integers[1] % size + size) % size : 0;
    if (is_dense_from(from, dim) && is_dense_from(call.results[0], dim))
      return copy_lines(from, call.results[0].as<T>(), dim, places);
    const auto copy = [&](index_t begin, index_t target, index_t count) {
      strided<const T> source = from;
      strided<T> to = call.results[0].as<T>();
      source.extents[dim] = to.extents[dim] = count;
      advance(source, begin * source.strides[dim]);
      advance(to, target * to.strides[dim]);
      copy_block<T>(source, to);
    };
    copy(0, places, size - places);
    copy(size - places, 0, places);
  }

 private:
  /// Returns true if the dimensions of a block from `dim` on are contiguous and row-major.
  template <class Block>
  [[nodiscard]] static bool is_dense_from(const Block& block, int dim) noexcept {
    index_t step = 1;
    for (int d = block.rank() - 1; d >= dim; step *= block.extents[d--])
      if (block.extents[d] != 1 && block.strides[d] != step) return false;
    return true;
  }
  /// Both copies line by line, where a line is the longest contiguous part.
  template <class T>
  static void copy_lines(const strided<const T>& from, const strided<T>& to, int dim,
                         index_t places) noexcept {
    loop_nest<2> lines;
    index_t behind = 1;
    for (int d = 0; d < dim; ++d) lines.push({to.extents[d], {from.strides[d], to.strides[d]}});
    for (int d = dim + 1; d < to.rank(); ++d) behind *= to.extents[d];
    const index_t first = (to.extents[dim] - places) * behind, second = places * behind;
    for (index_t i = 0; i < lines.size(); ++i) {
      const auto at = lines.at(i);
      const T* const source = from.data + at.offsets[0];
      T* const target = to.data + at.offsets[1];
      gather_elements(source + first, 1, second, target);
      gather_elements(source, 1, first, target + second);
    }
  }
};

}  // namespace shardwise
