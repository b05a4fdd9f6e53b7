// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/engine/pending_node.hpp"
#include "shardwise/runtime/recompute.hpp"

#include <utility>

namespace shardwise::detail {

SHARDWISE_INLINE graph_recomputing::graph_recomputing() noexcept
    : before_(std::exchange(pending_node::recomputes(), true)) {}

SHARDWISE_INLINE graph_recomputing::~graph_recomputing() { pending_node::recomputes() = before_; }

SHARDWISE_INLINE void graph_recomputing::keep(tensor_node& made) const noexcept {
  pending_node* const task = made.task();
  if (task != nullptr && !before_ && task->recomputed() == pending_node::again::wholly)
    task->recompute(pending_node::again::within);
}

}  // namespace shardwise::detail
