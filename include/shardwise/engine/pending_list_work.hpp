// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/core/growable.hpp"
#include "shardwise/engine/pending_list.hpp"

namespace shardwise {

SHARDWISE_INLINE internal::growable<node_ptr> pending_list::hold() {
  // Nodes leave the list when they are destroyed, so none may be destroyed under the lock.
  internal::growable<node_ptr> held;
  node_ptr node;
  const std::lock_guard lock(mutex_);
  for (entry* at = ends_.next_; at != &ends_; at = at->next_) {
    node = at->node_->weak_from_this().lock();
    if (node != nullptr) held.push_back(std::move(node));
  }
  return held;
}

}  // namespace shardwise
