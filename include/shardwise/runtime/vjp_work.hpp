// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/core/growable.hpp"
#include "shardwise/engine/recorded_graph.hpp"
#include "shardwise/runtime/share_custom_gradients.hpp"
#include "shardwise/runtime/vjp.hpp"

#include <mutex>
#include <utility>

namespace shardwise::detail {

struct graph_recording::state {
  std::mutex mutex;
  recorded_graph graph;
  internal::growable<node_ptr> arguments;
  internal::growable<value_id> result_ids;
};

SHARDWISE_INLINE graph_recording::graph_recording()
    : state_(std::make_shared<state>()), custom_(begin_custom_gradients()) {}

SHARDWISE_INLINE node_ptr graph_recording::stand_in_for(const node_ptr& real) {
  node_ptr stand_in = argument_node_of(real);
  state_->graph.argument(stand_in, real);
  state_->arguments.push_back(stand_in);
  return stand_in;
}

SHARDWISE_INLINE void graph_recording::finish() {
  home_ = results_[0]->home();
  state_->graph.differentiate_by(std::move(*custom_));
  custom_.reset();
  {
    const std::lock_guard turn(home_->turn());
    state_->graph.record(results_);
  }
  internal::growable<value_id> of;
  of.reserve(results_.size());
  for (const node_ptr& each : results_) of.push_back(state_->graph.id_of(each));
  // First: what reads the results of a custom gradient must read the nodes that recordings know.
  share_custom_gradients(state_->graph, 0, home_);
  made_ = state_->graph.splice(of, home_);
  state_->result_ids = std::move(of);
  state_->graph.let_go();
  results_.clear();
}

SHARDWISE_INLINE void graph_recording::pullback::run() {
  state& all = *of_.state_;
  const std::lock_guard lock(all.mutex);
  require_cotangents(seeds_.size(), all.result_ids.size());
  internal::growable<cotangent_seed> seeds;
  for (std::size_t r = 0; r < seeds_.size(); ++r)
    require_cotangent(program_builder(all.graph.code()).value(all.result_ids[r]),
                      seeds_[r]->tensor(), static_cast<int>(r));
  // Another call has other cotangents, and what this one appends is its own.
  struct cut_back {
    recorded_graph& graph;
    program_builder::position at;
    ~cut_back() { graph.cut(at); }
  } const ends{all.graph, all.graph.end()};
  for (std::size_t r = 0; r < seeds_.size(); ++r)
    seeds.push_back({all.result_ids[r], all.graph.add_input(seeds_[r])});
  internal::growable<value_id> needed;
  needed.reserve(all.arguments.size());
  for (const node_ptr& each : all.arguments) needed.push_back(all.graph.id_of(each));
  program_builder code(all.graph.code());
  append_gradients(code, 0, seeds, needed, &left_pending_over<>::layout);
  made_ = all.graph.splice(needed, of_.home_);
}

}  // namespace shardwise::detail
