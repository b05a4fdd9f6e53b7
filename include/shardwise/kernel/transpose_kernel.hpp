// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/kernel_call.hpp"
#include "shardwise/operation/transpose.hpp"

namespace shardwise {

/// A copy whose source is traversed in the order of the result's dimensions.
template <>
struct kernel_of<transpose_operation> {
  template <class T>
  static void run(const kernel_call& call) {
    const strided<const T> from = call.operands[0].as<const T>();
    strided<const T> turned{from.data, {}, {}};
    for (index_t d : call.how.integers) {
      turned.extents.push_back(from.extents[d]);
      turned.strides.push_back(from.strides[d]);
    }
    copy_block<T>(turned, call.results[0].as<T>());
  }
};

}  // namespace shardwise
