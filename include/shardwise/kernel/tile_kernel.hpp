// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/copy_kernel.hpp"
#include "shardwise/kernel/kernel_call.hpp"
#include "shardwise/operation/tile.hpp"

namespace shardwise {

/// Copies the tensor once for each number of a copy, along all dimensions.
template <>
struct kernel_of<tile_operation> {
  static constexpr bool moves_elements = true;

  template <class T>
  static void run(const kernel_call& call) {
    const strided<T> to = call.results[0].as<T>();
    if (to.size() == 0) return;
    const strided<const T> operand = call.operands[0].as<const T>();
    const int added = to.rank() - operand.rank();
    strided<const T> from{operand.data, {}, {}};
    strided<T> tile{to.data, {}, to.strides};
    loop_nest<1> copies;
    for (int d = 0; d < to.rank(); ++d) {
      const index_t count = tile_operation::count_along(call.how, d, to.rank());
      const index_t size = d < added ? 1 : operand.extents[d - added];
      // A single element is repeated by a copy whose source does not move.
      const bool stands_still = size == 1 && count != 1;
      from.extents.push_back(stands_still ? count : size);
      from.strides.push_back(stands_still || d < added ? 0 : operand.strides[d - added]);
      tile.extents.push_back(from.extents[d]);
      if (!stands_still) copies.push({count, {size * to.strides[d]}});
    }
    for (index_t i = 0; i < copies.size(); ++i) {
      strided<T> here = tile;
      advance(here, copies.at(i).offsets[0]);
      copy_block<T>(from, here);
    }
  }
};

/// Copies each element along its row, or the tensor once for each number of a copy, whichever needs
/// fewer copies.
template <>
struct kernel_of<repeat_operation> {
  static constexpr bool moves_elements = true;

  template <class T>
  static void run(const kernel_call& call) {
    const auto dim = static_cast<int>(call.how.integers[0]);
    const index_t count = call.how.integers[1];
    const strided<const T> from = call.operands[0].as<const T>();
    const strided<T> to = call.results[0].as<T>();
    if (to.size() == 0) return;
    const index_t size = from.extents[dim];
    const bool by_element = size < count;
    for (index_t i = 0; i < (by_element ? size : count); ++i) {
      strided<const T> source = from;
      strided<T> target = to;
      advance(target, i * to.strides[dim] * (by_element ? count : 1));
      if (by_element) {
        advance(source, i * from.strides[dim]);
        source.extents[dim] = target.extents[dim] = count;
        source.strides[dim] = 0;
      } else {
        target.extents[dim] = size;
        target.strides[dim] = count * to.strides[dim];
      }
      copy_block<T>(source, target);
    }
  }
};

}  // namespace shardwise
