// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/tensor/node.hpp"

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace shardwise {

/// What a machine has been asked for and has not computed: how `sync(pool)` finds its work.
///
/// A node enters when its operands are known, and leaves when it has been computed, when that
/// failed, or when nobody holds it any more; each costs the same however long the list is. The list
/// keeps nothing alive. Thread-safe.
class pending_list {
 public:
  /// The place of one node in the list, a part of the node.
  class entry {
   public:
    entry() = default;
    entry(const entry&) = delete;
    entry& operator=(const entry&) = delete;
    ~entry() { leave(); }

    /// Takes the node off its list, if it is on one.
    void leave() noexcept {
      if (list_ == nullptr) return;
      const std::lock_guard lock(list_->mutex_);
      previous_->next_ = next_;
      next_->previous_ = previous_;
      list_ = nullptr;
    }

   private:
    friend pending_list;
    node* node_ = nullptr;
    pending_list* list_ = nullptr;
    entry* previous_ = this;
    entry* next_ = this;
  };

  /// Puts a node on the list, which outlives it; `place` is its own, and on no list.
  void enter(entry& place, node& node) {
    place.node_ = &node;
    place.list_ = this;
    const std::lock_guard lock(mutex_);
    place.next_ = &ends_;
    place.previous_ = ends_.previous_;
    ends_.previous_->next_ = &place;
    ends_.previous_ = &place;
  }

  /// The nodes on the list that somebody holds, in the order in which they entered, held from now
  /// on by the caller too.
  [[nodiscard]] std::vector<node_ptr> hold() {
    // Nodes that die leave the list, so none may die under the lock.
    std::vector<node_ptr> held;
    node_ptr node;
    const std::lock_guard lock(mutex_);
    for (entry* at = ends_.next_; at != &ends_; at = at->next_) {
      node = at->node_->weak_from_this().lock();
      if (node != nullptr) held.push_back(std::move(node));
    }
    return held;
  }

 private:
  std::mutex mutex_;
  entry ends_;
};

}  // namespace shardwise
