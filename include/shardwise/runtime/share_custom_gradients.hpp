// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/growable.hpp"
#include "shardwise/engine/recorded_graph.hpp"
#include "shardwise/runtime/recompute.hpp"

#include <memory>
#include <utility>

namespace shardwise::detail {

/// Adds the custom gradients of a program, from `begin` on, to the recordings in progress: its
/// nodes are created here, and those recordings differentiate them.
inline void share_custom_gradients(recorded_graph& graph, value_id begin,
                                   const std::shared_ptr<pool_state>& home) {
  const auto open = open_recordings();
  if (open.empty()) return;
  const auto nodes_of = [&](const internal::growable<value_id>& values) {
    return graph.splice(values, home);
  };
  internal::growable<value_id> arguments, gradients;
  for (value_id i = begin; i < graph.code().count; ++i) {
    const instruction& at = graph.code().code[static_cast<std::size_t>(i)];
    if (!is_custom_gradient(*at.what)) continue;
    if (!custom_gradient_operation::is_of_results(graph.code().view().how(i))) {
      arguments.push_back(at.operands[0]);
      gradients.push_back(at.operands[1]);
      continue;
    }
    const auto half = at.operands.begin() + at.operands.ssize() / 2;
    custom_gradient_of_nodes made;
    made.results = nodes_of({at.operands.begin(), half});
    for (const value_id* placeholder = half; placeholder != at.operands.end(); ++placeholder) {
      const node_ptr& like = made.results[static_cast<std::size_t>(placeholder - half)];
      node_ptr stands = element_node_of(like, graph.code().view().values[*placeholder]);
      made.cotangents.push_back(stands);
      graph.set_node(*placeholder, std::move(stands));
    }
    made.arguments = nodes_of(arguments);
    {
      // Gradients are computed again from the actual cotangents.
      const graph_recomputing again;
      made.gradients = nodes_of(gradients);
    }
    made.sequence = next_sequence();
    for (const node_ptr& each : made.results)
      if (pending_node* const task = each->task()) task->set_custom_gradient();
    for (const auto& list : open) list->push_back(made);
    arguments.clear();
    gradients.clear();
  }
}

}  // namespace shardwise::detail
