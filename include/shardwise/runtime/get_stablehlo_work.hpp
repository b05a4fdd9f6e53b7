// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/engine/lower.hpp"
#include "shardwise/runtime/get_stablehlo.hpp"

namespace shardwise::detail {

SHARDWISE_INLINE std::string stablehlo_of(const std::vector<node_ptr>& named,
                                          const export_options& options) {
  const std::shared_ptr<pool_state>& home = named.front()->home();
  std::vector<tensor_node*> roots;
  for (const node_ptr& root : named) {
    if (root->home() != home) fail({.rule = violation::operand_pools_differ});
    roots.push_back(root.get());
  }
  const machine_turn::look looking(home->turn());
  lowered_program program = lower(roots);
  return to_stablehlo(program.view(), options);
}

}  // namespace shardwise::detail
