// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/core/growable.hpp"
#include "shardwise/engine/recorded_graph.hpp"
#include "shardwise/runtime/gradient.hpp"

#include <mutex>
#include <utility>

namespace shardwise::detail {

SHARDWISE_INLINE std::shared_ptr<custom_gradients> begin_recording() {
  return begin_custom_gradients();
}

SHARDWISE_INLINE internal::growable<node_ptr> gradients_of(
    const node_ptr& loss, const internal::growable<node_ptr>& tensors) {
  const std::shared_ptr<pool_state> home = loss->home();
  recorded_graph graph;
  graph.share_nodes();
  for (const node_ptr& each : tensors) graph.argument(each, each);
  {
    const std::lock_guard turn(home->turn());
    graph.record({loss});
    graph.require_uncomputed(loss);
  }
  internal::growable<value_id> made;
  made.reserve(tensors.size());
  for (const node_ptr& each : tensors) made.push_back(graph.id_of(each));
  program_builder code(graph.code());
  const cotangent_seed seed{graph.id_of(loss)};
  append_gradients(code, 0, {&seed, 1}, made, &left_pending_over<>::layout);
  return graph.splice(made, home);
}

SHARDWISE_INLINE internal::growable<node_ptr> graph_tape::run(bool keeps_loss,
                                                              gradient_layout_function layout_of) {
  const std::shared_ptr<pool_state> home = results_[0]->home();
  recorded_graph graph;
  for (std::size_t k = 0; k < real_.size(); ++k) graph.argument(stand_ins_[k], real_[k]);
  graph.differentiate_by(std::move(*custom_));
  custom_.reset();
  {
    const std::lock_guard turn(home->turn());
    graph.record(results_);
  }
  internal::growable<value_id> needed;
  needed.reserve(wanted_.size() + results_.size());
  for (const node_ptr& each : wanted_) needed.push_back(graph.id_of(each));
  program_builder code(graph.code());
  const cotangent_seed loss{graph.id_of(results_[0])};
  append_gradients(code, 0, {&loss, 1}, needed, layout_of);
  for (std::size_t r = keeps_loss ? 0 : 1; r < results_.size(); ++r)
    needed.push_back(graph.id_of(results_[r]));
  return graph.splice(needed, home);
}

}  // namespace shardwise::detail
