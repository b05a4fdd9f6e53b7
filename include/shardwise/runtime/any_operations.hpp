// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/expression/fused.hpp"
#include "shardwise/layout/layout_rules.hpp"
#include "shardwise/operation/fold.hpp"
#include "shardwise/runtime/lazy_domain.hpp"
#include "shardwise/tensor/any_tensor.hpp"

#include <array>
#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

namespace shardwise {

namespace detail {

/// Applies a rule to values, or reports what it refuses with the operands and the mending reshard.
[[nodiscard]] inline propagation apply_rule(const mesh_desc& mesh, const factor_rule& rule,
                                            const tensor_descs& operands) {
  propagation out = propagate(mesh, rule, operands);
  if (!out.verdict.ok()) fail(out.verdict, advice(mesh, rule, operands, out.verdict));
  return out;
}

/// True for a tensor of `T`, and for a number beside tensors.
template <class T, class X>
inline constexpr bool has_elements_of = true;
template <class T, EitherOperand X>
inline constexpr bool has_elements_of<T, X> =
    std::is_same_v<typename std::remove_cvref_t<X>::value_type, T>;

}  // namespace detail

/// What operations on tensors whose layouts are values mean: each is judged when it is applied, and
/// each is a pass of its own.
struct any_domain {
  /// Judges what the compiler knows of an operation on operands of these types.
  template <class Operation, class... X>
  [[nodiscard]] static constexpr auto judge() noexcept {
    using T = typename detail::tensor_among<X...>::value_type;
    constexpr int other = detail::first_false<detail::has_elements_of<T, X>...>;
    if constexpr (other >= 0)
      return refused<operand_elements_differ<
          Operation, operand<other>,
          typename std::remove_cvref_t<typename detail::type_at<other, X...>::type>::value_type,
          T>>{};
    else
      return detail::allowed<any_tensor<T>>{};
  }

  /// A function of elements, or a contraction. Beside tensors whose layouts are values stand
  /// tensors with types and numbers; numbers are tensors of rank 0 that every device holds.
  template <class Operation, class... X>
  [[nodiscard]] static any_tensor<typename detail::tensor_among<X...>::value_type> apply(
      const X&... operands) {
    using T = typename detail::tensor_among<X...>::value_type;
    if constexpr (requires { typename Operation::function; }) {
      return pass<typename Operation::function, T>(std::index_sequence_for<X...>{}, operands...);
    } else {
      return contract<T, sizeof...(X)>(Operation::how, Operation::parsed.rule,
                                       {detail::read_operand<const X&>(operands)...});
    }
  }

  template <class T, std::size_t N>
  [[nodiscard]] static any_tensor<T> contract(const attributes& how, const factor_rule& rule,
                                              const std::array<node_ptr<T>, N>& operands) {
    const mesh_desc& mesh = operands[0]->where().mesh();
    tensor_descs known;
    for (const node_ptr<T>& operand : operands) {
      detail::require_one_pool(operands[0]->home(), operand);
      if (!known.full()) known.push_back(operand->tensor());
    }
    const propagation split = detail::apply_rule(mesh, rule, known);
    return any_tensor<T>(detail::contraction_of(operands, how, rule, split));
  }

  /// The dimensions folded away; kept with one element if `keep`.
  template <Element T>
  [[nodiscard]] static any_tensor<T> fold(reduction kind, const any_tensor<T>& x, const over& dims,
                                          bool keep) {
    const int rank = x.tensor().rank();
    require(dims.judge(rank));
    const mesh_desc& mesh = x.mesh();
    const tensor_desc result =
        detail::apply_rule(mesh, reduction_rule(kind, rank, dims.bits(), keep), {x.tensor()})
            .result;
    return any_tensor<T>(detail::folded_of(
        std::array{detail::read_operand<const any_tensor<T>&>(x)},
        fold_operation::how(kind, dims.bits(), keep), fused::argument<0>{}, x.tensor(), result));
  }

