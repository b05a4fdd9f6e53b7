// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/activation.hpp"

namespace shardwise::nn {

/// An activation as a type: the function that `mlp` applies between its layers.
struct with_relu {
  [[nodiscard]] constexpr auto operator()(const auto& x) const { return relu(x); }
};
struct with_gelu {
  [[nodiscard]] constexpr auto operator()(const auto& x) const { return gelu(x); }
};
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

/// The same with a third layer, whose activation is a factor of what the first one returns:
/// `down(silu(gate(x)) * up(x))`, the SwiGLU of Llama; with `with_gelu`, GEGLU. `gate` and `up` are
/// split alike, by columns.
///
///     nn::gated_mlp<nn::linear<Up>, nn::linear<Up>, nn::linear<Down, B, stream>> all{...};
template <class Gate, class Up, class Down, class Activation = with_silu>
struct gated_mlp {
  Gate gate;
  Up up;
  Down down;

  template <EitherOperand X>
  [[nodiscard]] constexpr auto operator()(const X& x) const {
    return down(Activation{}(gate(x)) * up(x));
  }
};

}  // namespace shardwise::nn
