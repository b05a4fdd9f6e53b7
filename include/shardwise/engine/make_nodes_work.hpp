// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/engine/make_nodes.hpp"
#include "shardwise/engine/new_nodes.hpp"

#include <memory>
#include <utility>

namespace shardwise {

namespace internal {

SHARDWISE_INLINE std::uint64_t next_sequence() noexcept { return pending_node::next_sequence(); }

SHARDWISE_INLINE void require_one_pool(const std::shared_ptr<pool_state>& home,
                                       const node_ptr& operand) {
  if (operand->home() != home) fail({.rule = violation::operand_pools_differ});
}

SHARDWISE_INLINE node_ptr make_each_node(std::span<node_ptr> operands, const tensor_desc& result,
                                         const element_kernels& elements, const operation& what,
                                         const operation_kernel& kernel,
                                         const number_operands& numbers) {
  const auto made = new_node(operands[0]->home(), operands, result, elements, what);
  made->work().kernel = kernel;
  for (const number_operand& each : numbers) made->work().numbers.push_back(each);
  made->wait_for(operands);
  return made;
}

SHARDWISE_INLINE node_ptr make_whole_node(std::span<node_ptr> operands,
                                          const applied_operation& does, const factor_rule& rule,
                                          const propagation& split, const element_kernels& elements,
                                          kernel_finder find) {
  inplace_vector<element, max_operands> types;
  for (const node_ptr& operand : operands) {
    require_one_pool(operands[0]->home(), operand);
    types.push_back(operand->tensor().type);
  }
  const auto made = new_node(operands[0]->home(), operands, split.result, elements, *does.what);
  made->work().kernel = find({types.begin(), types.size()}, split.result.type);
  made->work().split_as(std::make_shared<call_details>(does.how, rule, split));
  made->wait_for(operands);
  return made;
}

SHARDWISE_INLINE node_ptr make_loop_node(std::span<node_ptr> operands, const tensor_desc& result,
                                         const element_kernels& elements, const operation& what,
                                         call_details_ptr details, compiled_loop loop,
                                         std::uint64_t sequence) {
  const auto made = new_node(operands[0]->home(), operands, result, elements, what, sequence);
  made->work().loop = std::move(loop);
  if (details != nullptr) made->work().split_as(std::move(details));
  made->wait_for(operands);
  return made;
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
  return filled_node(like->home(), like->share_where(), number);
}

SHARDWISE_INLINE node_ptr argument_node_of(const node_ptr& real) {
  real->arrive();
  return valueless_node(*real, real->share_where());
}
SHARDWISE_INLINE node_ptr element_node_of(const node_ptr& real, const tensor_desc& each) {
  real->arrive();
  return valueless_node(*real, real->home()->place(each));
}
SHARDWISE_INLINE node_ptr cotangent_node_of(const node_ptr& of, const layout_desc& layout) {
  tensor_desc tensor = of->tensor();
  tensor.layout = layout;
  return element_node_of(of, tensor);
}

}  // namespace internal

SHARDWISE_INLINE node_ptr collective_node_of(node_ptr from, const applied_operation& does,
                                             const tensor_desc& result) {
  const element_kernels& elements = from->elements();
  return internal::moving_node(std::move(from), does, result, elements,
                               &internal::make_collective_run);
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
  return internal::moving_node(std::move(operation),
                               {&operation_of<result_operation>, result_operation::how(which)},
                               result, elements, nullptr);
}

}  // namespace shardwise
