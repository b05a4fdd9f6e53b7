// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/engine/collective_run.hpp"
#include "shardwise/engine/pending_node.hpp"

#include <memory>
#include <utility>

namespace shardwise::internal {

/// Returns a node like another that has no value: a placeholder, or a variable that is lost.
[[nodiscard]] inline std::shared_ptr<pending_node> valueless_node(const tensor_node& like,
                                                                  shard_table_ptr where) {
  return std::make_shared<pending_node>(like.home(), std::move(where), like.elements(),
                                        operation_of<input_operation>);
}

/// Returns a node that is filled with a number when something reads it.
[[nodiscard]] inline std::shared_ptr<pending_node> filled_node(
    const std::shared_ptr<pool_state>& home, shard_table_ptr where, const attributes& number) {
  const element type = where->tensor().type;
  const operation& what = operation_of<pointwise<functions::identity>>;
  const operation_kernel kernel = kernel_table::instance().find(what, types_key({&type, 1}, type));
  auto made = std::make_shared<pending_node>(home, std::move(where), *kernel.elements, what);
  made->work().kernel = kernel;
  made->work().numbers.push_back(number_operand_of(number, type));
  return made;
}

/// Creates the node of an operation that moves elements, which have the kernels `elements`.
[[nodiscard]] inline node_ptr moving_node(node_ptr from, const applied_operation& does,
                                          const tensor_desc& result,
                                          const element_kernels& elements,
                                          moving_step_maker moves) {
  const auto made = new_node(from->home(), {&from, 1}, result, elements, *does.what);
  made->work().moves = moves;
  made->work().how = std::make_shared<const attributes>(does.how);
  made->wait_for({&from, 1});
  return made;
}

}  // namespace shardwise::internal
