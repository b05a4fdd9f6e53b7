// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/error.hpp"
#include "shardwise/engine/device_pool.hpp"
#include "shardwise/tensor/node.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>

namespace shardwise::detail {

/// The operands of a lazy expression of `N` tensors until it becomes a node, and then the node. It
/// is compiled once for all expressions of `N` tensors.
template <std::size_t N>
class held_operands {
 public:
  using operand_list = std::array<node_ptr, N>;
  /// Makes the node of an expression from its tree, and takes its operands.
  using maker = node_ptr (*)(const held_operands& held, operand_list& operands, const void* tree);

  held_operands(operand_list operands, const extents_desc& extents, std::uint64_t sequence)
      : operands_(std::move(operands)),
        mesh_(&operands_[0]->home()->mesh()),
        extents_(extents),
        sequence_(sequence) {}
  /// Holds the node of an expression that already is one.
  held_operands(node_ptr made, const extents_desc& extents, std::uint64_t sequence)
      : mesh_(&made->home()->mesh()),
        extents_(extents),
        sequence_(sequence),
        made_(std::move(made)) {}
  /// Holds the node of a copied expression, which `other.name_as` returned.
  held_operands(const held_operands& other, node_ptr made)
      : mesh_(other.mesh_),
        extents_(other.extents_),
        sequence_(other.sequence_),
        made_(std::move(made)) {
    made_->name();
  }
  held_operands(const held_operands&) = delete;
  held_operands(held_operands&& other) noexcept
      : operands_(std::move(other.operands_)),
        mesh_(std::exchange(other.mesh_, nullptr)),
        extents_(other.extents_),
        sequence_(other.sequence_),
        made_(std::move(other.made_)) {}
  void operator=(const held_operands&) = delete;
  ~held_operands() = default;

  [[nodiscard]] const extents_desc& extents() const noexcept { return extents_; }
  [[nodiscard]] const mesh_desc& mesh() const {
    require_whole();
    return *mesh_;
  }
  [[nodiscard]] std::uint64_t sequence() const noexcept { return sequence_; }
  [[nodiscard]] bool is_node() const noexcept { return made_ != nullptr; }

  /// Releases the operands.
  [[nodiscard]] operand_list take() {
    require_whole();
    mesh_ = nullptr;
    return std::move(operands_);
  }
  /// Returns the node of an expression that is kept.
  [[nodiscard]] node_ptr name_as(maker make, const void* tree) const {
    // Several threads may read one expression; the first one makes the node.
    static std::mutex naming;
    const std::lock_guard lock(naming);
    if (made_ == nullptr) {
      require_whole();
      made_ = make(*this, operands_, tree);
      operands_ = {};
    }
    return made_;
  }
  /// Returns the node of an expression that is given up.
  [[nodiscard]] node_ptr give_up_as(maker make, const void* tree) {
    if (made_ != nullptr) return made_;
    operand_list operands = take();
    return make(*this, operands, tree);
  }
  /// Resets the node.
  void let_go() noexcept {
    mesh_ = nullptr;
    made_.reset();
  }

 private:
  void require_whole() const {
    if (mesh_ == nullptr) fail({.rule = violation::expression_was_moved});
  }

  mutable operand_list operands_;
  const mesh_desc* mesh_;  // null once the expression has been moved from
  extents_desc extents_;
  std::uint64_t sequence_;
  mutable node_ptr made_;
};

}  // namespace shardwise::detail
