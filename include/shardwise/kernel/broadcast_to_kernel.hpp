// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/copy_kernel.hpp"
#include "shardwise/kernel/kernel_call.hpp"
#include "shardwise/operation/broadcast_to.hpp"

namespace shardwise {

/// A copy whose source does not move along broadcast dimensions.
template <>
struct kernel_of<broadcast_to_operation> {
  template <class T>
  static void run(const kernel_call& call) {
    const strided<const T> from = call.operands[0].as<const T>();
    const strided<T> to = call.results[0].as<T>();
    strided<const T> spread{from.data, to.extents, {}};
    const int added = to.rank() - from.rank();
    for (int d = 0; d < to.rank(); ++d) {
      const bool repeats = d < added || call.rule.operands[0][d - added] == repeated;
      spread.strides.push_back(repeats ? 0 : from.strides[d - added]);
    }
    copy_block<T>(spread, to);
  }
};

}  // namespace shardwise
