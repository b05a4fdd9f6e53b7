// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/growable.hpp"
#include "shardwise/engine/collective_run.hpp"
#include "shardwise/engine/described_program.hpp"
#include "shardwise/plan/program.hpp"

#include <cstddef>
#include <memory>

namespace shardwise::internal {

/// Finds the kernel of an instruction of a program that exists only at run time, unless it is
/// known; it must be registered. The kernels of its operands have been found.
inline void find_kernel(const program_view& code, growable<instruction_work>& works, value_id i) {
  const operation& what = code.what(i);
  instruction_work& work = works[static_cast<std::size_t>(i)];
  if (what.is_leaf || work.kernel.elements != nullptr) return;
  const auto operand = [&]() -> const operation_kernel& {
    return works[static_cast<std::size_t>(code.code[i].operands[0])].kernel;
  };
  if (is_result(what)) {
    work.kernel.elements = operand().further[result_operation::number(code.how(i)) - 1];
    return;
  }
  if (is_collective(what)) {
    work.moves = &make_collective_run;
    work.kernel.elements = operand().elements;
    return;
  }
  inplace_vector<element, max_operands> types;
  for (value_id o : code.code[i].operands) types.push_back(code.values[o].type);
  work.kernel =
      kernel_table::instance().find(kernel_operation(what, code.how(i)),
                                    types_key({types.begin(), types.size()}, code.values[i].type));
}

/// Finds how the devices split an instruction, unless it is known.
inline void find_split(const program_view& code, growable<instruction_work>& works, value_id i) {
  const operation& what = code.what(i);
  instruction_work& work = works[static_cast<std::size_t>(i)];
  if (work.details != nullptr || !work.kernel.whole) return;
  const attributes& how = code.how(i);
  const tensor_descs operands = code.operands(i);
  const factor_rule rule = what.rule(how, operands);
  const auto details =
      std::make_shared<call_details>(how, rule, propagate(*code.mesh, rule, operands));
  details->split.result = code.values[i];
  work.details = details;
}

}  // namespace shardwise::internal
