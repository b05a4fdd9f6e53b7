// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/plan/lifetime.hpp"

namespace shardwise {

/// A planned program: its steps in execution order, the lifetimes of their results, and the total
/// cost. Steps that no result depends on are included, but neither run nor counted.
template <std::size_t Capacity>
struct planned_program {
  mesh_desc mesh{};
  step_desc steps[Capacity]{};
  value_lifetime lives[Capacity]{};
  std::int32_t count = 0;
  cost_ledger total{};
};

namespace detail {
/// Forms the steps of a program and determines lifetimes; returns the number of steps.
/// `adapt(steps, step_of, count)` sets which inputs the caller donates and which results it needs.
template <std::size_t Capacity, class Adapt>
constexpr std::int32_t plan_steps(const program_view& recorded, step_desc* steps,
                                  value_lifetime* lives, bool labels, const Adapt& adapt) {
  cluster_note notes[Capacity]{};
  std::int32_t step_of[Capacity]{};
  const std::int32_t count = form_steps(recorded, notes, step_of, steps, labels);
  adapt(steps, step_of, count);
  plan_lifetimes(steps, count, lives);
  return count;
}
inline constexpr auto as_recorded = [](step_desc*, const std::int32_t*, std::int32_t) {};

template <std::size_t Capacity>
[[nodiscard]] constexpr cost_ledger sum_steps(const program_view& recorded, const step_desc* steps,
                                              const value_lifetime* lives, std::int32_t count);

/// Returns the costs of a body for a use.
template <std::size_t Capacity>
[[nodiscard]] constexpr cost_ledger ledger_of_call(const program_view& body, const call_use& use) {
  step_desc steps[Capacity]{};
  value_lifetime lives[Capacity]{};
  const auto adapt = [&](step_desc* all, const std::int32_t* step_of, std::int32_t count) {
    for (std::int32_t s = 0; s < count; ++s) {
      all[s].kept = false;
      // Inputs come first.
      if (all[s].kind == step_kind::input) all[s].donated = ((use.donated >> s) & 1U) != 0;
    }
    for (std::int32_t r = 0; r < body.result_count; ++r)
      if (((use.wanted >> r) & 1U) != 0) all[step_of[body.results[r]]].kept = true;
  };
  const std::int32_t count = plan_steps<Capacity>(body, steps, lives, false, adapt);
  return sum_steps<Capacity>(body, steps, lives, count);
}

/// Returns the costs of a program whose steps are formed, including those of the bodies that it
/// calls. If consecutive calls, such as those of layers, have the same use, the cost of the body is
/// computed once.
template <std::size_t Capacity>
[[nodiscard]] constexpr cost_ledger sum_steps(const program_view& recorded, const step_desc* steps,
                                              const value_lifetime* lives, std::int32_t count) {
  std::int32_t known = -1;
  call_use known_use;
  cost_ledger known_costs;
  return summarize(*recorded.mesh, steps, lives, count,
                   [&](const step_desc& step, const call_use& use) -> const cost_ledger& {
                     const std::int32_t body = call_operation::body(recorded.how(step.root));
                     if (body != known || !(use == known_use)) {
                       known = body;
                       known_use = use;
                       known_costs = ledger_of_call<Capacity>(recorded.body(body), use);
                     }
                     return known_costs;
                   });
}
}  // namespace detail

/// Plans a program: forms its passes, determines lifetimes, and adds up the costs.
///
///     constexpr auto recorded = trace_program(mlp, abstract<X>(512), abstract<W1>());
///     constexpr auto planned = plan_program(recorded);
///     static_assert(planned.steps[3].label == "gelu" && planned.lives[3].reuses == 0);
template <std::size_t Capacity>
[[nodiscard]] constexpr planned_program<Capacity> plan_program(
    const traced_program<Capacity>& recorded) {
  planned_program<Capacity> out;
  out.mesh = recorded.mesh;
  out.count = detail::plan_steps<Capacity>(recorded.view(), out.steps, out.lives, true,
                                           detail::as_recorded);
  out.total = detail::sum_steps<Capacity>(recorded.view(), out.steps, out.lives, out.count);
  return out;
}

/// Returns only the costs: the same as `plan_program(recorded).total`, for less than half of its
/// compile time.
template <std::size_t Capacity>
[[nodiscard]] constexpr cost_ledger ledger_of(const traced_program<Capacity>& recorded) {
  step_desc steps[Capacity]{};
  value_lifetime lives[Capacity]{};
  const std::int32_t count =
      detail::plan_steps<Capacity>(recorded.view(), steps, lives, false, detail::as_recorded);
  return detail::sum_steps<Capacity>(recorded.view(), steps, lives, count);
}

}  // namespace shardwise
