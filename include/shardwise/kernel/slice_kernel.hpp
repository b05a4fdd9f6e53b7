// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/copy_kernel.hpp"
#include "shardwise/kernel/kernel_call.hpp"
#include "shardwise/operation/slice.hpp"

namespace shardwise {

/// A copy that begins inside the source and traverses it in steps.
template <>
struct kernel_of<slice_operation> {
  template <class T>
  static void run(const kernel_call& call) {
    const auto dim = static_cast<int>(call.how.integers[0]);
    const strided<const T> from = call.operands[0].as<const T>();
    const strided<T> to = call.results[0].as<T>();
    if (to.size() == 0) return;
    // A dimension that may be split is taken as a whole.
    strided_range range{0, from.extents[dim], 1};
    if (call.rule.factors[call.rule.operands[0][dim]] == factor_kind::need_replication)
      range = slice_operation::range_of(call.how, from.extents[dim]);
    strided<const T> source{from.data + range.first * from.strides[dim], {}, {}};
    for (int d = 0; d < from.rank(); ++d) {
      if (d == dim && to.rank() < from.rank()) continue;
      source.extents.push_back(d == dim ? range.count : from.extents[d]);
      source.strides.push_back(from.strides[d] * (d == dim ? range.step : 1));
    }
    copy_block<T>(source, to);
  }
};

}  // namespace shardwise
