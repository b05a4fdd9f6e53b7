// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/activation.hpp"

namespace shardwise::nn {

/// An activation as a type: the function that `mlp` applies between its layers.
struct with_relu {
  [[nodiscard]] constexpr auto operator()(const auto& x) const { return relu(x); }
};
/// The activation `gelu`.
struct with_gelu {
  [[nodiscard]] constexpr auto operator()(const auto& x) const { return gelu(x); }
};
/// The activation `silu`.
struct with_silu {
  [[nodiscard]] constexpr auto operator()(const auto& x) const { return silu(x); }
};

/// Two linear layers with an activation between them. If the first is split by columns and the
/// second by rows over the same axis, a single reduction at the end is the only communication.
///
///     nn::mlp<nn::linear<Up>, nn::linear<Down, B, P<"data", none, none>>> both{{up}, {down, b}};
template <class Up, class Down, class Activation = with_gelu>
struct mlp {
  Up up;
  Down down;

  template <EitherOperand X>
  [[nodiscard]] constexpr auto operator()(const X& x) const {
    return down(Activation{}(up(x)));
  }
};

/// Two linear layers of the input, multiplied after an activation of the first, and a third layer
/// of the product: `down(silu(gate(x)) * up(x))`, the SwiGLU of Llama; with `with_gelu`, GEGLU.
/// `gate` and `up` have the same sizes and are split alike, usually by columns; `down` is then
/// split by rows, as in `mlp`.
///
///     nn::gated_mlp<nn::linear<Up>, nn::linear<Up>, nn::linear<Down, B, stream>> all{...};
template <class Gate, class Up, class Down, class Activation = with_silu>
struct gated_mlp {
  Gate gate;
  Up up;
  Down down;

  template <EitherOperand X>
  [[nodiscard]] constexpr auto operator()(const X& x) const {
    // By name, since an error in the product is reported where it is named.
    const auto passed = Activation{}(gate(x)) * up(x);
    return down(passed);
  }
};

}  // namespace shardwise::nn
