// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/plan/program_builder.hpp"
#include "shardwise/plan/redistribute.hpp"
#include "shardwise/rule/gradient_step.hpp"

namespace shardwise {

/// A collective that changes the layout of a tensor to that of the result. Its integers are the
/// kind, the dimensions that lose and get axes, and the axes; its kind is that of the reduction.
struct collective_operation {
  static constexpr text_view name = "collective";

  [[nodiscard]] static constexpr attributes how(const tensor_desc& before,
                                                const planned_transfer& moved) noexcept {
    attributes out;
    out.kind = before.layout.kind;
    out.integers = {static_cast<index_t>(moved.kind), index_t{moved.from}, index_t{moved.to}};
    for (std::uint8_t a : moved.axes) out.integers.push_back(a);
    return out;
  }
  [[nodiscard]] static constexpr planned_transfer moved(const attributes& how,
                                                        const layout_desc& after) noexcept {
    planned_transfer out{.kind = static_cast<collective>(how.integers[0]),
                         .from = static_cast<int>(how.integers[1]),
                         .to = static_cast<int>(how.integers[2]),
                         .after = after};
    for (int i = 3; i < how.integers.ssize(); ++i)
      out.axes.push_back(static_cast<std::uint8_t>(how.integers[i]));
    return out;
  }
  [[nodiscard]] static constexpr bounded_text<47> label(const attributes& how) noexcept {
    return to_text(static_cast<collective>(how.integers[0]));
  }
  [[nodiscard]] static constexpr operation_cost cost(const mesh_desc& mesh, const attributes& how,
                                                     const tensor_descs& operands,
                                                     const tensor_desc& result) noexcept {
    const planned_transfer step = moved(how, result.layout);
    return {.is_collective = true,
            .moved = step.kind,
            .axes = step.axes,
            .bytes = detail::received_bytes(mesh, operands[0], step)};
  }
  /// The result is the same tensor with another layout, and so is the cotangent, which gets the
  /// layout of the operand.
  static constexpr void gradient(gradient_step& at) { at.give(0, at.cotangent()); }
};

/// Appends the collectives that reshard a value to a layout, and returns the number of the last
/// one.
constexpr value_id append_reshard(program_builder& program, value_id id,
                                  const layout_desc& target) {
  tensor_desc now = program.value(id);
  const redistribution way = redistribute(program.mesh(), now, target);
  require(way.verdict);
  for (const planned_transfer& moved : way.moves) {
    const attributes how = collective_operation::how(now, moved);
    now.layout = moved.after;
    id = program.append(operation_of<collective_operation>, how, {id}, now);
  }
  return id;
}

/// An operation with its attributes, applied to one operand.
struct applied_operation {
  const operation* what = nullptr;
  attributes how{};
};

}  // namespace shardwise
