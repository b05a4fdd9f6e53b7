// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/copy_kernel.hpp"
#include "shardwise/kernel/kernel_call.hpp"
#include "shardwise/operation/reshape.hpp"

namespace shardwise {

/// A copy, unless the result is a view of the operand's memory: each device has the same elements
/// before and after, in the same order, and results are contiguous.
template <>
struct kernel_of<reshape_operation> {
  static constexpr bool moves_elements = true;

  template <class T>
  static void run(const kernel_call& call) {
    const strided<const T> from = call.operands[0].as<const T>();
    if (call.operands[0].data == call.results[0].data) return;
    copy_block<T>(from, {call.results[0].as<T>().data, from.extents, row_major(from.extents)});
  }
};

}  // namespace shardwise
