// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/index.hpp"
#include "shardwise/core/text.hpp"

#include <cstddef>

/// The shape of a fused elementwise computation: a tree of functions of numbered operands, known at
/// compile time, without layouts or extents, so that a kernel is compiled once for each tree.
///
/// `relu(a * b + c)` is `call<relu, call<add, call<multiply, argument<0>, argument<1>>,
/// argument<2>>>`.
namespace shardwise::fused {

/// The element of operand `I`.
template <std::size_t I>
struct argument {
  static constexpr std::size_t arguments = I + 1;
  static constexpr int calls = 0;
  static constexpr int flops = 0;
};

/// The same number for every element.
template <class T>
struct constant {
  T value;
  static constexpr std::size_t arguments = 0;
  static constexpr int calls = 1;
  static constexpr int flops = 0;
};

/// A function of the values of its children, which are stored as `first`, `second`, `third`.
template <class Function, class... Children>
struct call;

template <class Function, class A>
struct call<Function, A> {
  using function = Function;
  A first;
  static constexpr std::size_t arguments = A::arguments;
  static constexpr int calls = 1 + A::calls;
  static constexpr int flops = Function::flops + A::flops;
};
template <class Function, class A, class B>
struct call<Function, A, B> {
  using function = Function;
  A first;
  B second;
  static constexpr std::size_t arguments =
      A::arguments > B::arguments ? A::arguments : B::arguments;
  static constexpr int calls = 1 + A::calls + B::calls;
  static constexpr int flops = Function::flops + A::flops + B::flops;
};
template <class Function, class A, class B, class C>
struct call<Function, A, B, C> {
  using function = Function;
  A first;
  B second;
  C third;
  static constexpr std::size_t arguments = call<Function, call<Function, A, B>, C>::arguments;
  static constexpr int calls = 1 + A::calls + B::calls + C::calls;
  static constexpr int flops = Function::flops + A::flops + B::flops + C::flops;
};

/// A tree over `N` operands that reads the value of a branch, computed once, as argument `N`.
template <class Branch, class Tree, std::size_t N>
struct shared {
  Branch branch;
  Tree tree;
};

}  // namespace shardwise::fused

namespace shardwise::internal {

/// The same tree with the number of every operand increased by `Offset`: operands of a right-hand
/// side follow those of the left.
template <std::size_t Offset>
struct shifted_by {
  template <std::size_t I>
  [[nodiscard]] static constexpr fused::argument<I + Offset> of(fused::argument<I>) noexcept {
    return {};
  }
  template <class T>
  [[nodiscard]] static constexpr fused::constant<T> of(const fused::constant<T>& leaf) noexcept {
    return leaf;
  }
  template <class F, class A>
  [[nodiscard]] static constexpr auto of(const fused::call<F, A>& tree) noexcept {
    auto a = of(tree.first);
    return fused::call<F, decltype(a)>{a};
  }
  template <class F, class A, class B>
  [[nodiscard]] static constexpr auto of(const fused::call<F, A, B>& tree) noexcept {
    auto a = of(tree.first);
    auto b = of(tree.second);
    return fused::call<F, decltype(a), decltype(b)>{a, b};
  }
  template <class F, class A, class B, class C>
  [[nodiscard]] static constexpr auto of(const fused::call<F, A, B, C>& tree) noexcept {
    auto a = of(tree.first);
    auto b = of(tree.second);
    auto c = of(tree.third);
    return fused::call<F, decltype(a), decltype(b), decltype(c)>{a, b, c};
  }
};

}  // namespace shardwise::internal
