// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/runtime/any_operations.hpp"

#include <cstddef>
#include <utility>

namespace shardwise::detail {

SHARDWISE_INLINE propagation apply_rule(const mesh_desc& mesh, const factor_rule& rule,
                                        const tensor_descs& operands) {
  propagation out = propagate(mesh, rule, operands);
  if (!out.verdict.ok()) fail(out.verdict, advice(mesh, rule, operands, out.verdict));
  return out;
}

SHARDWISE_INLINE void fetch_operands(std::span<node_ptr> read, const factor_rule& rule,
                                     const tensor_descs& known, unsigned permitted) {
  const tensor_descs wanted = fetched(read[0]->where().mesh(), rule, known, permitted);
  for (std::size_t k = 0; k < read.size(); ++k)
    read[k] = reshard_node_of(std::move(read[k]), wanted[static_cast<int>(k)].layout);
}

SHARDWISE_INLINE tensor_desc
describe_each(std::span<node_ptr> nodes, const number_operands& numbers,
              factor_rule (*rule)(const attributes&, const tensor_descs&), unsigned permitted) {
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
  const factor_rule of_these = rule({}, known);
  if (permitted != 0) {
    known = fetched(mesh, of_these, known, permitted);
    for (std::size_t k = 0; k < nodes.size(); ++k)
      nodes[k] = reshard_node_of(std::move(nodes[k]), known[places[static_cast<int>(k)]].layout);
  }
  return apply_rule(mesh, of_these, known).result;
}

}  // namespace shardwise::detail
