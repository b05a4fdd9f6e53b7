// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/expression/functions.hpp"
#include "shardwise/expression/operation.hpp"

#include <utility>

namespace shardwise {

namespace detail {

/// An operand beside `Tensor`, on paper: a number is a tensor of rank 0 that every device holds.
template <class Tensor, class X>
struct beside_of {
  using type = paper_tensor<typename Tensor::value_type, extents<>, layout<mesh_of<Tensor>, P<>>>;
};
template <class Tensor, Operand X>
struct beside_of<Tensor, X> {
  using type = paper_of<X>;
};
template <class Tensor, class X>
using beside = typename beside_of<Tensor, X>::type;

/// The place of the first number with a fraction among operands whose elements have none, or -1.
template <class T, class... X>
inline constexpr int number_that_is_cut =
    first_false<!(std::is_integral_v<T> && std::is_floating_point_v<std::remove_cvref_t<X>>)...>;

/// True for a function whose values have fractions, on elements that have none.
template <class Function, class T>
inline constexpr bool loses_fractions = std::is_integral_v<T>&& requires {
  requires Function::has_fractions;
};

/// An elementwise function that is legal by the types of its operands alone.
template <class Function, class... X>
concept LegalElementwise = !AnyRefused<X...> && requires {
  typename tensor_among<X...>;
  requires(... && Joins<X, tensor_among<X...>>);
  requires number_that_is_cut<typename tensor_among<X...>::value_type, X...> < 0;
  requires !loses_fractions<Function, typename tensor_among<X...>::value_type>;
  requires result_of<pointwise<Function>, beside<tensor_among<X...>, X>...>::is_legal;
};

/// Judges any other.
template <class Function, class... X>
[[nodiscard]] constexpr auto judge_elementwise() noexcept {
  using operation = pointwise<Function>;
  if constexpr (AnyRefused<X...>) {
    return allowed<refused_value>{};
  } else if constexpr (!(... && (EitherOperand<X> || Scalar<X>))) {
    return refused<no_tensor<operation, first_false<(EitherOperand<X> || Scalar<X>)...>, X...>>{};
  } else if constexpr (abstract_among<X...> >= 0) {
    return refused<operand_is_abstract<operation, operand<abstract_among<X...>>>>{};
  } else {
    using T = typename tensor_among<X...>::value_type;
    constexpr int cut = number_that_is_cut<T, X...>;
    if constexpr (cut >= 0)
      return refused<number_would_be_cut<operation, operand<cut>, T>>{};
    else if constexpr (loses_fractions<Function, T>)
      return refused<elements_have_no_fractions<operation, T>>{};
    else if constexpr ((... || ValueOperand<X>))
      return value_domain_of<X...>::type::template judge<operation, X...>();
    else
      return judge<operation, beside<tensor_among<X...>, X>...>();
  }
}

/// What `elementwise<Function>` gives for operands of these types: `type`, or the rule that it
/// breaks.
template <class Function, class... X>
struct elementwise_outcome : given<decltype(judge_elementwise<Function, X...>())> {
  static constexpr bool is_typed = false;
};
template <class Function, class... X>
  requires LegalElementwise<Function, X...>
struct elementwise_outcome<Function, X...> {
  static constexpr bool is_typed = true;
  static constexpr bool is_refusal = false;
  using domain = typename tensor_among<X...>::domain;
  using result = result_of<pointwise<Function>, beside<tensor_among<X...>, X>...>;
  using paper = paper_from<result>;
  using type = typename domain::template made<pointwise<Function>, paper, X...>;
};
/// What all operators and functions below give; its constraint is theirs.
template <class Function, class... X>
  requires ElementwiseOperands<X...>
using of_elements = typename elementwise_outcome<Function, X...>::type;

}  // namespace detail

/// Applies one of `functions` (or a user's own) element by element; numbers stand for themselves.
///
/// Extents meet from the last dimension backwards; a missing dimension or one of size 1 is
/// repeated. Inside one expression such calls fuse into one pass. Where the layout of an operand is
/// a value the result's is one too: the rules are checked when the function is applied.
template <class Function, class... X>
  requires ElementwiseOperands<X...>
[[nodiscard]] constexpr detail::of_elements<Function, X...> elementwise(X&&... operands) {
  using operation = pointwise<Function>;
  using outcome = detail::elementwise_outcome<Function, X...>;
  if constexpr (outcome::is_typed) {
    const extents_desc& extents = known_extents<typename outcome::result>(
        first_tensor(operands...).mesh(), {&known_extents(operands)...});
    return outcome::domain::template apply<operation, typename outcome::paper>(
        extents, std::forward<X>(operands)...);
  } else if constexpr (outcome::is_refusal) {
    return outcome::value();
  } else {
    return detail::value_domain_of<X...>::type::template apply<operation>(operands...);
  }
}

template <class A, class B>
[[nodiscard]] constexpr detail::of_elements<functions::add, A, B> operator+(A&& a, B&& b) {
  return elementwise<functions::add>(std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B>
[[nodiscard]] constexpr detail::of_elements<functions::subtract, A, B> operator-(A&& a, B&& b) {
  return elementwise<functions::subtract>(std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B>
[[nodiscard]] constexpr detail::of_elements<functions::multiply, A, B> operator*(A&& a, B&& b) {
  return elementwise<functions::multiply>(std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B>
[[nodiscard]] constexpr detail::of_elements<functions::divide, A, B> operator/(A&& a, B&& b) {
  return elementwise<functions::divide>(std::forward<A>(a), std::forward<B>(b));
}
template <class A>
[[nodiscard]] constexpr detail::of_elements<functions::negate, A> operator-(A&& a) {
  return elementwise<functions::negate>(std::forward<A>(a));
}

/// The larger of two values, element by element.
template <class A, class B>
[[nodiscard]] constexpr detail::of_elements<functions::maximum, A, B> maximum(A&& a, B&& b) {
  return elementwise<functions::maximum>(std::forward<A>(a), std::forward<B>(b));
}
/// The smaller of two values, element by element.
template <class A, class B>
[[nodiscard]] constexpr detail::of_elements<functions::minimum, A, B> minimum(A&& a, B&& b) {
  return elementwise<functions::minimum>(std::forward<A>(a), std::forward<B>(b));
}
/// 1 where two values are equal, 0 elsewhere.
template <class A, class B>
[[nodiscard]] constexpr detail::of_elements<functions::equal, A, B> equal(A&& a, B&& b) {
  return elementwise<functions::equal>(std::forward<A>(a), std::forward<B>(b));
}
/// 1 where the first value is less than the second, 0 elsewhere.
template <class A, class B>
[[nodiscard]] constexpr detail::of_elements<functions::less, A, B> less(A&& a, B&& b) {
  return elementwise<functions::less>(std::forward<A>(a), std::forward<B>(b));
}
/// Comparisons give 1 where they hold and 0 elsewhere, in the type of the elements: `x * (x > 0)`.
/// With NaN none holds.
template <class A, class B>
[[nodiscard]] constexpr detail::of_elements<functions::less, A, B> operator<(A&& a, B&& b) {
  return elementwise<functions::less>(std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B>
[[nodiscard]] constexpr detail::of_elements<functions::less_equal, A, B> operator<=(A&& a, B&& b) {
  return elementwise<functions::less_equal>(std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B>
[[nodiscard]] constexpr detail::of_elements<functions::greater, A, B> operator>(A&& a, B&& b) {
  return elementwise<functions::greater>(std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B>
[[nodiscard]] constexpr detail::of_elements<functions::greater_equal, A, B> operator>=(A&& a,
                                                                                       B&& b) {
  return elementwise<functions::greater_equal>(std::forward<A>(a), std::forward<B>(b));
}
/// C++ takes `==` and `!=` for one answer, which algorithms ask for too.
template <class A, class B>
  requires ElementwiseOperands<A, B>
bool operator==(const A&, const B&) = delete;  // equal(a, b) is 1 or 0 for each element
template <class A, class B>
  requires ElementwiseOperands<A, B>
bool operator!=(const A&, const B&) = delete;  // 1 - equal(a, b) is 1 or 0 for each element
/// The second value where the first is not zero, the third elsewhere.
template <class A, class B, class C>
[[nodiscard]] constexpr detail::of_elements<functions::where, A, B, C> where(A&& a, B&& b, C&& c) {
  return elementwise<functions::where>(std::forward<A>(a), std::forward<B>(b), std::forward<C>(c));
}

template <class A>
[[nodiscard]] constexpr detail::of_elements<functions::abs, A> abs(A&& a) {
  return elementwise<functions::abs>(std::forward<A>(a));
}
template <class A>
[[nodiscard]] constexpr detail::of_elements<functions::square, A> square(A&& a) {
  return elementwise<functions::square>(std::forward<A>(a));
}
template <class A>
[[nodiscard]] constexpr detail::of_elements<functions::sqrt, A> sqrt(A&& a) {
  return elementwise<functions::sqrt>(std::forward<A>(a));
}
template <class A>
[[nodiscard]] constexpr detail::of_elements<functions::exp, A> exp(A&& a) {
  return elementwise<functions::exp>(std::forward<A>(a));
}
template <class A>
[[nodiscard]] constexpr detail::of_elements<functions::log, A> log(A&& a) {
  return elementwise<functions::log>(std::forward<A>(a));
}
template <class A>
[[nodiscard]] constexpr detail::of_elements<functions::tanh, A> tanh(A&& a) {
  return elementwise<functions::tanh>(std::forward<A>(a));
}
/// 1 / (1 + exp(-x)).
template <class A>
[[nodiscard]] constexpr detail::of_elements<functions::sigmoid, A> sigmoid(A&& a) {
  return elementwise<functions::sigmoid>(std::forward<A>(a));
}
/// The larger of x and 0.
template <class A>
[[nodiscard]] constexpr detail::of_elements<functions::relu, A> relu(A&& a) {
  return elementwise<functions::relu>(std::forward<A>(a));
}
/// x times the normal distribution function, in the tanh form.
template <class A>
[[nodiscard]] constexpr detail::of_elements<functions::gelu, A> gelu(A&& a) {
  return elementwise<functions::gelu>(std::forward<A>(a));
}

}  // namespace shardwise
