// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/paper_steps.hpp"
#include "shardwise/plan/manual_operation.hpp"

namespace shardwise {

/// Returns the collectives of a reshard, or the one collective on manual axes, that a composition
/// applies to abstract tensors.
[[nodiscard]] constexpr redistribution moves_of(const mesh_desc& mesh, const paper_reshard& step) {
  if (step.called.axes.empty()) return redistribute(mesh, step.from, step.to);
  tensor_desc result = step.from;
  result.layout = step.to;
  const operation_cost cost =
      manual_collective_operation::cost(mesh, step.called.how(), {step.from}, result);
  redistribution way;
  way.moves.push_back(
      {.kind = cost.moved, .axes = cost.axes, .after = step.to, .bytes = cost.bytes});
  return way;
}

}  // namespace shardwise
