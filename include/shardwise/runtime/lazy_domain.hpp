// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/einsum.hpp"
#include "shardwise/operation/fold.hpp"
#include "shardwise/runtime/lazy.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
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

/// The node of an operand, named where an lvalue was given; `X` has the value category.
template <class X>
[[nodiscard]] auto read_operand(const std::remove_reference_t<X>& x) {
  node_ptr<typename std::remove_cvref_t<X>::value_type> read = x.share();
  if constexpr (std::is_lvalue_reference_v<X>) read->name();
  return read;
}

template <class T>
void require_one_pool(const std::shared_ptr<machine>& home, const node_ptr<T>& operand) {
  if (operand->home() != home) fail({.rule = broken::operand_pools_differ});
}

/// The tensor that an operation makes, from what it is on paper.
template <class Paper>
using tensor_from = sharded_tensor<typename Paper::value_type, typename Paper::extents_type,
                                   typename Paper::layout_type>;

/// How an operation on tensors waits to be computed.
template <class Operation>
struct deferring;

template <class Function>
struct deferring<pointwise<Function>> {
  template <class Paper, class... X>
  [[nodiscard]] static auto make(const extents_desc& result, X&&... operands) {
    return make<Paper>(result, std::index_sequence_for<X...>{}, std::forward<X>(operands)...);
  }
  template <class Paper, class... X>
  using made = decltype(make<Paper>(std::declval<const extents_desc&>(), std::declval<X>()...));

 private:
  template <class Paper, std::size_t... I, class... X>
  [[nodiscard]] static auto make(const extents_desc& result, std::index_sequence<I...>,
                                 X&&... operands) {
    using T = typename Paper::value_type;
    using plan = fusion<Paper, X...>;
    std::array<node_ptr<T>, plan::total> read;
    std::uint64_t newest = 0;
    const void* places[sizeof...(X)]{};
    const auto collect = [&]<std::size_t K, class Given>(auto& x) {
      if constexpr (plan::shares[K].absorbed) {
        // A function may forward its argument twice in one call: `x * x` of a temporary.
        for (std::size_t J = 0; J < K; ++J)
          if (places[J] == &x) {
            const auto first = read.begin() + plan::shares[J].first;
            std::copy_n(first, plan::shares[K].count, read.begin() + plan::shares[K].first);
            return;
          }
        places[K] = &x;
        newest = std::max(newest, x.sequence());
        auto taken = std::move(x).take_operands();
        std::move(taken.begin(), taken.end(), read.begin() + plan::shares[K].first);
      } else if constexpr (plan::shares[K].count == 1) {
        read[plan::shares[K].first] = read_operand<Given>(x);
      }
    };
    (collect.template operator()<I, X>(operands), ...);
    for (const node_ptr<T>& operand : read) require_one_pool(read[0]->home(), operand);
    const auto tree = fused::call<Function, decltype(plan::template branch<I>(operands))...>{
        plan::template branch<I>(operands)...};
    constexpr bool absorbs = (... || plan::shares[I].absorbed);
    return lazy<T, typename Paper::extents_type, typename Paper::layout_type,
                std::remove_const_t<decltype(tree)>, plan::total>(
        tree, std::move(read), result,
        absorbs ? computation::next_sequence(newest) : computation::next_sequence());
  }
};

/// The node of a contraction.
template <class T, std::size_t N>
[[nodiscard]] node_ptr<T> contraction_of(const std::array<node_ptr<T>, N>& read,
                                         const attributes& how, const factor_rule& rule,
                                         const propagation& split) {
  constexpr const operation& what = operation_of<einsum_operation>;
  tensor_descs operands;
  for (const node_ptr<T>& operand : read) operands.push_back(operand->tensor());
  return make_pending<einsum_node<T>>(
      read, split.result, applied_operation{&what, how},
      what.cost(read[0]->where().mesh(), how, operands, split.result), rule, split);
}

/// The node of a fold whose prologue is a fused tree.
template <class T, class Tree, std::size_t N>
[[nodiscard]] node_ptr<T> folded_of(std::array<node_ptr<T>, N> read, const attributes& how,
                                    const Tree& tree, const tensor_desc& folded,
                                    const tensor_desc& result) {
  constexpr const operation& what = operation_of<fold_operation>;
  operation_cost cost = what.cost(read[0]->where().mesh(), how, {folded}, result);
  cost.flops *= 1 + Tree::flops;
  return make_pending<fold_node<T, Tree, N>>(std::move(read), result, applied_operation{&what, how},
                                             cost, tree, folded);
}

