// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/runtime/argument_node.hpp"
#include "shardwise/runtime/collective_node.hpp"
#include "shardwise/runtime/each_node.hpp"
#include "shardwise/runtime/fill_node.hpp"
#include "shardwise/runtime/make_nodes.hpp"
#include "shardwise/runtime/result_node.hpp"
#include "shardwise/runtime/whole_node.hpp"

#include <memory>
#include <utility>

namespace shardwise {

namespace detail {

SHARDWISE_INLINE std::uint64_t next_sequence() noexcept {
  return pending_computation::next_sequence();
}

SHARDWISE_INLINE void require_one_pool(const std::shared_ptr<pool_state>& home,
                                       const node_ptr& operand) {
  if (operand->home() != home) fail({.rule = violation::operand_pools_differ});
}

SHARDWISE_INLINE node_ptr make_each_node(std::span<node_ptr> operands, const tensor_desc& result,
                                         const element_kernels& elements, const operation& what,
                                         const operation_kernel& kernel,
                                         const number_operands& numbers) {
  return make_pending<each_node>(operands, result, elements, what, kernel.each, numbers,
                                 kernel.enter_gradient);
}

SHARDWISE_INLINE node_ptr make_whole_node(std::span<node_ptr> operands,
                                          const applied_operation& does, const factor_rule& rule,
                                          const propagation& split, const element_kernels& elements,
                                          kernel_finder find) {
  tensor_descs known;
  inplace_vector<element, max_operands> types;
  for (const node_ptr& operand : operands) {
    require_one_pool(operands[0]->home(), operand);
    known.push_back(operand->tensor());
    types.push_back(operand->tensor().type);
  }
  const operation_kernel kernel = find({types.begin(), types.size()}, split.result.type);
  operation_cost cost;
  if (does.what->cost != nullptr)
    cost = does.what->cost(operands[0]->where().mesh(), does.how, known, split.result);
  return make_pending<whole_node>(operands, split.result, elements, does, kernel.whole, rule, split,
                                  cost, kernel.further, kernel.enter_gradient);
}

SHARDWISE_INLINE node_ptr number_node(const std::shared_ptr<pool_state>& home,
                                      const attributes& number, const tensor_desc& tensor,
                                      const element_kernels& elements) {
  auto made = std::make_shared<tensor_node>(home, home->place(tensor), elements);
  made->allocate(home->storage(), home->memory());
  with_number(number, tensor.type, [&](auto value) {
    for (index_t i = 0; i < made->where().count_here(); ++i)
      elements.store(&value, 1, made->writable_data<std::byte>(made->where().shard_here(i)));
  });
  made->set_ready();
  return made;
}

SHARDWISE_INLINE node_ptr fill_node_of(const node_ptr& like, const attributes& number) {
  const element type = like->tensor().type;
  return std::make_shared<fill_node>(
      like->home(), like->share_where(), like->elements(), number,
      kernel_table::instance().find(operation_of<pointwise<functions::identity>>,
                                    types_key({&type, 1}, type)));
}

SHARDWISE_INLINE node_ptr argument_node_of(const node_ptr& real) {
  real->arrive();
  return std::make_shared<argument_node>(*real);
}
SHARDWISE_INLINE node_ptr element_node_of(const node_ptr& real, const tensor_desc& each) {
  real->arrive();
  return std::make_shared<argument_node>(*real, real->home()->place(each));
}
SHARDWISE_INLINE node_ptr cotangent_node_of(const node_ptr& of, const layout_desc& layout) {
  tensor_desc tensor = of->tensor();
  tensor.layout = layout;
  return element_node_of(of, tensor);
}

}  // namespace detail

SHARDWISE_INLINE node_ptr collective_node_of(node_ptr from, const applied_operation& does,
                                             const tensor_desc& result) {
  const mesh_desc& mesh = from->home()->mesh();
  const operation_cost cost = does.what->cost(mesh, does.how, {from->tensor()}, result);
  const element_kernels& elements = from->elements();
  return make_pending<collective_node>({&from, 1}, result, elements, does, cost);
}

SHARDWISE_INLINE node_ptr reshard_node_of(node_ptr from, const layout_desc& target) {
  if (node_ptr placed = from->placed_as(target)) return placed;
  const mesh_desc& mesh = from->home()->mesh();
  const redistribution way = redistribute(mesh, from->tensor(), target);
  require(way.verdict);
  for (const planned_transfer& moved : way.moves) {
    tensor_desc result = from->tensor();
    result.layout = moved.after;
    const applied_operation does{&operation_of<collective_operation>,
                                 collective_operation::how(from->tensor(), moved)};
    from = collective_node_of(std::move(from), does, result);
  }
  return from;
}

SHARDWISE_INLINE node_ptr manual_node_of(node_ptr from, const tensor_desc& result) {
  if (from->tensor() == result) return from;
  return collective_node_of(std::move(from), manual_change(result), result);
}

SHARDWISE_INLINE node_ptr result_node_of(node_ptr operation, int which,
                                         const element_kernels& elements) {
  tensor_desc result = operation->tensor();
  result.type = elements.type;
  return make_pending<result_node>({&operation, 1}, result, elements, which);
}

}  // namespace shardwise
