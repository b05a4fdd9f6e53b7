// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/expression/fused.hpp"
#include "shardwise/operation/assign.hpp"
#include "shardwise/runtime/run_program.hpp"
#include "shardwise/runtime/step_nodes.hpp"
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

  lazy(Tree tree, std::array<node_ptr<T>, N> operands, const extents_desc& extents,
       std::uint64_t sequence)
      : tree_(tree), operands_(std::move(operands)), extents_(extents), sequence_(sequence) {}

  /// A copy is the same expression, computed once with the original.
  lazy(const lazy& other)
      : tree_(other.tree_),
        operands_(other.operands_),
        extents_(other.extents_),
        sequence_(other.sequence_),
        named_(other.share()) {}
  lazy(lazy&&) noexcept = default;
  using detail::named_once<paper_tensor<T, Extents, Layout>>::operator=;
  /// Never chosen, so that the rule above answers for expressions of one type too.
  void operator=(const lazy&) requires(N == 0) = delete;
  ~lazy() = default;

  [[nodiscard]] const extents_desc& extents() const noexcept { return extents_; }
  [[nodiscard]] const mesh_desc& mesh() const { return whole().operands_[0]->where().mesh(); }
  [[nodiscard]] const Tree& tree() const noexcept { return tree_; }
  /// Its place in the order in which expressions were written.
  [[nodiscard]] std::uint64_t sequence() const noexcept { return sequence_; }
  /// The tensors that it reads, which whoever absorbs it takes over.
  [[nodiscard]] std::array<node_ptr<T>, N> take_operands() && {
    (void)whole();
    return std::move(operands_);
  }
  /// The node of the expression, made by the first who asks. Threads may ask at once.
  [[nodiscard]] node_ptr<T> share() const& {
    static std::mutex naming;
    const std::lock_guard lock(naming);
    if (named_ == nullptr) named_ = make_node(whole().operands_);
    return named_;
  }
  /// The same of a temporary, which no other thread can ask.
  [[nodiscard]] node_ptr<T> share() && {
    if (named_ != nullptr) return named_;
    return make_node(std::move(*this).take_operands());
  }

 private:
  /// This, unless it was moved from: then its operands are elsewhere.
  [[nodiscard]] const lazy& whole() const {
    if (operands_[0] == nullptr) fail({.rule = broken::expression_was_moved});
    return *this;
  }
  [[nodiscard]] node_ptr<T> make_node(std::array<node_ptr<T>, N> operands) const {
    return make_pending<pointwise_node<T, Tree, N>>(std::move(operands), desc_of<lazy>(extents_),
                                                    sequence_, tree_);
  }

  Tree tree_;
  std::array<node_ptr<T>, N> operands_;
  extents_desc extents_;
  std::uint64_t sequence_;
  mutable node_ptr<T> named_;
};

}  // namespace shardwise
