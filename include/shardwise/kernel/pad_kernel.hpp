// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/copy_kernel.hpp"
#include "shardwise/kernel/kernel_call.hpp"
#include "shardwise/operation/pad.hpp"

#include <algorithm>

namespace shardwise {

/// A copy to the middle; then, dimension by dimension, the padding before and after it, which reads
/// what has been written already. Of a split dimension, a device has the part of the middle that
/// its part of the result contains.
template <>
struct kernel_of<pad_operation> {
  static constexpr bool moves_elements = true;

  template <class T>
  static void run(const kernel_call& call) {
    strided<const T> from = call.operands[0].as<const T>();
    const strided<T> to = call.results[0].as<T>();
    if (to.size() == 0) return;
    const pad_mode mode = pad_operation::mode(call.how);
    const T value = call.operands.size() > 1 ? *call.operands[1].as<const T>().data : T{};
    strided<T> middle = to;
    index_t before[max_rank]{};
    for (int d = 0; d < to.rank(); ++d) {
      const index_range part = call.parts[0][d].range, made = call.made[d].range;
      const index_t shift = call.how.integers[2 * d];
      const index_t begin = std::max(part.begin + shift, made.begin);
      const index_t end = std::min(part.end + shift, made.end);
      if (begin >= end) return fill_block<T>(value, to);
      before[d] = begin - made.begin;
      advance(from, (begin - shift - part.begin) * from.strides[d]);
      advance(middle, before[d] * to.strides[d]);
      from.extents[d] = middle.extents[d] = end - begin;
    }
    copy_block<T>(from, middle);
    for (int d = 0; d < to.rank(); ++d) {
      const index_t size = from.extents[d];
      for (index_t i = 0; i < to.extents[d]; ++i) {
        if (i == before[d]) i += size;
        if (i >= to.extents[d]) break;
        strided<T> row = middle;
        row.extents[d] = 1;
        advance(row, (i - before[d]) * to.strides[d]);
        if (mode == pad_mode::constant) {
          fill_block<T>(value, row);
        } else {
          const index_t source = pad_operation::source_of(mode, i - before[d], size);
          copy_block<T>({middle.data + source * to.strides[d], row.extents, to.strides}, row);
        }
      }
      advance(middle, -before[d] * to.strides[d]);
      middle.extents[d] = to.extents[d];
    }
  }
};

}  // namespace shardwise
