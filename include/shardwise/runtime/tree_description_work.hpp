// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/runtime/described_pass.hpp"
#include "shardwise/runtime/each_node.hpp"
#include "shardwise/runtime/tree_description.hpp"

#include <utility>

namespace shardwise::detail {

SHARDWISE_INLINE value_id tree_description::describe(described_program& to,
                                                     std::span<const value_id> read) const {
  std::vector<value_id> values(read.begin(), read.end());
  for (const part& next : parts_) {
    if (next.what == nullptr) {
      values.push_back(to.code().append(operation_of<constant_operation>, next.number, {},
                                        {elements_->type, {}, {}}));
      continue;
    }
    value_ids operands;
    for (int o : next.operands) operands.push_back(values[static_cast<std::size_t>(o)]);
    values.push_back(to.computed_by(to.code().emit(*next.what, {}, operands), next.kernel));
  }
  return values.back();
}

SHARDWISE_INLINE void tree_description::run(std::span<const const_any_block> read,
                                            const any_block& out) const {
  pass_program pass;
  std::vector<int> slots;
  slots.reserve(static_cast<std::size_t>(reads_) + parts_.size());
  for (int k = 0; k < reads_; ++k) slots.push_back(pass.read(*elements_));
  for (const part& next : parts_) {
    if (next.what == nullptr) {
      slots.push_back(number_slot(pass, next.number, elements_->type));
      continue;
    }
    int operands[pass_order::most_operands];
    std::size_t count = 0;
    for (int o : next.operands) operands[count++] = slots[static_cast<std::size_t>(o)];
    slots.push_back(pass.apply(next.kernel.each, {operands, count}, elements_->type));
  }
  pass.write(*elements_);
  pass.run(read, out);
}

SHARDWISE_INLINE int tree_description::enter(const part& made) {
  parts_.push_back(made);
  return reads_ + static_cast<int>(parts_.size()) - 1;
}

SHARDWISE_INLINE node_ptr make_described_pass(std::span<node_ptr> operands,
                                              const tensor_desc& result,
                                              const element_kernels& elements,
                                              std::uint64_t sequence, tree_description tree,
                                              index_t flops) {
  return make_pending<described_pass>(operands, result, elements, sequence, std::move(tree), flops);
}

SHARDWISE_INLINE node_ptr make_described_fold(std::span<node_ptr> operands,
                                              const tensor_desc& result,
                                              const element_kernels& elements,
                                              const attributes& how, const operation_cost& cost,
                                              tree_description tree, structured_kernel kernel,
                                              const tensor_desc& folded) {
  return make_pending<described_fold>(operands, result, elements, how, cost, std::move(tree),
                                      kernel, folded);
}

}  // namespace shardwise::detail
