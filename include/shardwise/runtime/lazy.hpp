// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/expression/fused.hpp"
#include "shardwise/operation/assign.hpp"
#include "shardwise/runtime/device_pool.hpp"
#include "shardwise/runtime/fused_nodes.hpp"
#include "shardwise/runtime/run_program.hpp"
#include "shardwise/tensor/sharded_tensor.hpp"

#include <array>
#include <cstddef>
#include <memory>
#include <mutex>
#include <type_traits>
#include <utility>

namespace shardwise {

/// An elementwise expression that has not been named yet: a tree of functions known to the compiler
/// over `N` tensors, which it owns.
///
/// As a temporary it is absorbed by the elementwise function or fold that reads it, and nothing is
/// allocated. Read by name, it becomes a node that is computed once, whoever reads it. Moved from,
/// it cannot be read again: that throws.
template <class T, class Extents, class Layout, class Tree, std::size_t N>
class lazy : public detail::named_once<paper_tensor<T, Extents, Layout>>, public on_devices {
 public:
  using domain = lazy_domain;
  using value_type = T;
  using extents_type = Extents;
  using layout_type = Layout;
  static constexpr std::size_t arguments = N;

  lazy(Tree tree, std::array<node_ptr, N> operands, const extents_desc& extents,
       std::uint64_t sequence)
      : tree_(tree),
        operands_(std::move(operands)),
        mesh_(&operands_[0]->home()->mesh()),
        extents_(extents),
        sequence_(sequence) {}
  /// The same of an expression that is a node already.
  lazy(Tree tree, node_ptr made, const extents_desc& extents, std::uint64_t sequence)
      : tree_(tree),
        mesh_(&made->home()->mesh()),
        extents_(extents),
        sequence_(sequence),
        made_(std::move(made)) {}

  /// A copy is the same expression, computed once with the original, which is named by that.
  lazy(const lazy& other)
      : tree_(other.tree_),
        mesh_(other.mesh_),
        extents_(other.extents_),
        sequence_(other.sequence_),
        made_(other.share()) {
    made_->name();
  }
  lazy(lazy&& other) noexcept
      : tree_(other.tree_),
        operands_(std::move(other.operands_)),
        mesh_(std::exchange(other.mesh_, nullptr)),
        extents_(other.extents_),
        sequence_(other.sequence_),
        made_(std::move(other.made_)) {}
  using detail::named_once<paper_tensor<T, Extents, Layout>>::operator=;
  /// Never chosen, so that the rule above answers for expressions of one type too.
  void operator=(const lazy&) requires(N == 0) = delete;
  ~lazy() = default;

  [[nodiscard]] const extents_desc& extents() const noexcept { return extents_; }
  [[nodiscard]] const mesh_desc& mesh() const { return *whole().mesh_; }
  [[nodiscard]] const Tree& tree() const noexcept { return tree_; }
  /// True if the expression is a node already; asked of a temporary, which no other thread has.
  [[nodiscard]] bool is_node() const noexcept { return made_ != nullptr; }
  /// The tensors that it reads, which whoever absorbs it takes over.
  [[nodiscard]] std::array<node_ptr, N> take_operands() && {
    (void)whole();
    mesh_ = nullptr;
    return std::move(operands_);
  }
  /// The node of the expression, made by the first who asks; it takes the operands over, so that
  /// they live no longer than it needs them. Threads may ask at once.
  [[nodiscard]] node_ptr share() const& {
    static std::mutex naming;
    const std::lock_guard lock(naming);
    if (made_ == nullptr) {
      (void)whole();
      made_ = make_node(operands_);
      operands_ = {};
    }
    return made_;
  }
  /// The same of a temporary, which no other thread can ask.
  [[nodiscard]] node_ptr share() && {
    if (made_ != nullptr) return made_;
    return make_node(std::move(*this).take_operands());
  }
  /// Forgets the node, as if the expression had been moved from.
  void let_go() noexcept {
    mesh_ = nullptr;
    made_.reset();
  }

 private:
  /// This, unless it was moved from: then its operands are elsewhere.
  [[nodiscard]] const lazy& whole() const {
    if (mesh_ == nullptr) fail({.rule = broken::expression_was_moved});
    return *this;
  }
  [[nodiscard]] node_ptr make_node(std::array<node_ptr, N> operands) const {
    return detail::make_pass<T>(operands, desc_of<lazy>(extents_), sequence_, tree_);
  }

  Tree tree_;
  mutable std::array<node_ptr, N> operands_;
  /// Null in an expression that was moved from.
  const mesh_desc* mesh_;
  extents_desc extents_;
  std::uint64_t sequence_;
  mutable node_ptr made_;
};

}  // namespace shardwise
