// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/rule/suggestion.hpp"

namespace shardwise {

/// Returns the operands of an operation after every suggested reshard that moves only permitted
/// axes. If the operation still rejects them, the reason is another one.
[[nodiscard]] constexpr tensor_descs fetched(const mesh_desc& mesh, const factor_rule& rule,
                                             tensor_descs operands, unsigned permitted,
                                             bool whole = false) noexcept {
  // Each reshard removes an axis from its dimension for good, so the loop ends.
  for (std::size_t left = max_axes * operands.size(); left > 0; --left) {
    const diagnosis verdict = propagate(mesh, rule, operands).verdict;
    if (verdict.ok()) break;
    suggestion fix;
    if (!whole) fix = propose_halo(mesh, rule, operands, verdict);
    if (fix.operand < 0) fix = propose(mesh, rule, operands, verdict);
    if (fix.operand < 0) break;
    if ((moved_axes(mesh, operands[fix.operand], fix.layout) & ~permitted) != 0) break;
    operands[fix.operand].layout = fix.layout;
  }
  return operands;
}

}  // namespace shardwise
