// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/runtime/computation.hpp"
#include "shardwise/runtime/recompute.hpp"

#include <utility>

namespace shardwise::detail {

SHARDWISE_INLINE graph_recomputing::graph_recomputing() noexcept
    : before_(std::exchange(pending_computation::recomputes(), true)) {}

SHARDWISE_INLINE graph_recomputing::~graph_recomputing() {
  pending_computation::recomputes() = before_;
}

SHARDWISE_INLINE void graph_recomputing::keep(tensor_node& made) const noexcept {
  pending_computation* const task = made.task();
  if (task != nullptr && !before_ && task->recomputed() == pending_computation::again::wholly)
    task->recompute(pending_computation::again::within);
}

}  // namespace shardwise::detail
