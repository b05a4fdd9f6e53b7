// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/nn/attention_cache.hpp"
#include "shardwise/nn/attention_mask.hpp"
#include "shardwise/operation/arithmetic.hpp"

namespace shardwise {

namespace nn {

/// A pre-norm layer of a transformer: `h = x + attention(norm(x))`, then `h + mlp(norm(h))`. Both
/// terms are added in the layout of `x`. With a cache the positions of `x` follow those in the
/// cache. The options are those of `nn::attention`, such as a mask.
///
///     nn::transformer_block<Norm, Heads, Mlp> layer{...};
///     auto y = layer(x);                                       // [batch, positions, width]
///     auto z = layer(x, nn::attention_mask{is_word});
template <class Norm, class Attention, class Mlp, class SecondNorm = Norm>
struct transformer_block {
  Norm attention_norm;
  Attention attention;
  SecondNorm mlp_norm;
  Mlp mlp;

  template <EitherOperand X, AttentionOption... Options>
  [[nodiscard]] constexpr auto operator()(const X& x, const Options&... options) const {
    const auto h = x + attention(attention_norm(x), options...);
    return h + mlp(mlp_norm(h));
  }
  template <EitherOperand X, class Keys, class Values, AttentionOption... Options>
  [[nodiscard]] constexpr auto operator()(const X& x, attention_cache<Keys, Values>& cache,
                                          const Options&... options) const {
    const auto h = x + attention(attention_norm(x), cache, options...);
    return h + mlp(mlp_norm(h));
  }
};

}  // namespace nn

namespace detail {

template <class Norm, class Attention, class Mlp, class SecondNorm, class X, index_t Capacity>
struct cache_of<nn::transformer_block<Norm, Attention, Mlp, SecondNorm>, X, Capacity>
    : cache_of<Attention, X, Capacity> {};
template <class Norm, class Attention, class Mlp, class SecondNorm>
struct cached_part<nn::transformer_block<Norm, Attention, Mlp, SecondNorm>> {
  using key_type = typename cached_part<Attention>::key_type;
  template <class Module, class X, class F>
  [[nodiscard]] static auto call(const Module& module, const X& x, const F& f) {
    return cached_part<Attention>::call(module.attention, x, f);
  }
};

}  // namespace detail

}  // namespace shardwise
