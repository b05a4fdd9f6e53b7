// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/expression/elementwise.hpp"

namespace shardwise {

/// Judges that a tensor is assigned a value: its extents and its layout stay.
[[nodiscard]] constexpr diagnosis check_assignment(const tensor_desc& tensor,
                                                   const tensor_desc& value) noexcept {
  if (tensor == value) return {};
  return {.rule = broken::assignment_changes_tensor};
}

namespace detail {

/// What `auto` names cannot get another value.
template <class X>
constexpr X& refuse_assignment(X& x) noexcept {
  constexpr sentence value = to_text(mesh_of<X>::value, paper_of<X>::value);
  using shown [[maybe_unused]] =
      decltype(expression_is_assigned<to_fixed_string<value.size()>(value)>{});
  return x;
}

/// Assigns what an operation made of `x`.
template <class X, class Value>
constexpr X& assign(X& x, Value&& value) {
  if constexpr (AnyRefused<Value>) {
  } else if constexpr (ValueOperand<X>) {
    if (const diagnosis verdict = check_assignment(x.tensor(), value.tensor()); !verdict.ok()) {
      sentence words = to_text(x.mesh(), x.tensor());
      fail(verdict, words << " would be " << to_text(x.mesh(), value.tensor()));
    }
    x = std::forward<Value>(value);
  } else if constexpr (!std::is_copy_assignable_v<X>) {
    refuse_assignment(x);
  } else if constexpr (!check_assignment(paper_of<X>::value, paper_of<Value>::value).ok()) {
    constexpr sentence tensor = to_text(mesh_of<X>::value, paper_of<X>::value);
    constexpr sentence other = to_text(mesh_of<X>::value, paper_of<Value>::value);
    using shown [[maybe_unused]] =
        decltype(assignment_changes_tensor<to_fixed_string<tensor.size()>(tensor),
                                           to_fixed_string<other.size()>(other)>{});
  } else {
    // A layout with a name of its own is the layout that it names.
    if constexpr (std::is_same_v<typename X::layout_type, typename Value::layout_type>)
      x = std::forward<Value>(value);
    else if constexpr (requires { value.share(); })
      x = X(std::forward<Value>(value).share());
    else
      x = X{std::forward<Value>(value)};
  }
  return x;
}

}  // namespace detail

/// A tensor that gets another value, and what is beside it.
template <class X, class Y>
concept AssigningOperands = EitherOperand<X> && ElementwiseOperands<X, Y> && !std::is_const_v<X> &&
                            (ValueOperand<X> || !ValueOperand<Y>);

/// `x += y` is `x = x + y`: the handle names another value from now on, and what else names the old
/// one keeps it. Extents and layout stay; a value of others does not compile (`any_tensor`:
/// throws).
///
///     w -= dw * 0.1F;
template <class X, class Y>
  requires AssigningOperands<X, Y>
constexpr X& operator+=(X& x, Y&& y) { return detail::assign(x, x + std::forward<Y>(y)); }
template <class X, class Y>
  requires AssigningOperands<X, Y>
constexpr X& operator-=(X& x, Y&& y) { return detail::assign(x, x - std::forward<Y>(y)); }
template <class X, class Y>
  requires AssigningOperands<X, Y>
constexpr X& operator*=(X& x, Y&& y) { return detail::assign(x, x * std::forward<Y>(y)); }
template <class X, class Y>
  requires AssigningOperands<X, Y>
constexpr X& operator/=(X& x, Y&& y) { return detail::assign(x, x / std::forward<Y>(y)); }

}  // namespace shardwise
