// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/growable.hpp"
#include "shardwise/tensor/node.hpp"

#include <memory>
#include <mutex>
#include <utility>

namespace shardwise {

/// The values requested on a machine that are not computed yet, for `sync(pool)`.
///
/// A node enters when its operands are set, and leaves when it has been computed, when that failed,
/// or when no handle holds it; each takes constant time. The list does not keep nodes alive.
/// Thread-safe.
class pending_list {
 public:
  /// The list entry of one node, a member of the node.
  class entry {
   public:
    entry() = default;
    entry(const entry&) = delete;
    entry& operator=(const entry&) = delete;
    ~entry() { leave(); }

    /// Removes the node from its list, if it is on one.
    void leave() noexcept {
      if (list_ == nullptr) return;
      const std::lock_guard lock(list_->mutex_);
      previous_->next_ = next_;
      next_->previous_ = previous_;
      list_ = nullptr;
    }

   private:
    friend pending_list;
    tensor_node* node_ = nullptr;
    pending_list* list_ = nullptr;
    entry* previous_ = this;
    entry* next_ = this;
  };

  /// Adds a node to the list, which must outlive it; `place` is the node's own entry, and on no
  /// list.
  void enter(entry& place, tensor_node& node) {
    place.node_ = &node;
    place.list_ = this;
    const std::lock_guard lock(mutex_);
    place.next_ = &ends_;
    place.previous_ = ends_.previous_;
    ends_.previous_->next_ = &place;
    ends_.previous_ = &place;
  }

  /// Returns the nodes on the list that are held, in the order in which they entered; the caller
  /// holds them too from now on.
  [[nodiscard]] internal::growable<node_ptr> hold();

 private:
  std::mutex mutex_;
  entry ends_;
};

}  // namespace shardwise
