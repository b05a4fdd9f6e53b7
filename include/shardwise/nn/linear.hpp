// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/nn/spread.hpp"
#include "shardwise/operation/arithmetic.hpp"
#include "shardwise/operation/einsum.hpp"

#include <cstddef>
#include <type_traits>

namespace shardwise {

namespace detail {

/// Returns the equation `abi,io->abo` for an operand of three dimensions.
template <int Rank>
[[nodiscard]] constexpr auto dense_equation() noexcept {
  constexpr auto rank = static_cast<std::size_t>(Rank);
  char words[2 * rank + 6]{};
  for (std::size_t d = 0; d < rank; ++d)
    words[d] = words[rank + 5 + d] = static_cast<char>('A' + static_cast<char>(d));
  words[rank - 1] = words[rank + 1] = 'i';
  words[rank] = ',';
  words[rank + 2] = words[2 * rank + 4] = 'o';
  words[rank + 3] = '-';
  words[rank + 4] = '>';
  return fixed_string<2 * rank + 6>(words);
}

/// Returns the product of the last dimension of `x`, whose layout is a value, and the first of a
/// matrix.
template <class X, class W>
[[nodiscard]] constexpr auto dense(const X& x, const W& weight) {
  return with_last_dim(x,
                       [&](auto last) { return einsum<dense_equation<last() + 1>()>(x, weight); });
}
/// The equation for an operand whose layout is a type. A module contracts with it itself, so that
/// compilers show few functions between an error and the call of the module.
template <class X>
inline constexpr auto dense_equation_of = dense_equation<last_dim<X> + 1>();

}  // namespace detail

namespace nn {

/// A linear map of the last dimension, `x weight + bias`: `[..., in]` and `[in, out]` give `[...,
/// out]`. All other dimensions do not change.
///
/// The layout of the weight determines the parallelism: if it is split by columns, the result is
/// split alike; if it is split by rows, the result is a pending sum, which `Out`, a spec, finishes
/// before the bias is added. The communication is visible in the type.
///
///     nn::linear<W, B> up{w, b};                                        // column-wise
///     nn::linear<W, B, P<"data", none>> down{w, b};                     // row-wise
///     auto y = down(relu(up(x)));
template <class Weight, class Bias = no_bias, class Out = as_computed>
struct linear {
  Weight weight;
  Bias bias;

  template <EitherOperand X>
  [[nodiscard]] constexpr auto operator()(const X& x) const {
    if constexpr (ValueOperand<X>)
      return detail::spread<Out>(detail::dense(x, weight)) + bias;
    else
      return detail::spread<Out>(einsum<detail::dense_equation_of<X>>(x, weight)) + bias;
  }
};
template <class Weight, class Out>
struct linear<Weight, no_bias, Out> {
  Weight weight;

  template <EitherOperand X>
  [[nodiscard]] constexpr auto operator()(const X& x) const {
    if constexpr (ValueOperand<X>)
      return detail::spread<Out>(detail::dense(x, weight));
    else
      return detail::spread<Out>(einsum<detail::dense_equation_of<X>>(x, weight));
  }
};

}  // namespace nn

}  // namespace shardwise
