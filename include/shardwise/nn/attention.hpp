// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/nn/spread.hpp"
#include "shardwise/operation/attention.hpp"
#include "shardwise/operation/einsum.hpp"

namespace shardwise::nn {

/// Which positions one meets in attention: those up to its own, or all.
struct causal {
  static constexpr attends value = attends::to_earlier;
};
struct bidirectional {
  static constexpr attends value = attends::to_all;
};

/// Self-attention: `[batch, positions, width]` to the same. `query` is `[width, heads, size]`,
/// `key` and `value` have as many heads or a part of them, which groups of neighbours share, and
/// `out` is
/// `[heads, size, width]`; no tensor is reshaped, so that heads are split by the layout of the
/// weights alone. With all four split by heads over an axis the result is a pending sum over it
/// until `Out`, a spec, finishes it.
///
/// Under `causal` a position meets those up to itself, under `bidirectional` all. Neither the
/// scores of the positions nor their gradient exist as a whole.
///
///     nn::attention<Q, Q, Q, O, P<"data", none, none>> heads{q, k, v, o};
template <class Query, class Key, class Value, class Merge, class Out = as_computed,
          class To = causal>
struct attention {
  Query query;
  Key key;
  Value value;
  Merge out;

  template <Operand X>
  [[nodiscard]] constexpr auto operator()(const X& x) const {
    const auto q = einsum<"bsd,dhe->bhse">(x, query);
    const auto k = einsum<"bsd,dhe->bhse">(x, key);
    const auto v = einsum<"bsd,dhe->bhse">(x, value);
    return detail::spread<Out>(
        einsum<"bhse,hed->bsd">(shardwise::attention<To::value>(q, k, v), out));
  }
};

}  // namespace shardwise::nn
