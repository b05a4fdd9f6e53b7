// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/as.hpp"

#include <type_traits>

namespace shardwise::detail {

/// An operation whose attributes `Of` computes from the extents of the tensors `X...`.
template <class Class, auto Of, class... X>
struct attributes_by_extents {
  using operation_class = Class;
  static constexpr attributes how = Of(X::extents_type::value...);
};

/// Applies an operation to a tensor. `Of` computes its attributes from the extents of the tensor
/// and of those beside it: at compile time for types, and on each call for values. Compositions on
/// paper call the same function.
template <class Class, auto Of, class Made = void, class X, class... Beside>
[[nodiscard]] constexpr auto apply_by_extents(const X& x, const Beside&... beside) {
  if constexpr (AnyRefused<X, Beside...>) {
    return refused_value<>{};
  } else if constexpr (ValueOperand<X> || (... || ValueOperand<Beside>)) {
    using made = std::conditional_t<std::is_void_v<Made>, typename X::value_type, Made>;
    return value_domain_of<X, Beside...>::type::template apply_with<Class, made>(
        Of(x.extents(), beside.extents()...), x);
  } else {
    return apply_operation<attributes_by_extents<Class, Of, X, Beside...>>(x);
  }
}

}  // namespace shardwise::detail