template <fixed_string Equation>
struct deferring<einsum_of<Equation>> {
  template <class Paper, class... X>
  using made = tensor_from<Paper>;

  template <class Paper, class... X>
  [[nodiscard]] static auto make(const propagation& split, X&&... operands) {
    using T = typename Paper::value_type;
    const std::array<node_ptr<T>, sizeof...(X)> read{read_operand<X>(operands)...};
    for (const node_ptr<T>& operand : read) require_one_pool(read[0]->home(), operand);
    return tensor_from<Paper>(
        contraction_of(read, einsum_of<Equation>::how, einsum_of<Equation>::parsed.rule, split));
  }
};

template <reduction Kind, unsigned Reduced, bool Keep>
struct deferring<fold_of<Kind, Reduced, Keep>> {
  template <class Paper, class... X>
  using made = tensor_from<Paper>;

  template <class Paper, class X>
  [[nodiscard]] static auto make(const extents_desc& result, X&& x) {
    using T = typename Paper::value_type;
    using plan = fusion<paper_of<X>, X>;
    const tensor_desc folded = desc_of(x);
    if constexpr (plan::shares[0].absorbed)
      return make<Paper>(result, folded, x.tree(), std::move(x).take_operands());
    else
      return make<Paper>(result, folded, fused::argument<0>{},
                         std::array<node_ptr<T>, 1>{read_operand<X>(x)});
  }

 private:
  template <class Paper, class T, class Tree, std::size_t N>
  [[nodiscard]] static auto make(const extents_desc& extents, const tensor_desc& folded,
                                 const Tree& tree, std::array<std::shared_ptr<node<T>>, N> read) {
    const tensor_desc result = desc_of<Paper>(extents);
    return tensor_from<Paper>(
        folded_of(std::move(read), fold_of<Kind, Reduced, Keep>::how, tree, folded, result));
  }
};

}  // namespace detail

/// The node of one operation that every device does with its own shard or its group's.
template <class T>
[[nodiscard]] node_ptr<T> collective_node_of(node_ptr<T> from, const applied_operation& does,
                                             const tensor_desc& result) {
  const mesh_desc& mesh = from->home()->mesh();
  const operation_cost cost = does.what->cost(mesh, does.how, {from->tensor()}, result);
  return make_pending<collective_node<T>>(std::array{std::move(from)}, result, does, cost);
}

/// The nodes that take a tensor to another layout, one for each collective; the tensor itself if
/// there is nothing to do.
template <class T>
[[nodiscard]] node_ptr<T> reshard_node_of(node_ptr<T> from, const layout_desc& target) {
  const mesh_desc& mesh = from->home()->mesh();
  const redistribution way = redistribute(mesh, from->tensor(), target);
  require(way.verdict);
  for (const transfer& moved : way.moves) {
    tensor_desc result = from->tensor();
    result.layout = moved.after;
    const applied_operation does{&operation_of<collective_operation>,
                                 collective_operation::how(from->tensor(), moved)};
    from = collective_node_of<T>(std::move(from), does, result);
  }
  return from;
}

/// The node of a tensor that a rule of manual sharding changes to `result`.
template <class T>
[[nodiscard]] node_ptr<T> manual_node_of(node_ptr<T> from, const tensor_desc& result,
                                         reduction fold) {
  if (from->tensor() == result) return from;
  const applied_operation change = manual_change(from->tensor(), result, fold);
  return collective_node_of<T>(std::move(from), change, result);
}

/// What operations on tensors mean: elementwise ones wait to be fused, the others become nodes.
struct lazy_domain {
  static constexpr bool has_values = true;

  /// A tensor of these types.
  template <class T, class Extents, class Layout>
  using tensor = sharded_tensor<T, Extents, Layout>;
  /// What `apply` gives.
  template <class Operation, class Paper, class... X>
  using made = typename detail::deferring<Operation>::template made<Paper, X...>;

  template <class Operation, class Paper, class Result, class... X>
  [[nodiscard]] static auto apply(const Result& result, X&&... operands) {
    return detail::deferring<Operation>::template make<Paper>(result, std::forward<X>(operands)...);
  }
  template <class Made, class X>
  [[nodiscard]] static Made reshard(X&& x) {
    return Made(reshard_node_of<typename Made::value_type>(detail::read_operand<X>(x),
                                                           Made::layout_type::value));
  }
  template <class Made, class X>
  [[nodiscard]] static Made by_hand(X&& x, const tensor_desc& result, reduction fold) {
    return Made(
        manual_node_of<typename Made::value_type>(detail::read_operand<X>(x), result, fold));
  }
};

}  // namespace shardwise
