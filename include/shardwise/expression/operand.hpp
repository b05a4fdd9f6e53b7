// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/expression/call.hpp"
#include "shardwise/layout/extents.hpp"
#include "shardwise/layout/key.hpp"
#include "shardwise/layout/tensor_desc.hpp"
#include "shardwise/layout/tensor_judge.hpp"

#include <tuple>
#include <type_traits>
#include <utility>

namespace shardwise {

namespace internal {
template <class T, class Extents, class Layout>
inline constexpr int operand_kind_of<sharded_tensor<T, Extents, Layout>> = [] {
  if constexpr (!tensor_judge<T, Extents, Layout>::ok)
    return operand_kind::refused_tensor;
  else if constexpr (requires { typename sharded_tensor<T, Extents, Layout>::domain; })
    return operand_kind::typed;
  else
    return operand_kind::other;
}();
template <>
inline constexpr int operand_kind_of<refused_tensor> = operand_kind::refused_result;
}  // namespace internal

/// A valid operand of operations: a type with a domain, which defines how operations are applied
/// (recording on paper, or building a lazy node). It also has `value_type`, `extents_type`,
/// `layout_type` and the run-time values `extents()` and `mesh()`. The result of an invalid
/// operation is recognised by its type alone.
template <class X>
concept Operand = (internal::operand_kind_of<std::remove_cvref_t<X>> >=
                   internal::operand_kind::typed);

/// A tensor with a run-time layout: its `value_domain` checks an operation when it is applied.
template <class X>
concept ValueOperand = (internal::operand_kind_of<std::remove_cvref_t<X>> ==
                        internal::operand_kind::valued);

/// A tensor with a compile-time or run-time layout.
template <class X>
concept EitherOperand = (internal::operand_kind_of<std::remove_cvref_t<X>> >=
                         internal::operand_kind::valued);

/// The operands of operators, elementwise functions and reductions: tensors, and tensor types that
/// are only declared, for which a rule reports an error.
template <class X>
concept NamedOperand = internal::is_sharded_tensor<std::remove_cvref_t<X>> || EitherOperand<X>;

/// Operands of which at least one is a tensor. The others are checked by a rule when the operation
/// is applied: numbers are valid, other types are not.
template <class... X>
concept ElementwiseOperands = (... || NamedOperand<X>);

namespace detail {
/// The name in errors of several results of a function in the place of one.
struct results_in_a_tuple;
template <class X>
inline constexpr bool are_results = false;
template <class... X>
inline constexpr bool are_results<std::tuple<X...>> = (... || NamedOperand<X>);
template <class First, class Second>
inline constexpr bool are_results<std::pair<First, Second>> =
    NamedOperand<First> || NamedOperand<Second>;

/// The operands of a call that an elementwise function judges: also several results in the place of
/// one, for which a rule reports an error.
template <class... X>
concept JudgedOperands = ElementwiseOperands<X...> ||(... || are_results<std::remove_cvref_t<X>>);

}  // namespace detail

namespace internal {

/// The domain of the first operand with a run-time layout.
template <class First, class... Rest>
struct value_domain_of : value_domain_of<Rest...> {};
template <ValueOperand First, class... Rest>
struct value_domain_of<First, Rest...> {
  using type = typename std::remove_cvref_t<First>::value_domain;
};
}  // namespace internal

/// A number among the operands.
template <class X>
concept Scalar = std::is_arithmetic_v<std::remove_cvref_t<X>> || is_element<std::remove_cvref_t<X>>;

/// A tensor described only by its three types, which the rules of the type layer use.
template <class T, class Extents, class Layout>
struct paper_tensor {
  using value_type = T;
  using extents_type = Extents;
  using layout_type = Layout;
  using mesh_type = typename Layout::mesh_type;
  static constexpr tensor_desc value{element_of<T>, Extents::value, Layout::value};
};
template <>
struct paper_tensor<refused_value, refused_value, refused_value> {
  using value_type = refused_value;
};

/// The paper tensor of an operand.
template <class X>
using paper_of = paper_tensor<typename std::remove_cvref_t<X>::value_type,
                              typename std::remove_cvref_t<X>::extents_type,
                              typename std::remove_cvref_t<X>::layout_type>;

/// The notation of the type of an expression, an abstract tensor or a reference to a tensor.
///
///     type_name<decltype(relu(x) + y)>()     // f32[8@data, 4]
template <class X>
  requires(!internal::is_sharded_tensor<X> && Operand<X>)
[[nodiscard]] constexpr message_text type_name() noexcept {
  if constexpr (AnyRefused<X>)
    return {};
  else
    return to_text(std::remove_cvref_t<X>::layout_type::mesh_type::value, paper_of<X>::value);
}

/// The mesh type of an operand.
template <class X>
using mesh_of = typename std::remove_cvref_t<X>::layout_type::mesh_type;

/// The description of a tensor of type `X` with these extents.
template <class X>
[[nodiscard]] constexpr tensor_desc desc_of(const extents_desc& extents) noexcept {
  return {element_of<typename X::value_type>, extents, X::layout_type::value};
}
/// The description of an operand with its dyn sizes.
template <Operand X>
[[nodiscard]] constexpr tensor_desc desc_of(const X& x) {
  return desc_of<X>(x.extents());
}

/// The extents of an operand with its dyn sizes; none for a number.
template <class X>
[[nodiscard]] constexpr const extents_desc& known_extents(const X& x) {
  if constexpr (Operand<X>)
    return x.extents();
  else
    return extents<>::value;
}

/// Returns the first tensor among operands and numbers, of which there is at least one.
template <class First, class... Rest>
[[nodiscard]] constexpr const auto& first_tensor(const First& first, const Rest&... rest) noexcept {
  if constexpr (EitherOperand<First>)
    return first;
  else
    return first_tensor(rest...);
}

namespace internal {

/// The type of the first tensor among operands and numbers.
template <class... X>
struct tensor_in {};
template <class First, class... Rest>
struct tensor_in<First, Rest...> : tensor_in<Rest...> {};
template <EitherOperand First, class... Rest>
struct tensor_in<First, Rest...> {
  using type = std::remove_cvref_t<First>;
};
template <class... X>
using tensor_among = typename tensor_in<X...>::type;

/// The name of a tensor argument in errors, since its type would make a long line.
struct a_tensor;
template <class X>
using shown_operand = std::conditional_t<NamedOperand<X>, a_tensor, std::remove_cvref_t<X>>;

/// A valid operand beside a tensor, for an operation that is checked by types alone.
template <class X, class Tensor>
concept Joins = Scalar<X> || requires {
  requires(internal::operand_kind_of<std::remove_cvref_t<X>> == internal::operand_kind::typed);
  requires(std::is_same_v<typename std::remove_cvref_t<X>::domain, typename Tensor::domain>);
};

/// Returns the tensor of an expression. For the result of an invalid operation, returns a
/// `refused_value`.
template <class X>
[[nodiscard]] constexpr auto made_tensor(X&& x) {
  using plain = std::remove_cvref_t<X>;
  if constexpr (AnyRefused<plain>)
    return refused_value{};
  else if constexpr (ValueOperand<plain>)
    return typename plain::value_domain::template tensor<typename plain::value_type>(
        static_cast<X&&>(x));
  else
    return typename plain::domain::template tensor<
        typename plain::value_type, typename plain::extents_type, typename plain::layout_type>{
        static_cast<X&&>(x)};
}

}  // namespace internal

}  // namespace shardwise
