// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/runtime/computation.hpp"
#include "shardwise/runtime/recompute.hpp"

#include <utility>

namespace shardwise::detail {

SHARDWISE_INLINE graph_recomputing::graph_recomputing() noexcept
    : before_(std::exchange(computation::recomputes(), true)) {}

SHARDWISE_INLINE graph_recomputing::~graph_recomputing() { computation::recomputes() = before_; }

SHARDWISE_INLINE void graph_recomputing::keep(tensor_node& made) const noexcept {
  computation* const task = made.task();
  if (task != nullptr && !before_ && task->recomputed() == computation::again::wholly)
    task->recompute(computation::again::within);
}

}  // namespace shardwise::detail
