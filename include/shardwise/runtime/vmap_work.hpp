// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/runtime/recompute.hpp"
#include "shardwise/runtime/recorded_graph.hpp"
#include "shardwise/runtime/vmap.hpp"

#include <mutex>
#include <utility>

namespace shardwise::detail {

/// Adds the custom gradients of a batch to the recordings in progress.
inline void share_custom_gradients(recorded_graph& graph, value_id begin,
                                   const std::shared_ptr<pool_state>& home) {
  const auto open = open_recordings();
  if (open.empty()) return;
  const auto nodes_of = [&](const std::vector<value_id>& values) {
    return graph.splice(values, home);
  };
  std::vector<value_id> arguments, gradients;
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
      if (computation* const task = each->task()) task->set_custom_gradient();
    for (const auto& list : open) list->push_back(made);
    arguments.clear();
    gradients.clear();
  }
}

SHARDWISE_INLINE void graph_batch::run() {
  const std::shared_ptr<pool_state> home = results_[0]->home();
  recorded_graph graph;
  for (const mapped_argument& each : arguments_) graph.argument(each.stand_in, each.real);
  graph.differentiate_by(std::move(*custom_));
  custom_.reset();
  {
    const std::lock_guard turn(home->turn());
    graph.record(results_);
  }
  std::vector<value_id> wholes;
  wholes.reserve(arguments_.size());
  for (const mapped_argument& each : arguments_) wholes.push_back(graph.add_input(each.real));
  program_builder code(graph.code());
  batching whole(code, 0, met_.batch());
  const value_id begin = code.size();
  for (std::size_t k = 0; k < arguments_.size(); ++k)
    whole.argument(graph.id_of(arguments_[k].stand_in),
                   batching::with_front(code, wholes[k], arguments_[k].dim));
  whole.run();
  std::vector<value_id> needed;
  needed.reserve(results_.size());
  for (const node_ptr& each : results_) needed.push_back(whole.result(graph.id_of(each)));
  // First: what reads the results of a custom gradient must read the nodes that recordings know.
  share_custom_gradients(graph, begin, home);
  made_ = graph.splice(needed, home);
  graph.mark_recomputed();
}

}  // namespace shardwise::detail
