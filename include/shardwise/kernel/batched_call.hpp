// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/kernel_call.hpp"
#include "shardwise/rule/batch.hpp"

namespace shardwise::detail {

/// Returns the block without its first dimension.
template <class Block>
[[nodiscard]] Block block_of_each(const Block& whole) noexcept {
  Block each = whole;
  each.extents.clear();
  each.strides.clear();
  for (int d = 1; d < whole.rank(); ++d) {
    each.extents.push_back(whole.extents[d]);
    each.strides.push_back(whole.strides[d]);
  }
  return each;
}
[[nodiscard]] inline held_box part_of_each(const held_box& whole) noexcept {
  held_box each;
  for (int d = 1; d < whole.ssize(); ++d) each.push_back(whole[d]);
  return each;
}

}  // namespace shardwise::detail

namespace shardwise::internal {

/// Calls the kernel of an operation once or, for a batch, once for each element on the device.
inline void call_batched(const structured_kernel& kernel, const kernel_call& call) {
  if (call.how.batches.empty()) return kernel(call);
  const unsigned mapped = call.how.batches[0];
  const factor_rule rule = rule_of_each(call.rule, mapped);
  attributes how = call.how;
  how.batches.clear();
  for (int b = 1; b < call.how.batches.ssize(); ++b) how.batches.push_back(call.how.batches[b]);
  factor_sizes sizes = call.sizes;
  sizes.pop_back();
  const held_box made = part_of_each(call.made);

  const std::size_t count = call.operands.size();
  const_any_block operands[max_operands];
  held_box parts[max_operands];
  index_t steps[max_operands]{};
  for (std::size_t k = 0; k < count; ++k) {
    const bool is_mapped = (mapped >> k & 1U) != 0;
    operands[k] = is_mapped ? block_of_each(call.operands[k]) : call.operands[k];
    parts[k] = is_mapped ? part_of_each(call.parts[k]) : call.parts[k];
    if (is_mapped) steps[k] = call.operands[k].strides[0];
  }
  any_block results[max_results];
  for (std::size_t r = 0; r < call.results.size(); ++r) results[r] = block_of_each(call.results[r]);

  for (index_t i = 0; i < call.results[0].extents[0]; ++i) {
    call_batched(kernel, {how,
                          rule,
                          {operands, count},
                          {parts, count},
                          {results, call.results.size()},
                          sizes,
                          made});
    for (std::size_t k = 0; k < count; ++k) advance(operands[k], steps[k]);
    for (std::size_t r = 0; r < call.results.size(); ++r)
      advance(results[r], call.results[r].strides[0]);
  }
}

}  // namespace shardwise::internal
