// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/growable.hpp"
#include "shardwise/engine/described_program.hpp"
#include "shardwise/engine/stored_program.hpp"
#include "shardwise/plan/ledger.hpp"
#include "shardwise/plan/planned_program.hpp"

#include <cstddef>

namespace shardwise {

/// A planned program, with what computes each instruction. It refers to no tensors, so it can be
/// run any number of times.
struct lowered_program : stored_program {
  /// What computes each instruction, other than leaves and collectives.
  internal::growable<instruction_work> works;
  /// The last instruction of the pass of each instruction; see `form_clusters`.
  internal::growable<cluster_note> notes;

  internal::growable<step_desc> steps;
  internal::growable<value_lifetime> lives;

  /// Forms the steps of the program; `labels` states whether they get labels.
  void form(bool labels = true) {
    const auto size = static_cast<std::size_t>(count);
    internal::growable<std::int32_t> step_of(size);
    notes.resize(size);
    steps.resize(size);
    steps.resize(static_cast<std::size_t>(
        form_steps(view(), notes.data(), step_of.data(), steps.data(), labels)));
  }
  /// Determines the lifetimes of their results.
  void plan_lives() {
    lives.resize(steps.size());
    plan_lifetimes(steps.data(), static_cast<std::int32_t>(steps.size()), lives.data());
  }
};

/// Returns the cost of a planned program. Bodies of calls are part of it.
[[nodiscard]] inline cost_ledger ledger_of(const lowered_program& planned) noexcept {
  return summarize(planned.mesh, planned.steps.data(), planned.lives.data(),
                   static_cast<std::int32_t>(planned.steps.size()));
}

namespace internal {

/// Returns the steps that compute the results of a planned program, in order.
[[nodiscard]] inline growable<std::size_t> steps_of_results(const lowered_program& planned) {
  growable<std::size_t> step_of(static_cast<std::size_t>(planned.count));
  for (std::size_t s = 0; s < planned.steps.size(); ++s)
    step_of[static_cast<std::size_t>(planned.steps[s].root)] = s;
  growable<std::size_t> steps;
  steps.reserve(planned.results.size());
  for (const value_id result : planned.results)
    steps.push_back(step_of[static_cast<std::size_t>(result)]);
  return steps;
}

}  // namespace internal

}  // namespace shardwise
