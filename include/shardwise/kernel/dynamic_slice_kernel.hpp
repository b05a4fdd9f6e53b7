// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/copy_kernel.hpp"
#include "shardwise/kernel/index_block.hpp"
#include "shardwise/kernel/kernel_call.hpp"
#include "shardwise/operation/dynamic_slice.hpp"

namespace shardwise {

/// A copy that begins within the source.
template <>
struct kernel_of<dynamic_slice_operation> {
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

/// A copy of the whole, then one of the part to its place.
template <>
struct kernel_of<update_slice_operation> {
  template <class T>
  static void run(const kernel_call& call) {
    const auto dim = static_cast<int>(call.how.integers[0]);
    strided<T> to = call.results[0].as<T>();
    copy_block<T>(call.operands[0].as<const T>(), to);
    const strided<const T> part = call.operands[1].as<const T>();
    const index_t last = to.extents[dim] - part.extents[dim];
    advance(to, detail::clamped_index(call.operands[2], last) * to.strides[dim]);
    to.extents[dim] = part.extents[dim];
    copy_block<T>(part, to);
  }
};

}  // namespace shardwise
