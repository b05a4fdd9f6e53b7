// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/plan/cluster.hpp"
#include "shardwise/plan/manual_operation.hpp"
#include "shardwise/runtime/lazy.hpp"
#include "shardwise/runtime/make_nodes.hpp"
#include "shardwise/runtime/program_input.hpp"
#include "shardwise/runtime/value_nodes.hpp"

#include <array>
#include <cstddef>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

namespace shardwise {

namespace detail {

template <class X>
inline constexpr std::size_t lazy_arguments = 0;
template <class T, class Extents, class Layout, class Tree, std::size_t N>
inline constexpr std::size_t lazy_arguments<lazy<T, Extents, Layout, Tree, N>> = N;

/// What a fused pass takes from each of its operands, decided from their types left to right:
/// everything of a temporary expression that fits, else one tensor; nothing of a number.
template <class Result, class... X>
struct fusion {
  struct share_of {
    bool absorbed = false;
    std::size_t first = 0;
    std::size_t count = 0;
  };
  static constexpr auto shares = [] {
    std::array<share_of, sizeof...(X)> all{};
    std::size_t to_come = (std::size_t{Operand<X>} + ... + 0);
    std::size_t taken = 0;
    std::size_t at = 0;
    const auto take = [&]<class Y>(std::type_identity<Y>) {
      share_of& mine = all[at++];
      mine.first = taken;
      if constexpr (Operand<Y>) {
        --to_come;
        constexpr std::size_t own = lazy_arguments<std::remove_cvref_t<Y>>;
        mine.absorbed =
            !std::is_lvalue_reference_v<Y> && own > 0 &&
            may_fuse(std::remove_cvref_t<Y>::extents_type::value, Result::extents_type::value) &&
            has_room(taken, own, to_come);
        mine.count = mine.absorbed ? own : 1;
        taken += mine.count;
      }
    };
    (take(std::type_identity<X>{}), ...);
    return all;
  }();
  static constexpr std::size_t total = shares.back().first + shares.back().count;

  /// The branch of the fused tree that computes operand `I`.
  template <std::size_t I, class Y>
  [[nodiscard]] static constexpr auto branch(const Y& x) noexcept {
    if constexpr (!Operand<Y>)
      return fused::constant<typename Result::value_type>{
          static_cast<typename Result::value_type>(x)};
    else if constexpr (shares[I].absorbed)
      return fused::shift<shares[I].first>(x.tree());
    else
      return fused::argument<shares[I].first>{};
  }
};

template <class Function>
inline constexpr bool is_on_elements = requires {
  Function::on_elements;
};
/// True for functions that are compiled with what they read as one pass: operands and result have
/// one type, for which there are packets or plain arithmetic.
template <class Function, class Paper, class... X>
inline constexpr bool is_compiled =
    std::is_same_v<compute_type<typename Paper::value_type>, typename Paper::value_type> &&
    !std::is_same_v<typename Paper::value_type, bool> && !is_on_elements<Function> &&
    (... && std::is_same_v<typename element_type_of<typename Paper::value_type, X>::type,
                           typename Paper::value_type>);

/// The tensor that an operation makes, from what it is on paper.
template <class Paper>
using tensor_from = sharded_tensor<typename Paper::value_type, typename Paper::extents_type,
                                   typename Paper::layout_type>;

/// True if two of these operands may be the same expression, one of them as an rvalue.
template <class A, class B>
inline constexpr bool may_be_one =
    lazy_arguments<std::remove_cvref_t<A>> > 0 &&
    std::is_same_v<std::remove_cvref_t<A>, std::remove_cvref_t<B>> &&
    !(std::is_lvalue_reference_v<A> && std::is_lvalue_reference_v<B>);
template <class... X>
inline constexpr bool may_repeat = false;
template <class A, class... B>
inline constexpr bool may_repeat<A, B...> = (... || may_be_one<A, B>) || may_repeat<B...>;

/// Expressions that stand more than once among the operands of a call and are given up by one of
/// them, as where a function forwards its argument twice: `x * x`. Each is one node for as long as
/// this lives, computed once as on paper. `X` has the value categories.
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
/// Does nothing where the types exclude that two operands are the same.
template <class... X>
  requires(!may_repeat<X&&...>)
class repeated_operands<X...> {
 public:
  explicit repeated_operands(const std::remove_reference_t<X>&...) noexcept {}
};

/// A function that waits to be fused with what reads it.
template <class Function, class Paper>
struct deferred {
  template <class... X>
  [[nodiscard]] static auto make(const extents_desc& result, X&&... operands) {
    return make_from(result, std::index_sequence_for<X...>{}, std::forward<X>(operands)...);
  }
  template <class... X>
  using made = decltype(make(std::declval<const extents_desc&>(), std::declval<X>()...));

 private:
  using T = typename Paper::value_type;

