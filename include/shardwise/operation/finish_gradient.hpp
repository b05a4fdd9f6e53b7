// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/expression/elementwise.hpp"

#include <utility>

namespace shardwise {

namespace functions {

/// What it is given. It reads no pending sum, and so its cotangent, which passes it again, is none
/// behind it.
struct finish_gradient : elementwise_function<"finish_gradient", linearity::nonlinear, 0> {
  static constexpr void gradient(auto& at) {
    at.give(0, elementwise<finish_gradient>(at.cotangent()));
  }
};

}  // namespace functions

/// The same tensor, whose gradient is reduced here if it is a pending sum: in the elements that the
/// tensor has here, before it passes what lies further back.
///
///     auto used = finish_gradient(cast<bfloat16>(w));   // gradients move as bf16, not as f32
template <class A>
[[nodiscard]] constexpr detail::of_elements<functions::finish_gradient, A> finish_gradient(A&& a) {
  return elementwise<functions::finish_gradient>(std::forward<A>(a));
}

}  // namespace shardwise
