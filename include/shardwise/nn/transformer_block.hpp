// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/arithmetic.hpp"

namespace shardwise::nn {

/// A layer of a transformer, normalised before each half: `h = x + attention(norm(x))`, then
/// `h + mlp(norm(h))`. What the halves give has the layout of `x`.
///
///     nn::transformer_block<Norm, Heads, Mlp> layer{...};
///     auto y = layer(x);                                       // [batch, positions, width]
template <class Norm, class Attention, class Mlp, class SecondNorm = Norm>
struct transformer_block {
  Norm attention_norm;
  Attention attention;
  SecondNorm mlp_norm;
  Mlp mlp;

  template <Operand X>
  [[nodiscard]] constexpr auto operator()(const X& x) const {
    const auto h = x + attention(attention_norm(x));
    return h + mlp(mlp_norm(h));
  }
};

}  // namespace shardwise::nn
