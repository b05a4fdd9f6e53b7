// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/expression/operation.hpp"
#include "shardwise/plan/program.hpp"

namespace shardwise {

/// True if an elementwise operand may be computed inside the pass that reads it: it has the
/// result's shape, so nothing is computed twice. Asked of the static extents, on paper and at run
/// time.
[[nodiscard]] constexpr bool may_fuse(const extents_desc& operand,
                                      const extents_desc& result) noexcept {
  if (operand.size() != result.size()) return false;
  for (int d = 0; d < operand.ssize(); ++d)
    if (operand[d] == 1 && result[d] != 1) return false;
  return true;
}

/// True if the operands of an absorbed pass still fit: those taken so far, its own, and at least
/// one for each operand to come.
[[nodiscard]] constexpr bool has_room(std::size_t taken, std::size_t own,
                                      std::size_t to_come) noexcept {
  return taken + own + to_come <= std::size_t{max_fused_operands};
}

/// The operations of a fused pass on one device: those of each element of the largest shard.
[[nodiscard]] constexpr index_t pass_flops(index_t each, index_t largest_shard) noexcept {
  return each * largest_shard;
}

/// The step of a fused pass with these functions and operations for each element.
[[nodiscard]] constexpr step_desc pass_step(const mesh_desc& mesh, const tensor_desc& result,
                                            index_t flops, const text<60>& label) noexcept {
  step_desc step{.kind = step_kind::pointwise, .label = label, .result = result};
  step.flops_per_element = flops;
  step.flops = pass_flops(flops, largest_shard_size(mesh, result.layout, result.extents));
  return step;
}

/// The step of applying a function element by element; `inner` are passes that it absorbs.
template <class Function>
[[nodiscard]] constexpr step_desc pointwise_step(const mesh_desc& mesh, const tensor_desc& result,
                                                 index_t inner_flops,
                                                 const text<60>& inner) noexcept {
  text<60> label = inner;
  if (!label.empty()) label << ' ';
  label << Function::symbol;
  return pass_step(mesh, result, inner_flops + Function::flops, label);
}

/// The elements of one device's part of the index space of an operation: the product of all
/// factors.
[[nodiscard]] constexpr index_t local_index_count(const mesh_desc& mesh,
                                                  const propagation& split) noexcept {
  index_t n = 1;
  for (int f = 0; f < split.sizes.ssize(); ++f) {
    const axis_list& axes = split.axes[f];
    n *= axes.empty() ? split.sizes[f] : largest_part(mesh, axes, split.grains[f], split.sizes[f]);
  }
  return n;
}

/// The step of an einsum: a multiplication and an addition for each point of its index space; for
/// one operand an addition alone, and nothing for a transpose or a diagonal.
[[nodiscard]] constexpr step_desc einsum_step(const mesh_desc& mesh, text_view equation,
                                              const propagation& split, int operands) noexcept {
  step_desc step{.kind = step_kind::einsum, .label = equation, .result = split.result};
  const index_t points = local_index_count(mesh, split);
  const bool folds = points != largest_shard_size(mesh, split.result.layout, split.result.extents);
  step.flops = operands == 1 && !folds ? 0 : operands * points;
  return step;
}

/// The step of folding dimensions; `inner` are passes that it absorbs as its prologue.
[[nodiscard]] constexpr step_desc fold_step(const mesh_desc& mesh, reduction kind,
                                            const tensor_desc& operand, const tensor_desc& result,
                                            index_t inner_flops, const text<60>& inner) noexcept {
  step_desc step{.kind = step_kind::fold, .label = inner, .result = result};
  if (!step.label.empty()) step.label << ' ';
  step.label << to_text(kind);
  step.flops = (inner_flops + 1) * largest_shard_size(mesh, operand.layout, operand.extents);
  return step;
}

/// The step of one collective.
[[nodiscard]] constexpr step_desc reshard_step(const tensor_desc& before,
                                               const transfer& moved) noexcept {
  step_desc step{.kind = step_kind::reshard, .label = to_text(moved.kind), .result = before};
  step.result.layout = moved.after;
  step.moved = moved.kind;
  step.fold = before.layout.kind;
  step.axes = moved.axes;
  step.bytes = moved.bytes;
  return step;
}

/// The step of a tensor that becomes manual or ceases to be, where every device keeps what it has,
/// or whose values along manual axes are folded: then the layouts differ in these axes alone.
[[nodiscard]] constexpr step_desc manual_step(const mesh_desc& mesh, const tensor_desc& before,
                                              const tensor_desc& result, reduction fold) noexcept {
  transfer moved{.after = result.layout};
  if (before.layout.dims == result.layout.dims) {
    moved.kind = collective::all_reduce;
    for (std::uint8_t a = 0; a < max_axes; ++a)
      if (((before.layout.manual & ~unsigned{result.layout.manual}) >> a & 1U) != 0)
        moved.axes.push_back(a);
    moved.bytes = detail::received_bytes(mesh, before, moved);
  }
  step_desc step = reshard_step(before, moved);
  step.result = result;
  step.fold = fold;
  if (moved.kind == collective::slice)
    step.label = text<60>(result.layout.manual != 0 ? text_view("enable_manual_sharding")
                                                    : text_view("disable_manual_sharding"));
  return step;
}

}  // namespace shardwise
