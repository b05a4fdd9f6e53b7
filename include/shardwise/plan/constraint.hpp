// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/plan/redistribute.hpp"
#include "shardwise/rule/suggestion.hpp"

namespace shardwise {

/// Returns the first collective between two layouts of a tensor with these extents that moves data,
/// or one without axes if there is none. Slices move nothing, nor do collectives over axes of
/// size 1. The direct way depends only on the layouts, except for single cuts, which for some
/// extents equal a cut axis by axis; for `dyn` extents it is assumed that they do not.
///
///     static_assert(first_communication(pod::value, {8, 4}, replicated, rows).axes.empty());
[[nodiscard]] constexpr planned_transfer first_communication(const mesh_desc& mesh,
                                                             const extents_desc& extents,
                                                             const layout_desc& from,
                                                             const layout_desc& to) noexcept {
  tensor_desc empty{element::f32, {}, said_by_axis(mesh, from, extents)};
  empty.extents.resize(from.dims.size());
  redistribution way;
  detail::append_direct_way(mesh, empty, way, said_by_axis(mesh, to, extents));
  for (const planned_transfer& step : way.moves)
    if (step.kind != collective::slice && mesh.parts(step.axes) != 1) return step;
  return {};
}

/// Checks a constraint: the layout is valid for the tensor, and each device already holds its part.
[[nodiscard]] constexpr diagnosis check_constraint(const mesh_desc& mesh, const tensor_desc& tensor,
                                                   const layout_desc& to) noexcept {
  const diagnosis verdict = redistribute(mesh, tensor, to).verdict;
  if (!verdict.ok()) return verdict;
  const planned_transfer needed = first_communication(mesh, tensor.extents, tensor.layout, to);
  if (needed.axes.empty()) return {};
  return {.rule = violation::constraint_needs_communication,
          .operand = 0,
          .dim = needed.from >= 0 ? needed.from : needed.to,
          .axis = mesh.axes[needed.axes[0]].label};
}

/// Checks that a tensor with layout `from` may be marked with `to`: it already has that mark, or no
/// axis of size greater than 1 splits it or is pending.
[[nodiscard]] constexpr diagnosis check_marking(const mesh_desc& mesh, const layout_desc& from,
                                                const layout_desc& to) noexcept {
  bool same = from.pending == to.pending;
  for (int d = 0; d < from.rank(); ++d)
    same = same && from.dims[d] == to.dims[d] && from.grains[d] == to.grains[d];
  if (same) return {};
  for (std::uint8_t a = 0; a < mesh.rank(); ++a)
    if (mesh.size(a) != 1 && (from.is_pending(a) || from.dim_of(a) >= 0))
      return {.rule = violation::tensor_is_marked_already,
              .operand = 0,
              .dim = from.dim_of(a),
              .axis = mesh.axes[a].label};
  return {};
}

/// Checks that the sharding of a tensor may be cleared: nothing is pending.
[[nodiscard]] constexpr diagnosis check_clearing(const mesh_desc& mesh,
                                                 const layout_desc& layout) noexcept {
  if (layout.pending == 0) return {};
  return {.rule = violation::partial_value_is_read,
          .operand = 0,
          .axis = internal::first_axis(mesh, layout.pending)};
}

/// Returns the layout of a tensor after its sharding is cleared: replicated on every device.
[[nodiscard]] constexpr layout_desc cleared(const layout_desc& layout) noexcept {
  layout_desc whole;
  whole.dims.resize(layout.dims.size());
  whole.uneven = layout.uneven;
  return whole;
}

/// Returns the call that moves the data of a constraint: `reshard<P<"x", none>>(operand 0)`, or the
/// layout in the notation if it is more than a spec.
[[nodiscard]] constexpr message_text promised_call(const mesh_desc& mesh, const layout_desc& to,
                                                   text_view quote = "\"") noexcept {
  if (to.pending == 0) return call_of(mesh, {0, to}, quote);
  message_text out;
  return write_layout(out << "reshard to ", mesh, to);
}

/// Returns the suggestion for a constraint with the error `verdict`: `f32[8@x] would need
/// all_gather over x; try reshard<P<none>>(operand 0)`.
[[nodiscard]] constexpr message_text promise_advice(const mesh_desc& mesh,
                                                    const tensor_desc& tensor,
                                                    const layout_desc& to,
                                                    const diagnosis& verdict) noexcept {
  message_text out;
  write_tensor(out, tensor.type, mesh, tensor.extents, tensor.layout);
  if (verdict.rule == violation::constraint_needs_communication) {
    const planned_transfer needed = first_communication(mesh, tensor.extents, tensor.layout, to);
    write_axes(out << " would need " << to_text(needed.kind) << " over ", mesh, needed.axes);
  } else if (verdict.rule == violation::tensor_is_marked_already) {
    out << " is marked; try clear_sharding(operand 0) first";
  } else if (verdict.rule != violation::partial_value_is_read) {
    return out;
  }
  return out << "; try " << text_view(promised_call(mesh, to));
}

}  // namespace shardwise
