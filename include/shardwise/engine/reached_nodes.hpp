// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/growable.hpp"
#include "shardwise/engine/pending_node.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace shardwise::internal {

/// A node of a graph that is about to run.
struct reached_node {
  tensor_node* node;
  /// How many operands of the graph's pending nodes it is.
  long readers = 0;
  /// True if something other than these operands holds the node, such as a handle of the program.
  bool is_held = false;
  /// True for a computed node whose memory nothing else needs after the run.
  bool is_free = false;
};

/// The nodes of the graph reachable from some roots: pending ones in the order in which they were
/// created, and computed ones in the order in which the others read them. Their numbers, which are
/// positions in these lists, are reset by the destructor, also after an exception.
class reached_nodes {
 public:
  // From here on, the destructor resets what an exception leaves.
  explicit reached_nodes(std::span<tensor_node* const> roots) : reached_nodes() {
    for (tensor_node* root : roots) meet(*root);
    for (std::size_t next = 0; next < pending_.size(); ++next)
      for (const node_ptr& operand : pending_[next].node->task()->operands()) meet(*operand);
    std::sort(pending_.begin(), pending_.end(), [](const reached_node& a, const reached_node& b) {
      return a.node->task()->sequence() < b.node->task()->sequence();
    });
    std::int32_t number = 0;
    for (const reached_node& at : pending_) at.node->number = number++;
    for (const reached_node& at : pending_)
      for (const node_ptr& operand : at.node->task()->operands()) ++enter(*operand).readers;
    for (tensor_node* root : roots) (void)enter(*root);
    // Decided once: handles may be released while the program is planned.
    const auto judge = [](reached_node& at) {
      at.is_held = at.node->weak_from_this().use_count() > at.readers;
    };
    for (reached_node& at : pending_) judge(at);
    for (reached_node& at : ready_) {
      judge(at);
      // `owns_memory` orders what follows after the reads of handles that were released.
      at.is_free = !at.is_held && at.node->owns_memory();
    }
  }
  reached_nodes(const reached_nodes&) = delete;
  reached_nodes& operator=(const reached_nodes&) = delete;
  ~reached_nodes() {
    for (const reached_node& at : pending_) at.node->number = -1;
    for (const reached_node& at : ready_) at.node->number = -1;
  }

  /// Returns their machine.
  [[nodiscard]] const std::shared_ptr<pool_state>& home() const noexcept {
    return (pending_.empty() ? ready_ : pending_).front().node->home();
  }
  [[nodiscard]] const growable<reached_node>& pending() const noexcept { return pending_; }
  [[nodiscard]] const growable<reached_node>& ready() const noexcept { return ready_; }

 private:
  reached_nodes() = default;

  void meet(tensor_node& found) {
    found.arrive();
    if (found.ready() || found.number >= 0) return;
    pending_.push_back({&found});
    found.number = 0;
  }
  /// Returns the entry of a node; a computed one is added when it is first met.
  [[nodiscard]] reached_node& enter(tensor_node& found) {
    if (!found.ready()) return pending_[static_cast<std::size_t>(found.number)];
    if (found.number < 0) {
      ready_.push_back({&found});
      found.number = static_cast<std::int32_t>(ready_.size()) - 1;
    }
    return ready_[static_cast<std::size_t>(found.number)];
  }

  growable<reached_node> pending_;
  growable<reached_node> ready_;
};

}  // namespace shardwise::internal
