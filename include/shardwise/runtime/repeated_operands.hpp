// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/index.hpp"
#include "shardwise/expression/operand.hpp"

#include <cstddef>
#include <tuple>
#include <type_traits>

namespace shardwise {

template <class T, class Extents, class Layout, class Tree, std::size_t N>
class lazy_result;

namespace detail {

/// The number of tensors read by an expression that can still be fused; 0 for other types.
template <class X>
inline constexpr std::size_t lazy_arguments = 0;
template <class T, class Extents, class Layout, class Tree, std::size_t N>
inline constexpr std::size_t lazy_arguments<lazy_result<T, Extents, Layout, Tree, N>> = N;

/// True if two of these operands may be the same expression, and one of them is an rvalue.
template <class A, class B>
inline constexpr bool may_be_one =
    lazy_arguments<std::remove_cvref_t<A>> > 0 &&
    std::is_same_v<std::remove_cvref_t<A>, std::remove_cvref_t<B>> &&
    !(std::is_lvalue_reference_v<A> && std::is_lvalue_reference_v<B>);
template <class... X>
inline constexpr bool may_repeat = false;
template <class A, class... B>
inline constexpr bool may_repeat<A, B...> = (... || may_be_one<A, B>) || may_repeat<B...>;

/// Handles expressions that occur more than once among the operands of a call and are moved from by
/// one of them, as when a function forwards its argument twice: `x * x`. Each becomes one node
/// during its lifetime, computed once as on paper. `X` has the value categories.
template <class... X>
class repeated_operands {
 public:
  explicit repeated_operands(std::remove_reference_t<X>&... operands) : operands_(operands...) {
    for_each_repeated([](const auto& x) { (void)x.share(); });
  }
  repeated_operands(const repeated_operands&) = delete;
  repeated_operands& operator=(const repeated_operands&) = delete;
  ~repeated_operands() {
    for_each_repeated([](auto& x) { x.let_go(); });
  }

 private:
  template <std::size_t I>
  using operand_type = std::tuple_element_t<I, std::tuple<X&&...>>;

  template <class F>
  void for_each_repeated(const F& f) {
    for_each_index<sizeof...(X)>([&]<std::size_t J>() {
      for_each_index<J>([&]<std::size_t I>() {
        constexpr std::size_t moved = std::is_lvalue_reference_v<operand_type<I>> ? J : I;
        if constexpr (may_be_one<operand_type<I>, operand_type<J>>)
          if (&std::get<I>(operands_) == &std::get<J>(operands_)) f(std::get<moved>(operands_));
      });
    });
  }

  std::tuple<std::remove_reference_t<X>&...> operands_;
};
/// Does nothing if the types exclude that two operands are the same.
template <class... X>
  requires(!may_repeat<X&&...>)
class repeated_operands<X...> {
 public:
  explicit repeated_operands(const std::remove_reference_t<X>&...) noexcept {}
};

}  // namespace detail

}  // namespace shardwise
