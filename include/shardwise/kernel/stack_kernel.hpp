// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/copy_kernel.hpp"
#include "shardwise/kernel/kernel_call.hpp"
#include "shardwise/operation/stack.hpp"

namespace shardwise {

/// Copies each operand to its position along the new dimension.
template <>
struct kernel_of<stack_operation> {
  static constexpr bool moves_elements = true;

  template <class T>
  static void run(const kernel_call& call) {
    const strided<T> to = call.results[0].as<T>();
    if (to.size() == 0) return;
    strided<T> part{to.data, {}, {}};
    const auto dim = static_cast<int>(call.how.integers[0]);
    for (int d = 0; d < to.rank(); ++d) {
      if (d == dim) continue;
      part.extents.push_back(to.extents[d]);
      part.strides.push_back(to.strides[d]);
    }
    for (const const_any_block& operand : call.operands) {
      copy_block<T>(operand.as<const T>(), part);
      advance(part, to.strides[dim]);
    }
  }
};

}  // namespace shardwise
