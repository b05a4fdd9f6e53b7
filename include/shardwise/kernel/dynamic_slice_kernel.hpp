// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/copy_kernel.hpp"
#include "shardwise/kernel/index_block.hpp"
#include "shardwise/kernel/kernel_call.hpp"
#include "shardwise/operation/dynamic_slice.hpp"

#include <algorithm>

namespace shardwise {

/// A copy that begins inside the source.
template <>
struct kernel_of<dynamic_slice_operation> {
  static constexpr bool moves_elements = true;

  template <class T>
  static void run(const kernel_call& call) {
    const auto dim = static_cast<int>(call.how.integers[0]);
    const strided<T> to = call.results[0].as<T>();
    strided<const T> from = call.operands[0].as<const T>();
    const index_t last = from.extents[dim] - to.extents[dim];
    advance(from, detail::clamped_index(call.operands[1], last) * from.strides[dim]);
    from.extents[dim] = to.extents[dim];
    copy_block<T>(from, to);
  }
};

/// Copies the shard, unless the result shares its memory, and then the device's piece of the part
/// to its position.
template <>
struct kernel_of<update_slice_operation> {
  static constexpr bool moves_elements = true;

  template <class T>
  static void run(const kernel_call& call) {
    const auto dim = static_cast<int>(call.how.integers[0]);
    const strided<T> to = call.results[0].as<T>();
    const strided<const T> part = call.operands[1].as<const T>();
    const index_t count = part.extents[dim];
    const index_t size = call.sizes[call.rule.operands[0][dim]];
    const index_t begin = detail::clamped_index(call.operands[2], size - count);
    if (update_slice_operation::refuses(call.how))
      if (const index_t wanted = detail::index_of(call.operands[2]); wanted != begin)
        fail({.rule = violation::part_is_beyond_end,
              .dim = dim,
              .have = wanted < 0 ? wanted : size_sum(wanted, count),
              .want = size});
    if (call.operands[0].data != call.results[0].data)
      copy_block<T>(call.operands[0].as<const T>(), to);
    const held_range& held = call.parts[0][dim];
    // Writes contiguous elements of the device, beginning at element `first` of the part and at
    // `local` of the block.
    const auto write = [&](index_t first, index_t local, index_t run) {
      strided<const T> from = part;
      strided<T> place = to;
      advance(from, first * from.strides[dim]);
      advance(place, local * place.strides[dim]);
      from.extents[dim] = place.extents[dim] = run;
      copy_block<T>(from, place);
    };
    if (held.split.how.is_contiguous()) {
      const index_t first = std::max(begin, held.range.begin);
      const index_t end = std::min(begin + count, held.range.end);
      if (first < end) write(first - begin, first - held.range.begin, end - first);
      return;
    }
    for (index_t i = 0; i < count; ++i)
      if (const grained_split::place at = held.split.find(begin + i); at.position == held.position)
        write(i, at.local, 1);
  }
};

}  // namespace shardwise
