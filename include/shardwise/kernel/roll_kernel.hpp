// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/copy_kernel.hpp"
#include "shardwise/kernel/kernel_call.hpp"
#include "shardwise/operation/roll.hpp"

namespace shardwise {

/// Two copies: what leaves at the end, and all else.
template <>
struct kernel_of<roll_operation> {
  template <class T>
  static void run(const kernel_call& call) {
    const auto dim = static_cast<int>(call.how.integers[0]);
    const strided<const T> from = call.operands[0].as<const T>();
    if (from.size() == 0) return;
    const index_t size = from.extents[dim];
    // What is moved by nothing may be split.
    const index_t places =
        call.how.integers[1] == 0 ? 0 : (call.how.integers[1] % size + size) % size;
    const auto copy = [&](index_t begin, index_t target, index_t count) {
      strided<const T> source = from;
      strided<T> to = call.results[0].as<T>();
      source.extents[dim] = to.extents[dim] = count;
      advance(source, begin * source.strides[dim]);
      advance(to, target * to.strides[dim]);
      copy_block<T>(source, to);
    };
    copy(0, places, size - places);
    copy(size - places, 0, places);
  }
};

}  // namespace shardwise
