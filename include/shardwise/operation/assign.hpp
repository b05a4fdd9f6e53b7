// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/expression/named_as.hpp"
#include "shardwise/operation/arithmetic.hpp"

namespace shardwise {

/// The tensor that is assigned to, and the other operand.
template <class X, class Y>
concept AssigningOperands =
    !std::is_const_v<X> &&
    (internal::operand_kind_of<X> == internal::operand_kind::refused_tensor ||
     (EitherOperand<X> && ElementwiseOperands<X, Y> &&
      (ValueOperand<X> || !ValueOperand<Y>)&&!requires { typename X::never_assigned; }));

namespace internal {

/// Converts from anything; the parameter of overloads that only report an error.
struct anything {
  template <class X>
  constexpr anything(const X&) noexcept {}
};

}  // namespace internal

namespace type_parts {

/// The expression type whose assignment reports the rule that `auto` names one expression: `auto y
/// = x * 2; y = y + x;` looks like the assignment of a tensor. `Paper` is the abstract tensor of
/// its result, and `Beside` is not void if that is a base class beside this one.
template <class Paper, class Beside = void>
struct named_once {
  using never_assigned = void;
  named_once() = default;
  named_once(const named_once&) = default;
  constexpr void operator=(const named_once&) noexcept { refuse(); }
  constexpr void operator=(internal::anything) noexcept { refuse(); }
  constexpr void operator+=(internal::anything) noexcept { refuse(); }
  constexpr void operator-=(internal::anything) noexcept { refuse(); }
  constexpr void operator*=(internal::anything) noexcept { refuse(); }
  constexpr void operator/=(internal::anything) noexcept { refuse(); }

 private:
  static constexpr void refuse() noexcept {
    (void)sizeof(
        broken_rule<misuse::expression_is_assigned, as_written<internal::notation_of<Paper>()>>);
  }
};

}  // namespace type_parts

namespace internal {

/// The call that assigns the result of a function of `x` and `y` to `x`.
template <class Function>
struct assign_call {
  template <class X, class Y>
  [[nodiscard]] static constexpr auto judge() noexcept {
    using result = outcome<elementwise_call<Function>, X, Y>;
    if constexpr (result::is_refusal) {
      return typename result::judged{};
    } else if constexpr (ValueOperand<X>) {
      return allowed<X>{};
    } else {
      using made = paper_of<typename result::type>;
      if constexpr (is_named_as<made, X>)
        return allowed<X>{};
      else
        return judge_naming<made, X>();
    }
  }

  template <class X, class Y>
  static constexpr X& apply(X& x, Y&& y) {
    auto value = elementwise<Function>(x, std::forward<Y>(y));
    if constexpr (ValueOperand<X>) {
      if (const diagnosis verdict = check_assignment(x.tensor(), value.tensor()); !verdict.ok()) {
        message_text words = to_text(x.mesh(), x.tensor());
        fail(verdict, words << " would be " << to_text(x.mesh(), value.tensor()));
      }
      return x = std::move(value);
      // A derived layout is the same layout as its base.
    } else if constexpr (std::is_same_v<typename X::layout_type,
                                        typename decltype(value)::layout_type>) {
      return x = std::move(value);
    } else {
      return x = X{std::move(value)};
    }
  }
};

template <class Function, class X, class Y>
  requires AssigningOperands<X, Y>
using assigned = outcome_of<assign_call<Function>, X&, Y>;

}  // namespace internal

/// `x += y` is `x = x + y`: the handle refers to another value afterwards, and other handles keep
/// the old one. Extents and layout do not change; a result that has others is a compile-time error
/// (for an `any_tensor`, an exception).
///
///     w -= dw * 0.1F;
template <class X, class Y>
  requires AssigningOperands<X, Y>
constexpr internal::assigned<functions::add, X, Y> operator+=(X& x, Y&& y) {
  return internal::carry_out<internal::assign_call<functions::add>>(x, std::forward<Y>(y));
}
template <class X, class Y>
  requires AssigningOperands<X, Y>
constexpr internal::assigned<functions::subtract, X, Y> operator-=(X& x, Y&& y) {
  return internal::carry_out<internal::assign_call<functions::subtract>>(x, std::forward<Y>(y));
}
template <class X, class Y>
  requires AssigningOperands<X, Y>
constexpr internal::assigned<functions::multiply, X, Y> operator*=(X& x, Y&& y) {
  return internal::carry_out<internal::assign_call<functions::multiply>>(x, std::forward<Y>(y));
}
template <class X, class Y>
  requires AssigningOperands<X, Y>
constexpr internal::assigned<functions::divide, X, Y> operator/=(X& x, Y&& y) {
  return internal::carry_out<internal::assign_call<functions::divide>>(x, std::forward<Y>(y));
}

}  // namespace shardwise
