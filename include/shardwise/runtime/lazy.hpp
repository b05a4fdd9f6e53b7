// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/engine/device_pool.hpp"
#include "shardwise/engine/run_program.hpp"
#include "shardwise/expression/fused.hpp"
#include "shardwise/operation/assign.hpp"
#include "shardwise/runtime/expression_loop.hpp"
#include "shardwise/runtime/held_operands.hpp"
#include "shardwise/tensor/sharded_tensor.hpp"

#include <array>
#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

namespace shardwise {

/// An unnamed elementwise expression: a tree of functions, known at compile time, of `N` tensors,
/// which it owns.
///
/// Such expressions exist only in programs of headers alone: with the compiled library, each
/// function becomes a node, and nodes are fused at run time.
///
/// A temporary expression is absorbed by the elementwise function or reduction that reads it,
/// without allocation. An expression that is read by name becomes a node that is computed once, for
/// all readers. An expression that was moved from cannot be read again: that throws.
template <class T, class Extents, class Layout, class Tree, std::size_t N>
class lazy_result : public type_parts::named_once<paper_tensor<T, Extents, Layout>>,
                    public on_devices,
                    public type_parts::no_number<T, Extents> {
 public:
  using domain = lazy_domain;
  using value_type = T;
  using extents_type = Extents;
  using layout_type = Layout;
  static constexpr std::size_t arguments = N;

  lazy_result(Tree tree, std::array<node_ptr, N> operands, const extents_desc& extents,
              std::uint64_t sequence)
      : tree_(tree), held_(std::move(operands), extents, sequence) {}
  /// Constructs an expression that is already a node.
  lazy_result(Tree tree, node_ptr made, const extents_desc& extents, std::uint64_t sequence)
      : tree_(tree), held_(std::move(made), extents, sequence) {}

  /// A copy is the same expression; it is computed once together with the original, which copying
  /// names.
  lazy_result(const lazy_result& other) : tree_(other.tree_), held_(other.held_, other.share()) {}
  lazy_result(lazy_result&& other) noexcept : tree_(other.tree_), held_(std::move(other.held_)) {}
  using type_parts::named_once<paper_tensor<T, Extents, Layout>>::operator=;
  /// Keeps the compiler from declaring a copy assignment of its own, so that the assignment above
  /// reports its error for expressions of the same type too.
  void operator=(const lazy_result&) requires(N == 0) = delete;
  ~lazy_result() = default;

  [[nodiscard]] const extents_desc& extents() const noexcept { return held_.extents(); }
  [[nodiscard]] const mesh_desc& mesh() const { return held_.mesh(); }
  [[nodiscard]] const Tree& tree() const noexcept { return tree_; }
  /// Returns true if the expression is already a node; used for temporaries, which no other thread
  /// can access.
  [[nodiscard]] bool is_node() const noexcept { return held_.is_node(); }
  /// Returns the tensors that it reads, for the operation that absorbs it.
  [[nodiscard]] std::array<node_ptr, N> take_operands() && { return held_.take(); }
  /// Returns the node of the expression, which the first caller creates; the node takes over the
  /// operands, so that they live no longer than necessary. Thread-safe.
  [[nodiscard]] node_ptr share() const& { return held_.name_as(&make_node, &tree_); }
  /// The same for a temporary, which no other thread can access.
  [[nodiscard]] node_ptr share() && { return held_.give_up_as(&make_node, &tree_); }
  /// Resets the node, as if the expression had been moved from.
  void let_go() noexcept { held_.let_go(); }

 private:
  static node_ptr make_node(const detail::held_operands<N>& held, std::array<node_ptr, N>& operands,
                            const void* tree) {
    return detail::make_loop_node(
        operands, desc_of<lazy_result>(held.extents()), element_kernels_of<T>,
        operation_of<pointwise<typename Tree::function>>, nullptr,
        compiled_loop(pass_loop<T, Tree, N>::functions, *static_cast<const Tree*>(tree)),
        held.sequence());
  }

  Tree tree_;
  detail::held_operands<N> held_;
};

}  // namespace shardwise
