// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/runtime/any_operations.hpp"

#include <cstddef>
#include <utility>

namespace shardwise::detail {

/// Applies a rule to values, or reports the error with the operands and the suggested reshard.
[[nodiscard]] inline propagation apply_rule(const mesh_desc& mesh, const factor_rule& rule,
                                            const tensor_descs& operands,
                                            across_permission call = {}) {
  propagation out = propagate(mesh, rule, operands);
  if (!out.verdict.ok()) fail(out.verdict, advice(mesh, rule, operands, out.verdict, call));
  return out;
}

/// Gathers operands over permitted axes as far as a rule requires it.
inline void fetch_known(std::span<node_ptr> read, const factor_rule& rule,
                        const tensor_descs& known, unsigned permitted) {
  const tensor_descs wanted = fetched(read[0]->where().mesh(), rule, known, permitted);
  for (std::size_t k = 0; k < read.size(); ++k)
    read[k] = reshard_node_of(std::move(read[k]), wanted[static_cast<int>(k)].layout);
}

SHARDWISE_INLINE void fetch_operands(std::span<node_ptr> read, const applied_operation& does,
                                     const operand_checks& checks, unsigned permitted) {
  tensor_descs known;
  for (const node_ptr& operand : read) known.push_back(operand->tensor());
  if (checks.attributes(does.how, known).ok())
    fetch_known(read, does.what->rule(does.how, known), known, permitted);
}

SHARDWISE_INLINE node_ptr whole_value_node(std::span<node_ptr> read, const applied_operation& does,
                                           const operand_checks& checks,
                                           const element_kernels& elements, kernel_finder find,
                                           across_permission call) {
  tensor_descs known;
  for (const node_ptr& operand : read) {
    require_one_pool(read[0]->home(), operand);
    if (!known.full()) known.push_back(operand->tensor());
  }
  require(checks.attributes(does.how, known));
  require(checks.elements(does.how, known));
  const factor_rule rule = does.what->rule(does.how, known);
  propagation split = apply_rule(read[0]->where().mesh(), rule, known, call);
  split.result.type = elements.type;
  return make_whole_node(read, does, rule, split, elements, find);
}

SHARDWISE_INLINE tensor_desc describe_each(std::span<node_ptr> nodes,
                                           const number_operands& numbers, const operation& what,
                                           unsigned permitted) {
  const mesh_desc& mesh = nodes[0]->where().mesh();
  tensor_descs known;
  inplace_vector<int, max_operands> places;  // of the tensors
  const auto count = static_cast<int>(nodes.size()) + numbers.ssize();
  for (int place = 0; place < count; ++place) {
    tensor_desc operand;
    bool is_number = false;
    for (const number_operand& value : numbers)
      if (value.place == place) {
        operand.type = value.type;
        is_number = true;
      }
    if (!is_number) {
      operand = nodes[places.size()]->tensor();
      places.push_back(place);
    }
    known.push_back(operand);
  }
  const factor_rule of_these = what.rule({}, known);
  if (permitted != 0) {
    known = fetched(mesh, of_these, known, permitted);
    for (std::size_t k = 0; k < nodes.size(); ++k)
      nodes[k] = reshard_node_of(std::move(nodes[k]), known[places[static_cast<int>(k)]].layout);
  }
  return apply_rule(mesh, of_these, known).result;
}

}  // namespace shardwise::detail
