// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/rule/suggestion.hpp"

namespace shardwise {

/// Returns the operands of an operation after every suggested reshard that moves only permitted
/// axes. If the operation still rejects them, the reason is another one.
[[nodiscard]] constexpr tensor_descs fetched(const mesh_desc& mesh, const factor_rule& rule,
                                             tensor_descs operands, unsigned permitted,
                                             bool whole = false) noexcept {
  const auto is_permitted = [&](const tensor_desc& operand, const layout_desc& to) {
    const layout_desc from = said_by_axis(mesh, operand.layout, operand.extents);
    for (int a = 0; a < mesh.axes.ssize(); ++a) {
      const int d = from.dim_of(static_cast<std::uint8_t>(a));
      const bool stays =
          d == to.dim_of(static_cast<std::uint8_t>(a)) && from.is_pending(a) == to.is_pending(a) &&
          (d < 0 ||
           from.grains[d] == said_by_axis(mesh, to.dims[d], to.grains[d], operand.extents[d]));
      if (!stays && (permitted >> a & 1U) == 0) return false;
    }
    return true;
  };
  // Each reshard removes an axis from its dimension for good, so the loop ends.
  for (std::size_t left = max_axes * operands.size(); left > 0; --left) {
    const diagnosis verdict = propagate(mesh, rule, operands).verdict;
    if (verdict.ok()) break;
    suggestion fix;
    if (!whole) fix = propose_halo(mesh, rule, operands, verdict);
    if (fix.operand < 0) fix = propose(mesh, rule, operands, verdict);
    if (fix.operand < 0 || !is_permitted(operands[fix.operand], fix.layout)) break;
    operands[fix.operand].layout = fix.layout;
  }
  return operands;
}

}  // namespace shardwise
