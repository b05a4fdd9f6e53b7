// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/expression/functions.hpp"
#include "shardwise/expression/operation.hpp"

namespace shardwise {

namespace detail {

/// A number beside tensors of `Model`'s kind is a tensor of rank 0 that every device holds.
template <class Model, class X>
struct paper_or_number {
  using type =
      paper_tensor<typename Model::value_type, extents<>, layout<typename Model::mesh_type, P<>>>;
};
template <class Model, Operand X>
struct paper_or_number<Model, X> {
  using type = paper_of<X>;
};

/// The place of the first number with a fraction among operands whose elements have none, or -1.
template <class T, class... X>
inline constexpr int number_that_is_cut = [] {
  int at = 0;
  int found = -1;
  ((found = found < 0 && std::is_integral_v<T> && std::is_floating_point_v<std::remove_cvref_t<X>>
                ? at
                : found,
    ++at),
   ...);
  return found;
}();

}  // namespace detail

/// Operands of which at least one is a tensor. What else stands beside it is judged where the
/// operation is applied, by a rule: numbers may, anything else may not.
template <class... X>
concept ElementwiseOperands = (... || EitherOperand<X>);

/// Applies one of `functions` (or a user's own) element by element; numbers stand for themselves.
///
/// Extents meet from the last dimension backwards; a missing dimension or one of size 1 is
/// repeated. Inside one expression such calls fuse into one pass. Where the layout of an operand is
/// a value the result's is one too: the rules are checked when the function is applied.
template <class Function, class... X>
  requires ElementwiseOperands<X...>
[[nodiscard]] constexpr auto elementwise(X&&... operands) {
  if constexpr (AnyRefused<X...>) {
    return refused_value{};
  } else if constexpr (!(... && (EitherOperand<X> || Scalar<X>))) {
    constexpr int at = detail::first_false<(EitherOperand<X> || Scalar<X>)...>;
    using shown [[maybe_unused]] = decltype(detail::no_tensor<pointwise<Function>, at, X...>{});
    return refused_value{};
  } else {
    const auto& model = first_tensor(operands...);
    using tensor = std::remove_cvref_t<decltype(model)>;
    using operation = pointwise<Function>;
    constexpr int cut = detail::number_that_is_cut<typename tensor::value_type, X...>;
    if constexpr (cut >= 0) {
      using shown [[maybe_unused]] =
          decltype(number_would_be_cut<operation, operand<cut>, typename tensor::value_type>{});
      return refused_value{};
    } else if constexpr ((... || ValueOperand<X>)) {
      return detail::value_domain_of<X...>::type::template apply<operation>(operands...);
    } else {
      using paper = paper_of<tensor>;
      if constexpr (!is_legal<operation, typename detail::paper_or_number<paper, X>::type...>) {
        using shown [[maybe_unused]] =
            decltype(typename decltype(judge<operation, typename detail::paper_or_number<
                                                            paper, X>::type...>())::type{});
        return refused_value{};
      } else {
        using result = result_of<operation, typename detail::paper_or_number<paper, X>::type...>;
        const extents_desc& extents =
            result::known_extents(model.mesh(), {&known_extents(operands)...});
        return tensor::domain::template apply<operation, paper_from<result>>(
            extents, std::forward<X>(operands)...);
      }
    }
  }
}

template <class A, class B>
  requires ElementwiseOperands<A, B>
[[nodiscard]] constexpr auto operator+(A&& a, B&& b) {
  return elementwise<functions::add>(std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B>
  requires ElementwiseOperands<A, B>
[[nodiscard]] constexpr auto operator-(A&& a, B&& b) {
  return elementwise<functions::subtract>(std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B>
  requires ElementwiseOperands<A, B>
[[nodiscard]] constexpr auto operator*(A&& a, B&& b) {
  return elementwise<functions::multiply>(std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B>
  requires ElementwiseOperands<A, B>
[[nodiscard]] constexpr auto operator/(A&& a, B&& b) {
  return elementwise<functions::divide>(std::forward<A>(a), std::forward<B>(b));
}
template <EitherOperand A>
[[nodiscard]] constexpr auto operator-(A&& a) {
  return elementwise<functions::negate>(std::forward<A>(a));
}

/// The larger of two values, element by element.
template <class A, class B>
  requires ElementwiseOperands<A, B>
[[nodiscard]] constexpr auto maximum(A&& a, B&& b) {
  return elementwise<functions::maximum>(std::forward<A>(a), std::forward<B>(b));
}
/// The smaller of two values, element by element.
template <class A, class B>
  requires ElementwiseOperands<A, B>
[[nodiscard]] constexpr auto minimum(A&& a, B&& b) {
  return elementwise<functions::minimum>(std::forward<A>(a), std::forward<B>(b));
}
/// 1 where two values are equal, 0 elsewhere.
template <class A, class B>
  requires ElementwiseOperands<A, B>
[[nodiscard]] constexpr auto equal(A&& a, B&& b) {
  return elementwise<functions::equal>(std::forward<A>(a), std::forward<B>(b));
}
/// 1 where the first value is less than the second, 0 elsewhere.
template <class A, class B>
  requires ElementwiseOperands<A, B>
[[nodiscard]] constexpr auto less(A&& a, B&& b) {
  return elementwise<functions::less>(std::forward<A>(a), std::forward<B>(b));
}
/// Comparisons give 1 where they hold and 0 elsewhere, in the type of the elements: `x * (x > 0)`.
/// With NaN none holds.
template <class A, class B>
  requires ElementwiseOperands<A, B>
[[nodiscard]] constexpr auto operator<(A&& a, B&& b) {
  return elementwise<functions::less>(std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B>
  requires ElementwiseOperands<A, B>
[[nodiscard]] constexpr auto operator<=(A&& a, B&& b) {
  return elementwise<functions::less_equal>(std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B>
  requires ElementwiseOperands<A, B>
[[nodiscard]] constexpr auto operator>(A&& a, B&& b) {
  return elementwise<functions::greater>(std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B>
  requires ElementwiseOperands<A, B>
[[nodiscard]] constexpr auto operator>=(A&& a, B&& b) {
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
  requires ElementwiseOperands<A, B, C>
[[nodiscard]] constexpr auto where(A&& a, B&& b, C&& c) {
  return elementwise<functions::where>(std::forward<A>(a), std::forward<B>(b), std::forward<C>(c));
}

template <EitherOperand A>
[[nodiscard]] constexpr auto abs(A&& a) {
  return elementwise<functions::abs>(std::forward<A>(a));
}
template <EitherOperand A>
[[nodiscard]] constexpr auto square(A&& a) {
  return elementwise<functions::square>(std::forward<A>(a));
}
template <EitherOperand A>
[[nodiscard]] constexpr auto sqrt(A&& a) {
  return elementwise<functions::sqrt>(std::forward<A>(a));
}
template <EitherOperand A>
[[nodiscard]] constexpr auto exp(A&& a) {
  return elementwise<functions::exp>(std::forward<A>(a));
}
template <EitherOperand A>
[[nodiscard]] constexpr auto log(A&& a) {
  return elementwise<functions::log>(std::forward<A>(a));
}
template <EitherOperand A>
[[nodiscard]] constexpr auto tanh(A&& a) {
  return elementwise<functions::tanh>(std::forward<A>(a));
}
/// 1 / (1 + exp(-x)).
template <EitherOperand A>
[[nodiscard]] constexpr auto sigmoid(A&& a) {
  return elementwise<functions::sigmoid>(std::forward<A>(a));
}
/// The larger of x and 0.
template <EitherOperand A>
[[nodiscard]] constexpr auto relu(A&& a) {
  return elementwise<functions::relu>(std::forward<A>(a));
}
/// x times the normal distribution function, in the tanh form.
template <EitherOperand A>
[[nodiscard]] constexpr auto gelu(A&& a) {
  return elementwise<functions::gelu>(std::forward<A>(a));
}

}  // namespace shardwise
