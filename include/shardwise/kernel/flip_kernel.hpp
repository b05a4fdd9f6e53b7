// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/copy_kernel.hpp"
#include "shardwise/kernel/kernel_call.hpp"
#include "shardwise/operation/flip.hpp"

namespace shardwise {

/// A copy whose source is traversed backwards along some dimensions.
template <>
struct kernel_of<flip_operation> {
  template <class T>
  static void run(const kernel_call& call) {
    strided<const T> from = call.operands[0].as<const T>();
    if (from.size() == 0) return;
    // A dimension that is listed twice is reversed once.
    const unsigned flipped = over(call.how.integers).bits();
    for (int d = 0; d < from.rank(); ++d) {
      if ((flipped >> d & 1U) == 0) continue;
      from.data += (from.extents[d] - 1) * from.strides[d];
      from.strides[d] = -from.strides[d];
    }
    copy_block<T>(from, call.results[0].as<T>());
  }
};

}  // namespace shardwise
