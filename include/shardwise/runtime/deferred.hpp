// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/plan/cluster.hpp"
#include "shardwise/runtime/lazy.hpp"
#include "shardwise/runtime/repeated_operands.hpp"
#include "shardwise/runtime/waiting.hpp"

#include <array>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace shardwise::detail {

/// What a fused pass takes from each operand, decided from their types from left to right: the
/// whole tree of a temporary expression that fits, otherwise one tensor; nothing for a number.
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

  /// The subtree of the fused tree that computes operand `I`.
  template <std::size_t I, class Y>
  [[nodiscard]] static constexpr auto branch(const Y& x) noexcept {
    if constexpr (!Operand<Y>)
      return fused::constant<typename Result::value_type>{
          static_cast<typename Result::value_type>(x)};
    else if constexpr (shares[I].absorbed)
      return internal::shifted_by<shares[I].first>::of(x.tree());
    else
      return fused::argument<shares[I].first>{};
  }
};

/// A function that can still be fused with its reader.
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
    using expression = lazy_result<T, typename Paper::extents_type, typename Paper::layout_type,
                                   std::remove_const_t<decltype(tree)>, plan::total>;
    constexpr bool absorbs = (... || plan::shares[I].absorbed);
    // An expression that has been read by name is computed separately, even if it is moved from
    // afterwards; so is one that occurs twice among the operands.
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

template <class Function, class Paper, class... X>
  requires is_compiled<Function, Paper, X...>
struct waiting<pointwise<Function>, Paper, X...> {
  using type = typename deferred<Function, Paper>::template made<X...>;

  [[nodiscard]] static type make(const extents_desc& extents, X... operands) {
    return deferred<Function, Paper>::make(extents, static_cast<X>(operands)...);
  }
};

/// An operation that includes the compiled pass of its operand.
template <class Operation, class Paper, class X>
  requires(Operation::operation_class::takes_prologue&& fusion<paper_of<X>, X>::shares[0].absorbed)
struct waiting<Operation, Paper, X> {
  using type = tensor_from<Paper>;
  using T = typename std::remove_cvref_t<X>::value_type;

  [[nodiscard]] static type make(const propagation& split, X x) {
    if (x.is_node())
      return handle_of<type>(
          whole_node_of<Operation, X>(split, element_kernels_of<typename Paper::value_type>,
                                      {read_operand<X>(static_cast<X>(x))}));
    const tensor_desc from = desc_of(x);
    const auto tree = x.tree();
    auto read = std::move(x).take_operands();
    using class_type = typename Operation::operation_class;
    constexpr const operation& what = operation_of<class_type>;
    tensor_desc result = split.result;
    result.type = element_of<typename Paper::value_type>;
    using loop = reduction_loop<class_type, T, std::remove_const_t<decltype(tree)>,
                                std::tuple_size_v<decltype(read)>>;
    return handle_of<type>(
        make_loop_node(read, result, element_kernels_of<typename Paper::value_type>, what,
                       std::make_shared<call_details>(
                           Operation::how, result_of<Operation, paper_of<X>>::rule, split),
                       compiled_loop(loop::functions, typename loop::prologue{tree, from})));
  }
};

}  // namespace shardwise::detail
