// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/plan/program.hpp"
#include "shardwise/rule/propagate.hpp"

namespace shardwise {

/// The factor rule of an instruction and the sizes of its factors; not known for instructions that
/// have none, such as inputs and collectives between manual tensors.
struct instruction_rule {
  factor_rule rule{};
  factor_sizes sizes{};
  bool is_known = false;
};

/// Returns the factor rule by which the layouts of the operands and the result of an instruction
/// are related. Operations without a rule that keep all extents, such as a reshard, relate each
/// dimension to itself.
[[nodiscard]] constexpr instruction_rule rule_of(const program_view& program, value_id i) noexcept {
  instruction_rule out;
  const instruction& at = program.code[i];
  if (at.operands.empty() || at.operands.size() > max_operands) return out;
  const tensor_descs operands = program.operands(i);
  if (at.what->rule != nullptr)
    out.rule = at.what->rule(program.how(i), operands);
  else if (program.values[i].extents == operands[0].extents)
    out.rule = same_dimensions_rule(linearity::structural, operands[0].rank());
  else
    return out;
  const factor_rule& rule = out.rule;
  if (rule.operands.size() > at.operands.size()) return out;
  out.sizes = rule.given_sizes();
  for (int o = 0; o < rule.operands.ssize(); ++o)
    if (rule.operands[o].ssize() != operands[o].rank() ||
        !internal::merge_sizes(rule.operands[o], operands[o].extents, o, out.sizes).ok())
      return out;
  out.is_known =
      rule.result.ssize() == program.values[i].rank() && complete_sizes(rule, out.sizes).ok();
  return out;
}

}  // namespace shardwise
