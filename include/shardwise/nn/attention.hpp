// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/nn/attention_cache.hpp"
#include "shardwise/nn/attention_mask.hpp"
#include "shardwise/nn/rotary.hpp"
#include "shardwise/nn/spread.hpp"
#include "shardwise/operation/attention.hpp"
#include "shardwise/operation/composed.hpp"
#include "shardwise/operation/einsum.hpp"

namespace shardwise {

namespace nn {

/// Which positions a position attends to: those up to its own, or all.
struct causal {
  static constexpr attends value = attends::to_earlier;
};
/// A position attends to all positions.
struct bidirectional {
  static constexpr attends value = attends::to_all;
};

/// Attention: maps `[batch, positions, width]` to the same shape. `query` is `[width, heads,
/// size]`; `key` and `value` have as many heads, or a divisor of them, each shared by consecutive
/// heads of queries; `out` is `[heads, size, width]`. No tensor is reshaped, so only the layout of
/// the weights splits heads. If all four weights are split by heads over an axis, the result is a
/// pending sum over it until `Out`, a spec, finishes it.
///
/// With `causal`, a position attends to those up to itself, with `bidirectional` to all. Neither
/// the scores nor their gradient are ever stored as a whole. With `nn::rotary<>` for `Rotary`,
/// queries and keys get a rotary position embedding.
///
/// The options of each call are `attention_mask{mask}`, which selects among the positions that are
/// attended to, and `across<...>`, which permits to gather keys and values that are split by
/// positions.
///
///     nn::attention<Q, Q, Q, O, P<"data", none, none>> heads{q, k, v, o};
///     auto y = heads(x);                                      // f32[8@data, 7, 128]
///     auto z = heads(x, nn::attention_mask{is_word});         // bool[8@data, 1, 1, 7]
template <class Query, class Key, class Value, class Merge, class Out = as_computed,
          class To = causal, class Rotary = no_rotary>
struct attention {
  Query query;
  Key key;
  Value value;
  Merge out;

  template <EitherOperand X, AttentionOption... Options>
  [[nodiscard]] constexpr auto operator()(const X& x, const Options&... options) const {
    return attended(x, x, options...);
  }
  /// Cross-attention: the queries are those of `x`, the keys and values those of `context`,
  /// `[batch, keys, width]`, whose width is that of the weights `key` and `value`. It is
  /// `bidirectional`.
  ///
  ///     auto y = heads(x, encoded, nn::attention_mask{is_word});
  template <EitherOperand X, EitherOperand Context, AttentionOption... Options>
  [[nodiscard]] constexpr auto operator()(const X& x, const Context& context,
                                          const Options&... options) const {
    using judged = decltype(detail::judge_context<call, Context>());
    static_assert(!judged::ok || To::value == attends::to_all,
                  "attention to a context must be bidirectional: its positions are not those of x; "
                  "an attention_mask may exclude some of them");
    if constexpr (!judged::ok)
      return typename judged::type{};
    else if constexpr (To::value != attends::to_all)
      return refused_value{};
    else
      return attended(x, context, options...);
  }
  /// The same with a cache: the positions of `x` follow those in the cache. They attend to the
  /// cached positions and causally to each other, and are appended to the cache. A cache adds no
  /// communication. The keys of a mask are all positions of the cache.
  ///
  ///     auto cache = nn::empty_cache<nn::cache_for<decltype(heads), X, 512>>(pool);
  ///     auto y = heads(prompt, cache);               // f32[8@data, 7, 128]
  ///     auto z = heads(next, cache);                 // f32[8@data, 1, 128]
  template <EitherOperand X, class Keys, class Values, AttentionOption... Options>
  [[nodiscard]] constexpr auto operator()(const X& x, attention_cache<Keys, Values>& cache,
                                          const Options&... options) const {
    static_assert(To::value == attends::to_earlier,
                  "attention with a cache must be causal: later positions do not exist yet");
    using judged = decltype(detail::judge_options<call, Options...>());
    if constexpr (To::value != attends::to_earlier) {
      return refused_value{};
    } else if constexpr (!judged::ok) {
      return typename judged::type{};
    } else {
      const auto first = cache.filled;
      const auto q = detail::at_positions<Rotary>(einsum<"bsd,dhe->bhse">(x, query), first);
      const auto k = detail::at_positions<Rotary>(einsum<"bsd,dhe->bhse">(x, key), first);
      const auto v = einsum<"bsd,dhe->bhse">(x, value);
      if constexpr (AnyRefused<decltype(detail::append(cache, k, v))>) {
        return detail::append(cache, k, v);
      } else {
        detail::append(cache, k, v);
        return merged(met_from(q, cache.keys, cache.values, first, options...));
      }
    }
  }
  /// Error: a mask is given without `attention_mask`.
  template <EitherOperand X, class Second, EitherOperand Mask, class... Options>
  constexpr auto operator()(const X&, const Second&, const Mask&, const Options&...) const {
    return typename detail::judge_unnamed<call, Mask>::type{};
  }

 private:
  using call = attention_of<To::value>;

  /// Attention of the positions of `x` to those of `context`.
  template <class X, class Context, class... Options>
  [[nodiscard]] constexpr auto attended(const X& x, const Context& context,
                                        const Options&... options) const {
    using judged = decltype(detail::judge_options<call, Options...>());
    if constexpr (!judged::ok) {
      return typename judged::type{};
    } else {
      const auto q = detail::at_positions<Rotary>(einsum<"bsd,dhe->bhse">(x, query));
      const auto k = detail::at_positions<Rotary>(einsum<"bsd,dhe->bhse">(context, key));
      const auto v = einsum<"bsd,dhe->bhse">(context, value);
      const auto permitted = internal::permitted_among(options...);
      if constexpr (has_mask<Options...>)
        return merged(shardwise::attention<To::value>(q, k, v, mask_among(options...), permitted));
      else
        return merged(shardwise::attention<To::value>(q, k, v, permitted));
    }
  }
  /// Attention of queries from position `first` on to all keys up to their own.
  template <class Q, class K, class V, class First, class... Options>
  [[nodiscard]] static constexpr auto met_from(const Q& q, const K& keys, const V& values,
                                               const First& first, const Options&... options) {
    const auto permitted = internal::permitted_among(options...);
    if constexpr (!has_mask<Options...> || AnyRefused<Q>) {
      return shardwise::attention<To::value>(q, keys, values, first, permitted);
    } else {
      const auto mask = detail::masked_up_to(first, q, keys, mask_among(options...));
      return shardwise::attention<attends::to_all>(q, keys, values, mask, permitted);
    }
  }
  template <class Met>
  [[nodiscard]] constexpr auto merged(const Met& met) const {
    if constexpr (AnyRefused<Met>)
      return met;
    else
      return detail::spread<Out>(einsum<"bhse,hed->bsd">(met, out));
  }

  template <class... Options>
  static constexpr bool has_mask = (... || detail::is_attention_mask<Options>::value);
  [[nodiscard]] static constexpr const auto& mask_among(const auto&... options) {
    return detail::option_among<detail::is_attention_mask, void>(options...).value;
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
template <class Query, class Key, class Value, class Merge, class Out, class To, class Rotary>
struct cached_part<nn::attention<Query, Key, Value, Merge, Out, To, Rotary>> {
  using key_type = Key;
  template <class Module, class X, class F>
  [[nodiscard]] static auto call(const Module& module, const X& x, const F& f) {
    return f(x, module.key, module.value);
  }
};

}  // namespace detail

}  // namespace shardwise
