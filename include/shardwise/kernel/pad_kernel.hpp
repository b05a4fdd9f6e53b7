// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/copy_kernel.hpp"
#include "shardwise/kernel/kernel_call.hpp"
#include "shardwise/operation/pad.hpp"

namespace shardwise {

/// A copy to the middle; then, dimension by dimension, the padding before and after it, which reads
/// what has been written already.
template <>
struct kernel_of<pad_operation> {
  template <class T>
  static void run(const kernel_call& call) {
    const strided<const T> from = call.operands[0].as<const T>();
    const strided<T> to = call.results[0].as<T>();
    if (to.size() == 0) return;
    strided<T> middle = to;
    for (int d = 0; d < to.rank(); ++d) {
      middle.extents[d] = from.extents[d];
      advance(middle, call.how.integers[2 * d] * to.strides[d]);
    }
    copy_block<T>(from, middle);
    const T value = call.operands.size() > 1 ? *call.operands[1].as<const T>().data : T{};
    for (int d = 0; d < to.rank(); ++d) {
      const index_t before = call.how.integers[2 * d], size = from.extents[d];
      for (index_t i = 0; i < to.extents[d]; ++i) {
        if (i == before) i += size;
        if (i >= to.extents[d]) break;
        strided<T> row = middle;
        row.extents[d] = 1;
        advance(row, (i - before) * to.strides[d]);
        if (pad_operation::mode(call.how) == pad_mode::constant) {
          fill_block<T>(value, row);
        } else {
          const index_t source =
              pad_operation::source_of(pad_operation::mode(call.how), i - before, size);
          copy_block<T>({middle.data + source * to.strides[d], row.extents, to.strides}, row);
        }
      }
      advance(middle, -before * to.strides[d]);
      middle.extents[d] = to.extents[d];
    }
  }
};

}  // namespace shardwise
