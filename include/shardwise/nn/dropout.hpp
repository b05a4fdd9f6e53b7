// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/nn/spread.hpp"
#include "shardwise/operation/dropout.hpp"

#include <ratio>

namespace shardwise::nn {

/// Sets a fraction `Rate`, a `std::ratio`, of all elements to 0 and divides the others by `1 -
/// Rate`. The choice depends only on the key of the call and the global index: every layout has the
/// same bits.
///
/// Without a key nothing is dropped. Call a model with keys to train and without them to evaluate;
/// there is no training mode.
///
///     auto h = nn::dropout<std::ratio<1, 10>>{}(x, seed.fold_in(step));
///     constexpr auto operator()(const auto& x, const auto&... seed) const {
///       return down(drop(relu(up(x)), seed...));
///     }
template <class Rate = std::ratio<1, 10>>
struct dropout {
  template <EitherOperand X, class Key>
  [[nodiscard]] constexpr auto operator()(const X& x, const Key& seed) const {
    constexpr bool has_key = internal::RandomKey<Key>;
    static_assert(has_key, "a key is a random_key or a tensor of one: drop(x, random_key{1})");
    if constexpr (has_key)
      return shardwise::dropout(x, seed, detail::value_of_ratio<Rate>);
    else
      return refused_value{};
  }
  template <EitherOperand X>
  [[nodiscard]] constexpr X operator()(const X& x) const {
    return x;
  }
};

}  // namespace shardwise::nn