 private:
  template <class Function, class T, std::size_t... I, class... X>
  [[nodiscard]] static any_tensor<T> pass(std::index_sequence<I...>, const X&... operands) {
    constexpr std::size_t n = (std::size_t{EitherOperand<X>} + ...);
    std::array<node_ptr<T>, n> read;
    tensor_descs known;
    std::size_t at = 0;
    const auto take = [&](const auto& x) {
      if constexpr (EitherOperand<decltype(x)>) {
        read[at] = detail::read_operand<decltype(x)>(x);
        known.push_back(read[at++]->tensor());
      } else {
        known.push_back({element_of<T>, {}, {}});
      }
    };
    (take(operands), ...);
    for (const node_ptr<T>& operand : read) detail::require_one_pool(read[0]->home(), operand);
    const tensor_desc result =
        detail::apply_rule(read[0]->where().mesh(), pointwise<Function>::rule(known), known).result;
    const auto tree =
        fused::call<Function, decltype(leaf<T, tensors_before<I, X...>>(operands))...>{
            leaf<T, tensors_before<I, X...>>(operands)...};
    return any_tensor<T>(make_pending<pointwise_node<T, std::remove_const_t<decltype(tree)>, n>>(
        std::move(read), result, computation::next_sequence(), tree));
  }

  /// How many of the first `I` operands are tensors.
  template <std::size_t I, class... X>
  static constexpr std::size_t tensors_before = [] {
    std::size_t at = 0;
    std::size_t tensors = 0;
    ((tensors += at++ < I && EitherOperand<X> ? 1U : 0U), ...);
    return tensors;
  }();
  template <class T, std::size_t Tensor, class X>
  [[nodiscard]] static constexpr auto leaf(const X& x) noexcept {
    if constexpr (EitherOperand<X>)
      return fused::argument<Tensor>{};
    else
      return fused::constant<T>{static_cast<T>(x)};
  }
};

/// `einsum` with an equation known at run time.
template <Element T, std::same_as<any_tensor<T>>... Rest>
[[nodiscard]] any_tensor<T> einsum(text_view equation, const any_tensor<T>& first,
                                   const Rest&... rest) {
  const parsed_einsum parsed = parse_einsum(equation);
  require(parsed.verdict);
  return any_domain::contract<T, 1 + sizeof...(Rest)>(
      einsum_operation::how(equation), parsed.rule,
      {detail::read_operand<decltype(first)>(first),
       detail::read_operand<decltype(rest)>(rest)...});
}

/// `sum`, `product`, `max` or `min` of a tensor whose layout is a value, where the kind is a value
/// too.
template <Element T>
[[nodiscard]] any_tensor<T> fold(reduction kind, const any_tensor<T>& x, const over& dims,
                                 bool keep = false) {
  return any_domain::fold(kind, x, dims, keep);
}
/// The same tensor under another layout.
template <Element T>
[[nodiscard]] any_tensor<T> reshard(const any_tensor<T>& x, const layout_desc& target) {
  require(check(x.mesh(), target));
  return any_tensor<T>(reshard_node_of<T>(detail::read_operand<decltype(x)>(x), target));
}

namespace detail {
/// The layout that a spec means for a tensor: its policy stays, nothing is pending.
template <Element T>
[[nodiscard]] layout_desc layout_for(const any_tensor<T>& x, const spec_desc& spec) {
  return layout_of(x.mesh(), spec, {}, policy_desc(x.layout().uneven));
}
template <Element T>
[[nodiscard]] const layout_desc& layout_for(const any_tensor<T>&, const layout_desc& layout) {
  return layout;
}
}  // namespace detail

/// The same tensor under another spec; its policy stays, pending reductions are finished.
///
///     auto y = reshard(x, spec_desc{{"data", ""}});
template <Element T>
[[nodiscard]] any_tensor<T> reshard(const any_tensor<T>& x, const spec_desc& target) {
  return reshard(x, detail::layout_for(x, target));
}
/// The same for a spec that is a type, so that one function is written for layouts that are types
/// or values.
///
///     auto y = reshard<P<"data", none>>(x);
template <class Spec, Element T>
  requires std::is_same_v<decltype(Spec::value), const spec_desc>
[[nodiscard]] any_tensor<T> reshard(const any_tensor<T>& x) { return reshard(x, Spec::value); }

}  // namespace shardwise
