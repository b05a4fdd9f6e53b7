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

/// What a refusal takes: anything.
struct anything {
  template <class X>
  constexpr anything(const X&) noexcept {}
};

/// The part of an expression that says, by the rule, that `auto` names it once: `auto y = x * 2;
/// y = y + x;` looks as if it were not so. `Paper` is the tensor that it makes.
template <class Paper>
struct named_once {
  using never_assigned = void;
  named_once() = default;
  named_once(const named_once&) = default;
  constexpr void operator=(const named_once&) noexcept { refuse(); }
  constexpr void operator=(anything) noexcept { refuse(); }
  constexpr void operator+=(anything) noexcept { refuse(); }
  constexpr void operator-=(anything) noexcept { refuse(); }
  constexpr void operator*=(anything) noexcept { refuse(); }
  constexpr void operator/=(anything) noexcept { refuse(); }

 private:
  static constexpr void refuse() noexcept {
    constexpr sentence value = to_text(Paper::mesh_type::value, Paper::value);
    (void)sizeof(expression_is_assigned<to_fixed_string<value.size()>(value)>);
  }
};

/// Assigns what a function makes of `x` and `y` to `x`.
template <class Function, class X, class Y>
constexpr X& assign(X& x, Y&& y) {
  using made = decltype(elementwise<Function>(x, std::forward<Y>(y)));
  if constexpr (AnyRefused<made>) {
  } else if constexpr (ValueOperand<X>) {
    X value = elementwise<Function>(x, std::forward<Y>(y));
    if (const diagnosis verdict = check_assignment(x.tensor(), value.tensor()); !verdict.ok()) {
      sentence words = to_text(x.mesh(), x.tensor());
      fail(verdict, words << " would be " << to_text(x.mesh(), value.tensor()));
    }
    x = std::move(value);
  } else if constexpr (!check_assignment(paper_of<X>::value, paper_of<made>::value).ok()) {
    constexpr sentence tensor = to_text(mesh_of<X>::value, paper_of<X>::value);
    constexpr sentence other = to_text(mesh_of<X>::value, paper_of<made>::value);
    (void)sizeof(assignment_changes_tensor<to_fixed_string<tensor.size()>(tensor),
                                           to_fixed_string<other.size()>(other)>);
  } else {
    auto value = elementwise<Function>(x, std::forward<Y>(y));
    // A layout with a name of its own is the layout that it names.
    if constexpr (std::is_same_v<typename X::layout_type, typename made::layout_type>)
      x = std::move(value);
    else if constexpr (requires { std::move(value).share(); })
      x = X(std::move(value).share());
    else
      x = X{std::move(value)};
  }
  return x;
}

}  // namespace detail

/// A tensor that gets another value, and what is beside it.
template <class X, class Y>
concept AssigningOperands = EitherOperand<X> && ElementwiseOperands<X, Y> && !std::is_const_v<X> &&
                            (ValueOperand<X> || !ValueOperand<Y>)&&!requires {
  typename X::never_assigned;
};

/// `x += y` is `x = x + y`: the handle names another value from now on, and what else names the old
/// one keeps it. Extents and layout stay; a value of others does not compile (`any_tensor`:
/// throws).
///
///     w -= dw * 0.1F;
template <class X, class Y>
  requires AssigningOperands<X, Y>
constexpr X& operator+=(X& x, Y&& y) {
  return detail::assign<functions::add>(x, std::forward<Y>(y));
}
template <class X, class Y>
  requires AssigningOperands<X, Y>
constexpr X& operator-=(X& x, Y&& y) {
  return detail::assign<functions::subtract>(x, std::forward<Y>(y));
}
template <class X, class Y>
  requires AssigningOperands<X, Y>
constexpr X& operator*=(X& x, Y&& y) {
  return detail::assign<functions::multiply>(x, std::forward<Y>(y));
}
template <class X, class Y>
  requires AssigningOperands<X, Y>
constexpr X& operator/=(X& x, Y&& y) {
  return detail::assign<functions::divide>(x, std::forward<Y>(y));
}

}  // namespace shardwise
