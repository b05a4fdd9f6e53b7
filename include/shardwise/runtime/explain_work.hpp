// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/core/growable.hpp"
#include "shardwise/engine/lower.hpp"
#include "shardwise/plan/explain.hpp"
#include "shardwise/runtime/explain.hpp"

#include <sstream>

namespace shardwise::detail {

SHARDWISE_INLINE std::string explain_steps(const mesh_desc& mesh, const step_desc* steps,
                                           const value_lifetime* lives, std::int32_t count,
                                           const cost_ledger& total) {
  std::ostringstream out;
  out.exceptions(std::ios::badbit);  // otherwise a lack of memory truncates the text silently
  write_program(out, mesh, steps, lives, count, total);
  return out.str();
}

SHARDWISE_INLINE std::string explain_nodes(const internal::growable<node_ptr>& named) {
  const std::shared_ptr<pool_state>& home = named.front()->home();
  internal::growable<tensor_node*> roots;
  for (const node_ptr& root : named) {
    if (root->home() != home) fail({.rule = violation::operand_pools_differ});
    roots.push_back(root.get());
  }
  const machine_turn::look looking(home->turn());
  const lowered_program program = lower(roots);
  const auto count = static_cast<std::int32_t>(program.steps.size());
  return explain_steps(home->mesh(), program.steps.data(), program.lives.data(), count,
                       ledger_of(program));
}

}  // namespace shardwise::detail
