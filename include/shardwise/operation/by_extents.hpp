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

}  // namespace shardwise::detail

namespace shardwise::internal {

/// Applies an operation to a tensor. `Of` computes its attributes from the extents of the tensor
/// and of those beside it: at compile time for types, and on each call for values. Compositions on
/// paper call the same function. A temporary is passed on without a name, so that it may be fused.
template <class Class, auto Of, class Made = void, class X, class... Beside>
[[nodiscard]] constexpr auto apply_by_extents(X&& x, const Beside&... beside) {
  using tensor = std::remove_cvref_t<X>;
  if constexpr (AnyRefused<tensor, Beside...>) {
    return refused_value{};
  } else if constexpr (ValueOperand<tensor> || (... || ValueOperand<Beside>)) {
    using made = std::conditional_t<std::is_void_v<Made>, typename tensor::value_type, Made>;
    const attributes how = Of(x.extents(), beside.extents()...);
    return value_domain_of<tensor, Beside...>::type::template apply_with<Class, made>(
        how, static_cast<X&&>(x));
  } else {
    return apply_operation<attributes_by_extents<Class, Of, tensor, Beside...>>(
        static_cast<X&&>(x));
  }
}

}  // namespace shardwise::internal