  template <std::size_t... I, class... X>
  [[nodiscard]] static auto make_from(const extents_desc& result, std::index_sequence<I...>,
                                      X&&... operands) {
    using plan = fusion<Paper, X...>;
    const auto tree = fused::call<Function, decltype(plan::template branch<I>(operands))...>{
        plan::template branch<I>(operands)...};
    using expression = lazy<T, typename Paper::extents_type, typename Paper::layout_type,
                            std::remove_const_t<decltype(tree)>, plan::total>;
    constexpr bool absorbs = (... || plan::shares[I].absorbed);
    // What has been read by its name is computed by itself, even if it is then moved from; so is
    // what stands twice among the operands.
    if constexpr (absorbs)
      if ((... || is_node<plan::shares[I].absorbed>(operands)))
        return expression(tree, each_node_of<Function, Paper>(result, std::forward<X>(operands)...),
                          result, next_sequence());

    std::array<node_ptr, plan::total> read;
    const auto collect = [&]<std::size_t K, class Given>(auto& x) {
      if constexpr (plan::shares[K].absorbed) {
        auto taken = std::move(x).take_operands();
        std::move(taken.begin(), taken.end(), read.begin() + plan::shares[K].first);
      } else if constexpr (plan::shares[K].count == 1) {
        read[plan::shares[K].first] = read_operand<Given>(static_cast<Given&&>(x));
      }
    };
    (collect.template operator()<I, X>(operands), ...);
    for (const node_ptr& operand : read) require_one_pool(read[0]->home(), operand);
    return expression(tree, std::move(read), result, next_sequence());
  }

  template <bool Absorbed, class X>
  [[nodiscard]] static bool is_node(const X& x) noexcept {
    if constexpr (Absorbed)
      return x.is_node();
    else
      return false;
  }
};

/// How an operation, as types have it, waits to be computed.
template <class Operation, class Paper, class... X>
struct waiting {
  using type = tensor_from<Paper>;

  [[nodiscard]] static type make(const propagation& split, X... operands) {
    return type(whole_node_of<Operation, X...>(split,
                                               element_kernels_of<typename Paper::value_type>,
                                               {read_operand<X>(static_cast<X>(operands))...}));
  }
};
template <class Function, class Paper, class... X>
struct waiting<pointwise<Function>, Paper, X...> {
  using type = tensor_from<Paper>;

  [[nodiscard]] static type make(const extents_desc& extents, X... operands) {
    return type(each_node_of<Function, Paper>(extents, static_cast<X>(operands)...));
  }
};
template <class Function, class Paper, class... X>
  requires is_compiled<Function, Paper, X...>
struct waiting<pointwise<Function>, Paper, X...> {
  using type = typename deferred<Function, Paper>::template made<X...>;

  [[nodiscard]] static type make(const extents_desc& extents, X... operands) {
    return deferred<Function, Paper>::make(extents, static_cast<X>(operands)...);
  }
};

/// What takes in the compiled pass before it.
template <class Operation, class Paper, class X>
  requires(Operation::operation_class::takes_prologue&& fusion<paper_of<X>, X>::shares[0].absorbed)
struct waiting<Operation, Paper, X> {
  using type = tensor_from<Paper>;
  using T = typename std::remove_cvref_t<X>::value_type;

  [[nodiscard]] static type make(const propagation& split, X x) {
    if (x.is_node())
      return type(whole_node_of<Operation, X>(split, element_kernels_of<typename Paper::value_type>,
                                              {read_operand<X>(static_cast<X>(x))}));
    const tensor_desc folded = desc_of(x);
    const auto tree = x.tree();
    auto read = std::move(x).take_operands();
    constexpr const operation& what = operation_of<typename Operation::operation_class>;
    operation_cost cost =
        what.cost(read[0]->where().mesh(), Operation::how, {folded}, split.result);
    cost.flops *= 1 + decltype(tree)::flops;
    return type(detail::make_fold<T>(read, split.result, Operation::how, cost, tree, folded));
  }
};

}  // namespace detail

/// What operations on tensors mean: elementwise ones wait to be fused, the others become nodes.
struct lazy_domain {
  static constexpr bool has_values = true;

  /// A tensor of these types.
  template <class T, class Extents, class Layout>
  using tensor = sharded_tensor<T, Extents, Layout>;
  /// What `apply` gives.
  template <class Operation, class Paper, class... X>
  using made = typename detail::waiting<Operation, Paper, X&&...>::type;

  template <class Operation, class Paper, class Result, class... X>
  [[nodiscard]] static auto apply(const Result& result, X&&... operands) {
    [[maybe_unused]] const detail::repeated_operands<X...> as_one(operands...);
    return detail::waiting<Operation, Paper, X&&...>::make(result, std::forward<X>(operands)...);
  }
  /// A number beside a tensor, as a tensor of rank 0.
  template <Element T, class Model>
  [[nodiscard]] static auto number(const Model& model, T value) {
    return tensor<T, extents<>, layout<mesh_of<Model>, P<>>>(
        detail::number_node_beside(model, value));
  }
  /// A further result of an operation that has several: what `second` gives.
  template <class Paper>
  using made_second = detail::tensor_from<Paper>;
  template <class Paper, class X>
  [[nodiscard]] static auto second(const X& first) {
    return detail::tensor_from<Paper>(
        result_node_of(first.share(), 1, element_kernels_of<typename Paper::value_type>));
  }

  template <class Made, class X>
  [[nodiscard]] static Made reshard(X&& x) {
    return Made(
        reshard_node_of(detail::read_operand<X>(std::forward<X>(x)), Made::layout_type::value));
  }
  template <class Made, class X>
  [[nodiscard]] static Made manually(X&& x, const tensor_desc& result) {
    return Made(manual_node_of(detail::read_operand<X>(std::forward<X>(x)), result));
  }
  template <class Made, class X>
  [[nodiscard]] static Made manually(X&& x, const tensor_desc& result,
                                     const manual_collective& called) {
    return Made(collective_node_of(detail::read_operand<X>(std::forward<X>(x)),
                                   manual_change(called), result));
  }
};

}  // namespace shardwise
