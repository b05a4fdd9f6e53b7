// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/expression/fused.hpp"
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
/// allocated. Read by name, it becomes a node that is computed once, whoever reads it.
template <class T, class Extents, class Layout, class Tree, std::size_t N>
class lazy {
 public:
  using domain = lazy_domain;
  using value_type = T;
  using extents_type = Extents;
  using layout_type = Layout;
  static constexpr std::size_t arguments = N;

  lazy(Tree tree, std::array<node_ptr<T>, N> operands, const tensor_desc& result)
      : tree_(tree),
        operands_(std::move(operands)),
        result_(result),
        sequence_(computation::next_sequence()) {}

  /// A copy is the same expression, computed once with the original.
  lazy(const lazy& other)
      : tree_(other.tree_),
        operands_(other.operands_),
        result_(other.result_),
        sequence_(other.sequence_),
        named_(other.share()) {}
  lazy(lazy&&) noexcept = default;
  lazy& operator=(const lazy&) = delete;
  lazy& operator=(lazy&&) = delete;
  ~lazy() = default;

  [[nodiscard]] const extents_desc& extents() const noexcept { return result_.extents; }
  [[nodiscard]] const mesh_desc& mesh() const noexcept { return operands_[0]->where().mesh(); }
  [[nodiscard]] const Tree& tree() const noexcept { return tree_; }
  [[nodiscard]] const std::array<node_ptr<T>, N>& operands() const noexcept { return operands_; }
  /// The functions that are applied, first to last.
  [[nodiscard]] text<60> label() const noexcept {
    text<60> symbols;
    fused::add_symbols(symbols, tree_);
    return symbols;
  }
  /// The node of the expression, made by the first who asks. Threads may ask at once.
  [[nodiscard]] node_ptr<T> share() const& {
    static std::mutex naming;
    const std::lock_guard lock(naming);
    if (named_ == nullptr) named_ = make_node();
    return named_;
  }
  /// The same of a temporary, which no other thread can ask.
  [[nodiscard]] node_ptr<T> share() && {
    if (named_ == nullptr) named_ = make_node();
    return named_;
  }

 private:
  [[nodiscard]] node_ptr<T> make_node() const {
    return make_pending<pointwise_node<T, Tree, N>>(
        operands_, placement(mesh(), result_),
        pass_step(mesh(), result_, index_t{Tree::flops}, label()), sequence_, tree_);
  }

  Tree tree_;
  std::array<node_ptr<T>, N> operands_;
  tensor_desc result_;
  std::uint64_t sequence_;
  mutable node_ptr<T> named_;
};

}  // namespace shardwise
