// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/pointwise_kernel.hpp"

#include <cstddef>
#include <cstring>
#include <type_traits>

/// Fused trees in which a branch occurs twice. Operands are numbered individually, so the type does
/// not tell whether two branches read the same tensors; this is determined at run time.
namespace shardwise {

namespace detail {

/// A tree without the numbers of its operands.
template <class Tree>
struct shape {
  using type = Tree;
};
template <std::size_t I>
struct shape<fused::argument<I>> {
  using type = fused::argument<0>;
};
template <class F, class... Children>
struct shape<fused::call<F, Children...>> {
  using type = fused::call<F, typename shape<Children>::type...>;
};
template <class A, class B>
inline constexpr bool shaped_alike =
    std::is_same_v<typename shape<A>::type, typename shape<B>::type>;

/// The number of branches of a tree with the same shape as another one.
template <class Branch, class Tree>
inline constexpr int branches_like = 0;
template <class Branch, class F, class... Children>
inline constexpr int branches_like<Branch, fused::call<F, Children...>> =
    shaped_alike<Branch, fused::call<F, Children...>> ? 1 : (branches_like<Branch, Children> + ...);

/// The first of some types that is not void.
template <class... T>
struct first_found {
  using type = void;
};
template <class T, class... Rest>
struct first_found<T, Rest...> {
  using type = T;
};
template <class... Rest>
struct first_found<void, Rest...> : first_found<Rest...> {};

/// The first branch of `Whole` that occurs twice, apart from the numbers of its operands, and ends
/// with a function that is not plain arithmetic; void if there is none.
template <class Whole, class Tree = Whole>
struct repeated_branch {
  using type = void;
};
template <class Whole, class F, class... Children>
struct repeated_branch<Whole, fused::call<F, Children...>>
    : first_found<std::conditional_t<(!ExactFunction<F> &&
                                      branches_like<fused::call<F, Children...>, Whole> > 1),
                                     fused::call<F, Children...>, void>,
                  typename repeated_branch<Whole, Children>::type...> {};

/// Calls `f` with the branches of a call.
template <class Function, class... Children, class F>
constexpr auto with_branches(const fused::call<Function, Children...>& tree, const F& f) {
  if constexpr (sizeof...(Children) == 1)
    return f(tree.first);
  else if constexpr (sizeof...(Children) == 2)
    return f(tree.first, tree.second);
  else
    return f(tree.first, tree.second, tree.third);
}

/// Returns the branch of a tree with a given type, which is unique or equal to all others of that
/// type.
template <class Branch, class Tree>
constexpr const Branch* find_branch([[maybe_unused]] const Tree& tree) noexcept {
  if constexpr (std::is_same_v<Branch, Tree>)
    return &tree;
  else if constexpr (branches_like<Branch, Tree> > 0)
    return with_branches(tree, [](const auto&... branches) {
      const Branch* found = nullptr;
      ((found = found != nullptr ? found : find_branch<Branch>(branches)), ...);
      return found;
    });
  else
    return nullptr;
}

/// True if two branches of one shape have the same numbers and read the same operands.
template <std::size_t I, std::size_t J, class Node>
[[nodiscard]] bool is_same_branch(fused::argument<I>, fused::argument<J>,
                                  const Node* nodes) noexcept {
  return nodes[I] == nodes[J];
}
template <class T, class Node>
[[nodiscard]] bool is_same_branch(const fused::constant<T>& a, const fused::constant<T>& b,
                                  const Node*) noexcept {
  return std::memcmp(&a.value, &b.value, sizeof(T)) == 0;
}
template <class F, class... A, class... B, class Node>
[[nodiscard]] bool is_same_branch(const fused::call<F, A...>& a, const fused::call<F, B...>& b,
                                  const Node* nodes) noexcept {
  return with_branches(a, [&](const auto&... left) {
    return with_branches(
        b, [&](const auto&... right) { return (... && is_same_branch(left, right, nodes)); });
  });
}

/// Returns true if all branches of a tree with the shape of `branch` are the same as it.
template <class Branch, class Tree, class Node>
[[nodiscard]] bool repeats(const Tree& tree, const Branch& branch, const Node* nodes) noexcept {
  if constexpr (shaped_alike<Branch, Tree>)
    return is_same_branch(tree, branch, nodes);
  else if constexpr (branches_like<Branch, Tree> > 0)
    return with_branches(
        tree, [&](const auto&... branches) { return (... && repeats(branches, branch, nodes)); });
  else
    return true;
}

template <class Branch, std::size_t N, class F, class... Children>
[[nodiscard]] constexpr auto call_without(const fused::call<F, Children...>& tree) noexcept;
/// A tree with argument `N` in place of each branch of a shape.
template <class Branch, std::size_t N, class Tree>
[[nodiscard]] constexpr auto without_branch(const Tree& tree) noexcept {
  if constexpr (shaped_alike<Branch, Tree>)
    return fused::argument<N>{};
  else if constexpr (branches_like<Branch, Tree> > 0)
    return call_without<Branch, N>(tree);
  else
    return tree;
}
template <class Branch, std::size_t N, class F, class... Children>
[[nodiscard]] constexpr auto call_without(const fused::call<F, Children...>& tree) noexcept {
  return with_branches(tree, [](const auto&... branches) {
    return fused::call<F, decltype(without_branch<Branch, N>(branches))...>{
        without_branch<Branch, N>(branches)...};
  });
}

}  // namespace detail

/// Calls `f` with a tree that computes a repeated branch once, and returns true; returns false if
/// no expensive branch occurs twice with the same operands. `nodes` are the operands: equal ones
/// are the same tensor.
///
///     tanh(a) * tanh(b) with equal nodes a and b: one tanh
template <std::size_t N, class Tree, class Node, class F>
bool with_shared_branch([[maybe_unused]] const Tree& tree, [[maybe_unused]] const Node* nodes,
                        [[maybe_unused]] const F& f) {
  using branch = typename detail::repeated_branch<Tree>::type;
  if constexpr (!std::is_void_v<branch>) {
    const branch& first = *detail::find_branch<branch>(tree);
    if (!detail::repeats(tree, first, nodes)) return false;
    const auto rest = detail::without_branch<branch, N>(tree);
    f(fused::shared<branch, std::remove_const_t<decltype(rest)>, N>{first, rest});
    return true;
  }
  return false;
}

}  // namespace shardwise
