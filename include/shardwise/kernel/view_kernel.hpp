// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/copy_kernel.hpp"
#include "shardwise/kernel/kernel_call.hpp"

namespace shardwise::detail {

/// The kernel of an operation whose result is a view of its operand: a copy of the view, for
/// readers that cannot read the operand in place.
template <class Operation>
struct view_kernel {
  static constexpr bool moves_elements = true;

  template <class T>
  static void run(const kernel_call& call) {
    const strided<const T> from = call.operands[0].as<const T>();
    const strided<T> to = call.results[0].as<T>();
    if (to.size() == 0) return;
    const strided_elements made =
        Operation::view(call.how, call.rule, {0, from.extents, from.strides}, to.extents);
    copy_block<T>({from.data + made.offset, made.extents, made.strides}, to);
  }
};

}  // namespace shardwise::detail
