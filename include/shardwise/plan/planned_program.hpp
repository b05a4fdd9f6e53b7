// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/plan/lifetime.hpp"

namespace shardwise {

/// A program made ready: its steps in the order in which they run, how long their results live, and
/// what it all costs. Steps that no result needs are there but are neither run nor counted.
template <std::size_t Capacity>
struct planned_program {
  mesh_desc mesh{};
  step_desc steps[Capacity]{};
  lifetime lives[Capacity]{};
  std::int32_t count = 0;
  ledger total{};
};

namespace detail {
/// Forms the steps of a program and decides what lives how long; gives how many steps there are.
template <std::size_t Capacity>
constexpr std::int32_t plan_steps(const program<Capacity>& recorded, step_desc* steps,
                                  lifetime* lives, bool labels) {
  cluster_note notes[Capacity]{};
  std::int32_t step_of[Capacity]{};
  const std::int32_t count = form_steps(recorded.view(), notes, step_of, steps, labels);
  plan_lifetimes(steps, count, lives);
  return count;
}
}  // namespace detail

/// Makes a program ready: forms its passes, decides what lives how long, and adds up the costs.
///
///     constexpr auto recorded = trace_program(mlp, abstract<X>(512), abstract<W1>());
///     constexpr auto planned = plan(recorded);
///     static_assert(planned.steps[3].label == "gelu" && planned.lives[3].reuses == 0);
template <std::size_t Capacity>
[[nodiscard]] constexpr planned_program<Capacity> plan(const program<Capacity>& recorded) {
  planned_program<Capacity> out;
  out.mesh = recorded.mesh;
  out.count = detail::plan_steps(recorded, out.steps, out.lives, true);
  out.total = summarize(out.mesh, out.steps, out.lives, out.count);
  return out;
}

/// The costs alone: `plan(recorded).total`, for less than half of what that costs the compiler.
template <std::size_t Capacity>
[[nodiscard]] constexpr ledger ledger_of(const program<Capacity>& recorded) {
  step_desc steps[Capacity]{};
  lifetime lives[Capacity]{};
  const std::int32_t count = detail::plan_steps(recorded, steps, lives, false);
  return summarize(recorded.mesh, steps, lives, count);
}

}  // namespace shardwise
