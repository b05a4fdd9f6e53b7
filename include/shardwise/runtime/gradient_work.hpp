// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/runtime/gradient.hpp"
#include "shardwise/runtime/recorded_graph.hpp"

#include <mutex>
#include <utility>

namespace shardwise::detail {

SHARDWISE_INLINE std::shared_ptr<custom_gradients> begin_recording() {
  return begin_custom_gradients();
}

SHARDWISE_INLINE std::vector<node_ptr> gradients_of(const node_ptr& loss,
                                                    const std::vector<node_ptr>& tensors) {
  const std::shared_ptr<pool_state> home = loss->home();
  recorded_graph graph;
  graph.share_nodes();
  for (const node_ptr& each : tensors) graph.argument(each, each);
  {
    const std::lock_guard turn(home->turn());
    graph.record({loss});
    graph.require_uncomputed(loss);
  }
  std::vector<value_id> of;
  of.reserve(tensors.size());
  for (const node_ptr& each : tensors) of.push_back(graph.id_of(each));
  program_builder code(graph.code());
  differentiation gradients(code, 0, of);
  gradients.seed(graph.id_of(loss));
  gradients.run();
  std::vector<value_id> made;
  for (std::size_t k = 0; k < of.size(); ++k)
    made.push_back(gradients.cotangent_of(of[k], gradient_layout(tensors[k]->tensor().layout)));
  return graph.splice(made, home);
}

SHARDWISE_INLINE std::vector<node_ptr> graph_tape::run(bool keeps_loss,
                                                       const std::vector<layout_desc>& layouts) {
  const std::shared_ptr<pool_state> home = results_[0]->home();
  recorded_graph graph;
  for (std::size_t k = 0; k < real_.size(); ++k) graph.argument(stand_ins_[k], real_[k]);
  graph.differentiate_by(std::move(*custom_));
  custom_.reset();
  {
    const std::lock_guard turn(home->turn());
    graph.record(results_);
  }
  std::vector<value_id> needed;
  std::vector<value_id> of;
  of.reserve(wanted_.size());
  for (const node_ptr& each : wanted_) of.push_back(graph.id_of(each));
  program_builder code(graph.code());
  differentiation gradients(code, 0, of);
  unsigned left = 0;
  for (const layout_desc& layout : layouts) left |= layout.pending;
  gradients.leave_pending(left);
  gradients.seed(graph.id_of(results_[0]));
  gradients.run();
  for (std::size_t k = 0; k < of.size(); ++k)
    needed.push_back(gradients.cotangent_of(of[k], layouts[k]));
  for (std::size_t r = keeps_loss ? 0 : 1; r < results_.size(); ++r)
    needed.push_back(graph.id_of(results_[r]));
  return graph.splice(needed, home);
}

}  // namespace shardwise::detail
