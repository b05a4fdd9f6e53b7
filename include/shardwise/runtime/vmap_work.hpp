// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/core/growable.hpp"
#include "shardwise/engine/recorded_graph.hpp"
#include "shardwise/runtime/recompute.hpp"
#include "shardwise/runtime/share_custom_gradients.hpp"
#include "shardwise/runtime/vmap.hpp"

#include <mutex>
#include <utility>

namespace shardwise::detail {

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
  internal::growable<value_id> wholes;
  wholes.reserve(arguments_.size());
  for (const mapped_argument& each : arguments_) wholes.push_back(graph.add_input(each.real));
  program_builder code(graph.code());
  batching whole(code, 0, met_.batch());
  const value_id begin = code.size();
  for (std::size_t k = 0; k < arguments_.size(); ++k)
    whole.argument(graph.id_of(arguments_[k].stand_in),
                   batching::with_front(code, wholes[k], arguments_[k].dim));
  whole.run();
  internal::growable<value_id> needed;
  needed.reserve(results_.size());
  for (const node_ptr& each : results_) needed.push_back(whole.result(graph.id_of(each)));
  // First: what reads the results of a custom gradient must read the nodes that recordings know.
  share_custom_gradients(graph, begin, home);
  made_ = graph.splice(needed, home);
}

}  // namespace shardwise::detail
