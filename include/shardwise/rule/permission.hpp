// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/rule/suggestion.hpp"

namespace shardwise {

/// Returns the operands of an operation after every suggested reshard that moves only permitted
/// axes. If the operation still rejects them, the reason is another one.
[[nodiscard]] constexpr tensor_descs fetched(const mesh_desc& mesh, const factor_rule& rule,
                                             tensor_descs operands, unsigned permitted,
                                             bool whole = false) noexcept {
  // Each reshard removes an axis from its dimension, or gives an operand the split of an earlier
  // one, which does not change any more.
  for (std::size_t left = max_axes * operands.size(); left > 0; --left) {
    const diagnosis verdict = propagate(mesh, rule, operands).verdict;
    if (verdict.ok()) break;
    suggested_reshard fix;
    if (!whole) fix = propose_halo(mesh, rule, operands, verdict);
    if (fix.operand < 0) fix = propose(mesh, rule, operands, verdict);
    if (fix.operand < 0) break;
    if ((moved_axes(mesh, operands[fix.operand], fix.layout) & ~permitted) != 0) break;
    operands[fix.operand].layout = fix.layout;
  }
  return operands;
}

/// The rule of a function of a tensor and of one beside it, such as a scale.
[[nodiscard]] constexpr factor_rule rule_beside(const tensor_desc& first,
                                                const tensor_desc& second) noexcept {
  operand_extents extents;
  extents.push_back(first.extents);
  extents.push_back(second.extents);
  return elementwise_rule(linearity::multilinear, extents);
}
/// Returns true if a permission over further axes helps a tensor beside another one.
[[nodiscard]] constexpr bool helps_beside(const diagnosis& verdict) noexcept {
  return verdict.rule == violation::axis_would_split_twice ||
         verdict.rule == violation::operand_layouts_conflict;
}

/// Returns the layout of the second operand of a function of two tensors after it has been gathered
/// where its splits contradict those of the first, which does not move: a scale beside a tensor. It
/// is the layout that the operand has if nothing contradicts, if more than permitted axes would
/// move, or if the operation rejects the operands for another reason.
[[nodiscard]] constexpr layout_desc fetched_beside(const mesh_desc& mesh, const tensor_desc& first,
                                                   const tensor_desc& second,
                                                   unsigned permitted) noexcept {
  const factor_rule rule = rule_beside(first, second);
  tensor_desc moved = second;
  // Each step removes an axis from a dimension for good.
  for (std::size_t left = max_axes + 1; left > 0; --left) {
    const diagnosis verdict = propagate(mesh, rule, tensor_descs{first, moved}).verdict;
    if (verdict.ok()) return moved.layout;
    const int axis = mesh.find(verdict.axis);
    int d = -1;
    if (verdict.rule == violation::axis_would_split_twice && axis >= 0)
      d = moved.layout.dim_of(static_cast<std::uint8_t>(axis));
    else if (verdict.rule == violation::operand_layouts_conflict && verdict.operand == 1)
      d = verdict.dim;
    if (d < 0 || moved.layout.dims[d].empty()) break;
    axis_list kept;
    if (verdict.rule == violation::axis_would_split_twice)
      for (const std::uint8_t a : moved.layout.dims[d])
        if (a != axis) kept.push_back(a);
    moved.layout.dims[d] = kept;
    moved.layout.grains[d] = moved.layout.grains[d].over(kept.ssize());
    if ((moved_axes(mesh, second, moved.layout) & ~permitted) != 0) break;
  }
  return second.layout;
}

}  // namespace shardwise
