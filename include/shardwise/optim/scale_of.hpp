// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/arithmetic.hpp"
#include "shardwise/operation/normalising.hpp"
#include "shardwise/operation/reduce.hpp"
#include "shardwise/operation/reshard.hpp"
#include "shardwise/operation/sum_of_squares.hpp"
#include "shardwise/optim/step_number.hpp"
#include "shardwise/runtime/any_operations.hpp"

namespace shardwise::detail {

/// Returns a tensor whose pending sum has been reduced, if it has one.
template <class X>
[[nodiscard]] constexpr auto settled(X&& x) {
  using plain = std::remove_cvref_t<X>;
  if constexpr (ValueOperand<plain>) {
    any_tensor<typename plain::value_type> made(std::forward<X>(x));
    layout_desc target = made.layout();
    if (target.pending == 0) return made;
    target.pending = 0;
    return reshard(made, target);
  } else if constexpr (plain::layout_type::value.pending == 0) {
    return made_tensor(std::forward<X>(x));
  } else {
    return made_tensor(reshard<typename plain::layout_type::spec_type>(std::forward<X>(x)));
  }
}

/// Returns the root of the mean of the squares of all elements of a tensor, replicated, in elements
/// of their arithmetic. If the tensor is split, one number is reduced.
template <class X>
[[nodiscard]] constexpr auto root_mean_square(const X& x) {
  return narrowed<compute_type<typename X::value_type>>(sqrt(settled(mean_of_squares(x))));
}

}  // namespace shardwise::detail
