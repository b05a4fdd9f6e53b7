// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/nn/spread.hpp"
#include "shardwise/operation/comparison.hpp"
#include "shardwise/operation/einsum.hpp"
#include "shardwise/operation/iota_like.hpp"
#include "shardwise/operation/softmax.hpp"

#include <type_traits>

namespace shardwise::detail {

/// `1 / sqrt(x)` of a positive number, also where the compiler computes.
[[nodiscard]] constexpr double inverse_root(double x) noexcept {
  double root = x;
  for (int i = 0; i < 40; ++i) root = (root + x / root) / 2;
  return 1 / root;
}

}  // namespace shardwise::detail

namespace shardwise::nn {

/// Which positions one meets in attention: those up to its own, or all.
struct causal {};
struct bidirectional {};

/// Self-attention: `[batch, positions, width]` to the same. `query`, `key` and `value` are
/// `[width, heads, size]`, `out` is `[heads, size, width]`; no tensor is reshaped, so that heads
/// are split by the layout of the weights alone. With all four split by heads over an axis the
/// result is a pending sum over it until `Out`, a spec, finishes it.
///
/// Under `causal` a position meets those up to itself, under `bidirectional` all. The scores of the
/// positions exist as a whole, since their gradient needs them.
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
    using T = typename X::value_type;
    constexpr double size = static_cast<double>(Query::extents_type::value[2]);
    const auto q = einsum<"bsd,dhe->bhse">(x, query);
    const auto k = einsum<"bsd,dhe->bhse">(x, key);
    const auto v = einsum<"bsd,dhe->bhse">(x, value);
    const auto scores =
        einsum<"bhqe,bhke->bhqk">(q, k) * static_cast<T>(detail::inverse_root(size));
    const auto weights = softmax<3>(visible(scores));
    return detail::spread<Out>(einsum<"bhse,hed->bsd">(einsum<"bhqk,bhke->bhqe">(weights, v), out));
  }

 private:
  template <class Scores>
  [[nodiscard]] static constexpr auto visible(const Scores& scores) {
    using T = typename Scores::value_type;
    if constexpr (std::is_same_v<To, causal>)
      return where(iota_like<2>(scores) >= iota_like<3>(scores), scores, T(-1e9F));
    else
      return scores;
  }
};

}  // namespace shardwise::nn
