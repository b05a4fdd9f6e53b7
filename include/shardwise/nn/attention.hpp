// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/nn/attention_cache.hpp"
#include "shardwise/nn/rotary.hpp"
#include "shardwise/nn/spread.hpp"
#include "shardwise/operation/attention.hpp"
#include "shardwise/operation/einsum.hpp"

namespace shardwise {

namespace nn {

/// Which positions a position attends to: those up to its own, or all.
struct causal {
  static constexpr attends value = attends::to_earlier;
};
struct bidirectional {
  static constexpr attends value = attends::to_all;
};

/// Self-attention: maps `[batch, positions, width]` to the same shape. `query` is `[width, heads,
/// size]`; `key` and `value` have as many heads, or a divisor of them, each shared by consecutive
/// heads of queries; `out` is `[heads, size, width]`. No tensor is reshaped, so only the layout of
/// the weights splits heads. If all four weights are split by heads over an axis, the result is a
/// pending sum over it until `Out`, a spec, finishes it.
///
/// With `causal`, a position attends to those up to itself, with `bidirectional` to all. Neither
/// the scores nor their gradient are ever stored as a whole. With `nn::rotary<>` for `Rotary`,
/// queries and keys get a rotary position embedding.
///
/// With a cache, the positions of `x` follow those in the cache. They attend to the cached
/// positions and causally to each other, and are appended to the cache. A cache adds no
/// communication.
///
///     nn::attention<Q, Q, Q, O, P<"data", none, none>> heads{q, k, v, o};
///     auto cache = nn::empty_cache<nn::cache_for<decltype(heads), X, 512>>(pool);
///     auto y = heads(prompt, cache);               // f32[8@data, 7, 128]
///     auto z = heads(next, cache);                 // f32[8@data, 1, 128]
template <class Query, class Key, class Value, class Merge, class Out = as_computed,
          class To = causal, class Rotary = no_rotary>
struct attention {
  Query query;
  Key key;
  Value value;
  Merge out;

  template <Operand X>
  [[nodiscard]] constexpr auto operator()(const X& x) const {
    const auto q = detail::at_positions<Rotary>(einsum<"bsd,dhe->bhse">(x, query));
    const auto k = detail::at_positions<Rotary>(einsum<"bsd,dhe->bhse">(x, key));
    const auto v = einsum<"bsd,dhe->bhse">(x, value);
    const auto met = shardwise::attention<To::value>(q, k, v);
    return detail::spread<Out>(einsum<"bhse,hed->bsd">(met, out));
  }
  template <Operand X, class Keys, class Values>
  [[nodiscard]] constexpr auto operator()(const X& x, attention_cache<Keys, Values>& cache) const {
    static_assert(To::value == attends::to_earlier,
                  "attention with a cache must be causal: later positions do not exist yet");
    const auto first = cache.filled;
    const auto q = detail::at_positions<Rotary>(einsum<"bsd,dhe->bhse">(x, query), first);
    const auto k = detail::at_positions<Rotary>(einsum<"bsd,dhe->bhse">(x, key), first);
    const auto v = einsum<"bsd,dhe->bhse">(x, value);
    if constexpr (AnyRefused<decltype(detail::append(cache, k, v))>) {
      return detail::append(cache, k, v);
    } else {
      detail::append(cache, k, v);
      const auto met = shardwise::attention<To::value>(q, cache.keys, cache.values, first);
      return detail::spread<Out>(einsum<"bhse,hed->bsd">(met, out));
    }
  }
};

}  // namespace nn

namespace detail {

template <class Query, class Key, class Value, class Merge, class Out, class To, class Rotary,
          class X, index_t Capacity>
struct cache_of<nn::attention<Query, Key, Value, Merge, Out, To, Rotary>, X, Capacity> {
  using type = nn::attention_cache<typename cached<X, Key, Capacity>::type,
                                   typename cached<X, Value, Capacity>::type>;
};

}  // namespace detail

}  // namespace shardwise
