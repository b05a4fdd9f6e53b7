// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/copy_kernel.hpp"
#include "shardwise/kernel/kernel_call.hpp"
#include "shardwise/operation/full_like.hpp"

namespace shardwise {

/// The elements of the first operand are not read.
template <>
struct kernel_of<full_like_operation> {
  template <class T>
  static void run(const kernel_call& call) {
    const strided<T> to = call.results[0].as<T>();
    if (to.size() > 0) fill_block<T>(*call.operands[1].as<const T>().data, to);
  }
};

}  // namespace shardwise
