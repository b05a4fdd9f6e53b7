// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/plan/ledger_text.hpp"
#include "shardwise/plan/planned_program.hpp"

namespace shardwise {

/// Writes a program, one line for each step: its number, its operation and operands, the resulting
/// tensor, the communication over each axis, and the step whose memory it reuses. The last line is
/// the ledger.
///
/// `Out` must have `operator<<` for `text_view` and numbers: a `bounded_text` in constant
/// expressions, or any stream.
///
///     %3 = all_reduce %2 over model : f32[512@data, 1024]   receives 1536 KiB
template <class Out>
constexpr void write_program(Out& out, const mesh_desc& mesh, const step_desc* steps,
                             const value_lifetime* lives, std::int32_t count,
                             const cost_ledger& total) {
  bounded_text<200> head;
  head << mesh;
  out << text_view(head) << text_view("\n");
  for (std::int32_t i = 0; i < count; ++i) {
    const step_desc& step = steps[i];
    if (!lives[i].needed && step.kind != step_kind::input) continue;
    bounded_text<600> line;
    line << '%' << i << " = ";
    if (step.kind == step_kind::pass) line << "fused ";
    line << text_view(step.label);
    for (std::int32_t o : step.operands) line << " %" << o;
    if (step.kind == step_kind::collective && !step.cost.axes.empty())
      write_axes(line << " over ", mesh, step.cost.axes);
    line << " : " << text_view(to_text(mesh, step.result));
    index_t moved = 0;
    for (index_t b : step.cost.bytes) moved = size_sum(moved, b);
    if (moved > 0) internal::write_bytes(line << "   receives ", moved);
    if (lives[i].reuses >= 0) line << "   in the memory of %" << step.operands[lives[i].reuses];
    out << text_view(line) << text_view("\n");
  }
  detail::write_total(out, total);
  out << text_view("\n");
}

/// Writes a planned program, or a program on paper, as recorded by `trace_program`.
///
///     write_program(std::cout, trace_program(mlp, abstract<X>(512), abstract<W>()));
template <class Out, std::size_t Capacity>
constexpr void write_program(Out& out, const planned_program<Capacity>& planned) {
  write_program(out, planned.mesh, planned.steps, planned.lives, planned.count, planned.total);
}
template <class Out, std::size_t Capacity>
constexpr void write_program(Out& out, const traced_program<Capacity>& traced) {
  write_program(out, plan_program(traced));
}

}  // namespace shardwise
