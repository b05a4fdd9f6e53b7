// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/expression/call.hpp"
#include "shardwise/layout/extents.hpp"
#include "shardwise/layout/key.hpp"
#include "shardwise/layout/tensor_desc.hpp"
#include "shardwise/layout/tensor_judge.hpp"

#include <type_traits>

namespace shardwise {

namespace detail {
template <class T, class Extents, class Layout>
inline constexpr int operand_kind_of<sharded_tensor<T, Extents, Layout>> = [] {
  if constexpr (!tensor_judge<T, Extents, Layout>::ok)
    return operand_kind::refused_tensor;
  else if constexpr (requires { typename sharded_tensor<T, Extents, Layout>::domain; })
    return operand_kind::typed;
  else
    return operand_kind::other;
}();
}  // namespace detail

/// What an operation may be applied to: anything with a domain, which says what applying means
/// (recording on paper, or building a lazy node). It has `value_type`, `extents_type`,
/// `layout_type` and their values `extents()` and `mesh()` too. The result of a refused operation
/// is one by its name alone.
template <class X>
concept Operand = detail::operand_kind_of<std::remove_cvref_t<X>>
>= detail::operand_kind::typed;

/// A tensor whose layout is a value: its `value_domain` judges an operation when it is applied.
template <class X>
concept ValueOperand = detail::operand_kind_of<std::remove_cvref_t<X>>
== detail::operand_kind::valued;

/// A tensor whose layout is a type or a value.
template <class X>
concept EitherOperand = detail::operand_kind_of<std::remove_cvref_t<X>>
>= detail::operand_kind::valued;

/// What operators, elementwise functions and reductions are written for: tensors, and a tensor type
/// that is only named, which a rule refuses.
template <class X>
concept NamedOperand = detail::is_sharded_tensor<std::remove_cvref_t<X>> || EitherOperand<X>;

/// Operands of which at least one is a tensor. What else stands beside it is judged where the
/// operation is applied, by a rule: numbers may, anything else may not.
template <class... X>
concept ElementwiseOperands = (... || NamedOperand<X>);

namespace detail {
/// The domain of the first operand whose layout is a value.
template <class First, class... Rest>
struct value_domain_of : value_domain_of<Rest...> {};
template <ValueOperand First, class... Rest>
struct value_domain_of<First, Rest...> {
  using type = typename std::remove_cvref_t<First>::value_domain;
};
}  // namespace detail

/// A plain number beside tensors.
template <class X>
concept Scalar = std::is_arithmetic_v<std::remove_cvref_t<X>> || is_element<std::remove_cvref_t<X>>;

/// A tensor as its three types, without anything else: what rules of the type layer work on.
template <class T, class Extents, class Layout>
struct paper_tensor {
  using value_type = T;
  using extents_type = Extents;
  using layout_type = Layout;
  using mesh_type = typename Layout::mesh_type;
  static constexpr tensor_desc value{element_of<T>, Extents::value, Layout::value};
};

/// The paper tensor of an operand.
template <class X>
using paper_of = paper_tensor<typename std::remove_cvref_t<X>::value_type,
                              typename std::remove_cvref_t<X>::extents_type,
                              typename std::remove_cvref_t<X>::layout_type>;

/// The mesh type of an operand.
template <class X>
using mesh_of = typename std::remove_cvref_t<X>::layout_type::mesh_type;

/// The values of a tensor of type `X` with these extents.
template <class X>
[[nodiscard]] constexpr tensor_desc desc_of(const extents_desc& extents) noexcept {
  return {element_of<typename X::value_type>, extents, X::layout_type::value};
}
/// The values of an operand, with its dyn sizes known.
template <Operand X>
[[nodiscard]] constexpr tensor_desc desc_of(const X& x) {
  return desc_of<X>(x.extents());
}

/// The extents of an operand, with its dyn sizes known; a number beside tensors has none.
template <class X>
[[nodiscard]] constexpr const extents_desc& known_extents(const X& x) {
  if constexpr (Operand<X>)
    return x.extents();
  else
    return extents<>::value;
}

/// The first tensor among operands and numbers; there is one.
template <class First, class... Rest>
[[nodiscard]] constexpr const auto& first_tensor(const First& first, const Rest&... rest) noexcept {
  if constexpr (EitherOperand<First>)
    return first;
  else
    return first_tensor(rest...);
}

namespace detail {

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

/// How an error names what was given: a tensor's type would make a long line.
struct a_tensor;
template <class X>
using shown_operand = std::conditional_t<NamedOperand<X>, a_tensor, std::remove_cvref_t<X>>;

/// What may stand beside a tensor in an operation that the types alone judge.
template <class X, class Tensor>
concept Joins = Scalar<X> || requires {
  requires detail::operand_kind_of<std::remove_cvref_t<X>>
  == detail::operand_kind::typed;
  requires std::is_same_v < typename std::remove_cvref_t<X>::domain,
  typename Tensor::domain > ;
};

}  // namespace detail

}  // namespace shardwise
