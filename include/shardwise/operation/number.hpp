// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/expression/elementwise.hpp"
#include "shardwise/operation/as.hpp"

#include <type_traits>

namespace shardwise::internal {

/// The tensor of rank 0, replicated on every device, that represents a number among the operands of
/// a function.
template <class T, class Model>
struct number_beside {
  using type = typename Model::domain::template tensor<T, extents<>, layout<mesh_of<Model>, P<>>>;
};
template <class T, ValueOperand Model>
struct number_beside<T, Model> {
  using type = typename Model::value_domain::template tensor<T>;
};

/// Returns this tensor for a number that is converted to `T`. Throws `number_is_out_of_range` for
/// an integer that is no `T`.
template <class T, class Model, Scalar X>
[[nodiscard]] constexpr auto number_tensor(const Model& model, X number) {
  require_in_range<T>(number);
  const auto converted = static_cast<T>(static_cast<compute_type<T>>(number));
  if constexpr (ValueOperand<Model>)
    return Model::value_domain::template number<T>(model, converted);
  else
    return Model::domain::template number<T>(model, converted);
}

}  // namespace shardwise::internal

namespace shardwise::detail {

/// The call that converts a number to the tensor that represents it beside a tensor `Model`, among
/// the operands of `Function`.
template <class Function>
struct beside_call {
  template <class Model, class X>
  [[nodiscard]] static constexpr auto judge() noexcept {
    using T = typename std::remove_cvref_t<Model>::value_type;
    if constexpr (internal::number_that_is_cut<T, X> == 0)
      return refused<misuse::number_would_be_cut, of_types<pointwise<Function>, T>>{};
    else
      return allowed<decltype(apply(std::declval<Model>(), std::declval<X>()))>{};
  }
  template <class Model, class X>
  [[nodiscard]] static constexpr auto apply(const Model& model, const X& x) {
    return internal::number_tensor<typename Model::value_type>(model, x);
  }
};

}  // namespace shardwise::detail

namespace shardwise::internal {

/// Returns an operand of a composition: itself or, for a number beside a tensor, the tensor that
/// represents it, so that functions of this operand alone can be applied to it. Beside a type with
/// an error, which has been reported, it is a `refused_value`.
template <class Function, class Model, class X>
[[nodiscard]] constexpr decltype(auto) beside(const Model& model, const X& x) {
  if constexpr (!Scalar<X>)
    return (x);
  else if constexpr (EitherOperand<Model>)
    return carry_out<detail::beside_call<Function>>(model, x);
  else
    return refused_value{};
}

}  // namespace shardwise::internal

namespace shardwise::detail {

/// Checks that a number that is given as a probability is from 0 to 1.
template <class X>
constexpr void require_probability(const X& number) {
  if constexpr (Scalar<X>) {
    const auto probability = static_cast<double>(number);
    if (!(probability >= 0 && probability <= 1)) fail({.rule = violation::number_is_out_of_range});
  }
}

/// States that a number has the element type that is used for arithmetic on the first tensor.
struct computed_number;

template <class T, class Model>
struct number_element : std::type_identity<T> {};
template <class Model>
struct number_element<void, Model> : std::type_identity<typename Model::value_type> {};
template <class Model>
struct number_element<computed_number, Model>
    : std::type_identity<compute_type<typename Model::value_type>> {};

/// The type of an operand of a call: itself or, for a number, a tensor with elements of type `T`;
/// `void` means those of `Model`, the first tensor.
template <class T, class Model, class X>
struct operand_beside {
  using type = X;
};
template <class T, EitherOperand Model, Scalar X>
struct operand_beside<T, Model, X> {
  using element_type = typename number_element<T, Model>::type;
  using type = typename number_beside<element_type, Model>::type;
  static constexpr bool is_cut =
      is_fractional_number<X> && !has_fractions(element_of<element_type>);
};

/// A call on a tensor and operands that may be numbers, with element types `T...`.
template <class Operation, class Call, class... T>
struct call_with_numbers {
  template <class First, class... X>
  [[nodiscard]] static constexpr auto judge() noexcept {
    using model = std::remove_cvref_t<First>;
    constexpr bool cuts[] = {false, is_cut<operand_beside<T, model, X>>...};
    if constexpr (is_any(cuts))
      return refused<misuse::number_would_be_cut, Operation>{};
    else
      return Call::template judge<First, typename operand_beside<T, model, X>::type...>();
  }
  template <class First, class... X>
  [[nodiscard]] static constexpr auto apply(First&& first, X&&... x) {
    using model = std::remove_cvref_t<First>;
    if constexpr ((... || Scalar<X>))
      return apply_to<First>(first, make<T, model>(first, static_cast<X&&>(x))...);
    else
      return Call::apply(static_cast<First&&>(first), static_cast<X&&>(x)...);
  }

 private:
  template <class Operand>
  static constexpr bool is_cut = [] {
    if constexpr (requires { Operand::is_cut; })
      return Operand::is_cut;
    else
      return false;
  }();
  template <std::size_t N>
  [[nodiscard]] static constexpr bool is_any(const bool (&flags)[N]) noexcept {
    for (bool flag : flags)
      if (flag) return true;
    return false;
  }
  template <class First, class... X>
  [[nodiscard]] static constexpr auto apply_to(First& first, X&&... x) {
    return Call::apply(static_cast<First&&>(first), static_cast<X&&>(x)...);
  }
  template <class Type, class Model, class X>
  [[nodiscard]] static constexpr decltype(auto) make(const Model& model, X&& x) {
    if constexpr (!Scalar<X>) {
      return static_cast<X&&>(x);
    } else {
      return internal::number_tensor<typename operand_beside<Type, Model, X>::element_type>(model,
                                                                                            x);
    }
  }
};

/// A call of an operation on floating-point elements.
template <class Operation, class Call>
struct fractional_call {
  template <class First, class... X>
  [[nodiscard]] static constexpr auto judge() noexcept {
    if constexpr (EitherOperand<First>) {
      using T = typename std::remove_cvref_t<First>::value_type;
      if constexpr (!has_fractions(element_of<T>))
        return refused<misuse::elements_have_no_fractions, of_types<Operation, T>>{};
      else
        return Call::template judge<First, X...>();
    } else {
      return Call::template judge<First, X...>();
    }
  }
  template <class... X>
  [[nodiscard]] static constexpr auto apply(X&&... x) {
    return Call::apply(static_cast<X&&>(x)...);
  }
};

/// The same for an operation that is not elementwise and may communicate over permitted axes.
template <class Operation, class Permitted, class... T>
using numbers_call = call_with_numbers<Operation, fetching_call<Operation, Permitted>, T...>;

}  // namespace shardwise::detail
