// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/view_kernel.hpp"
#include "shardwise/operation/slice.hpp"

namespace shardwise {

/// A copy that begins inside the source and traverses it in steps.
template <>
struct kernel_of<slice_operation> {
  static constexpr bool moves_elements = true;

  template <class T>
  static void run(const kernel_call& call) {
    const auto dim = static_cast<int>(call.how.integers[0]);
    const factor_map& factors = call.rule.operands[0];
    if (call.rule.factors[factors[dim]] != factor_kind::blocked)
      return detail::view_kernel<slice_operation>::run<T>(call);
    const strided<const T> from = call.operands[0].as<const T>();
    const strided<T> to = call.results[0].as<T>();
    if (to.size() == 0) return;
    const strided_range all = slice_operation::range_of(call.how, call.sizes[factors[dim]]);
    const index_t first = all.first + call.made[dim].range.begin * all.step;
    const strided_elements made = slice_operation::elements_from(
        {0, from.extents, from.strides}, dim,
        {first - call.parts[0][dim].range.begin, to.extents[dim], all.step}, to.extents);
    copy_block<T>({from.data + made.offset, made.extents, made.strides}, to);
  }
};

}  // namespace shardwise
