// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/copy_kernel.hpp"
#include "shardwise/kernel/kernel_call.hpp"
#include "shardwise/operation/concatenate.hpp"

namespace shardwise {

/// Copies each operand to its part of the result.
template <>
struct kernel_of<concatenate_operation> {
  static constexpr bool moves_elements = true;

  template <class T>
  static void run(const kernel_call& call) {
    const auto dim = static_cast<int>(call.how.integers[0]);
    strided<T> to = call.results[0].as<T>();
    if (to.size() == 0) return;
    for (const const_any_block& operand : call.operands) {
      to.extents[dim] = operand.extents[dim];
      copy_block<T>(operand.as<const T>(), to);
      advance(to, operand.extents[dim] * to.strides[dim]);
    }
  }
};

}  // namespace shardwise
