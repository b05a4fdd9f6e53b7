// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/engine/custom_gradients.hpp"
#include "shardwise/engine/pending_node.hpp"
#include "shardwise/runtime/custom_gradient.hpp"

#include <algorithm>
#include <utility>

namespace shardwise::detail {

SHARDWISE_INLINE bool graph_custom_recording::is_own(const node_ptr& made) const {
  pending_node* const task = made->task();
  return task != nullptr && !made->ready() && task->sequence() > begin_ &&
         std::find(results_.begin(), results_.end(), made) == results_.end();
}

SHARDWISE_INLINE void graph_custom_recording::finish_results() {
  for (const node_ptr& each : results_)
    if (pending_node* const task = each->task()) task->set_custom_gradient();
}

SHARDWISE_INLINE bool graph_custom_recording::records() const { return !open_recordings().empty(); }

SHARDWISE_INLINE graph_custom_recording::again_what_follows::again_what_follows() noexcept
    : before_(std::exchange(pending_node::recomputes(), true)) {}
SHARDWISE_INLINE graph_custom_recording::again_what_follows::~again_what_follows() {
  pending_node::recomputes() = before_;
}

SHARDWISE_INLINE void graph_custom_recording::add_gradient(node_ptr x, node_ptr g) {
  if (!has_fractions(x->tensor().type)) return;
  const diagnosis verdict = check_cotangent(x->tensor(), g->tensor());
  if (!verdict.ok()) fail(verdict);
  arguments_.push_back(std::move(x));
  gradients_.push_back(std::move(g));
}

SHARDWISE_INLINE void graph_custom_recording::finish_gradients() {
  const custom_gradient_of_nodes made{next_sequence(), results_, cotangents_, arguments_,
                                      gradients_};
  for (const auto& each : open_recordings()) each->push_back(made);
}

}  // namespace shardwise::detail
