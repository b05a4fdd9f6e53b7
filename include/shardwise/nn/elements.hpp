// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/nn/changed_nest.hpp"
#include "shardwise/operation/cast.hpp"
#include "shardwise/operation/finish_gradient.hpp"

#include <type_traits>
#include <utility>

namespace shardwise {

namespace detail {

/// The tensors of a nest with fractions of `To`, each changed once more behind its conversion.
template <Fractional To, class Nest, class Behind>
[[nodiscard]] constexpr auto convert_nest(const Nest& nest, const Behind& behind) {
  const auto convert = [&]<class X, class From>(std::type_identity<X>, const From& x) {
    using have = typename From::value_type;
    constexpr bool is_named = !Fractional<have> || std::is_same_v<typename X::value_type, To>;
    static_assert(is_named,
                  "a model whose elements are changed is a class template of its tensors, or of "
                  "their elements: those of another class cannot be named");
    if constexpr (is_named && Fractional<have> && !std::is_same_v<have, To>)
      return X(behind(cast<To>(x)));
    else
      return X(x);
  };
  if constexpr (ValueOperand<Nest>) {
    if constexpr (Fractional<typename Nest::value_type> &&
                  !std::is_same_v<typename Nest::value_type, To>)
      return behind(cast<To>(nest));
    else
      return nest;
  } else if constexpr (Operand<Nest>) {
    using X = typename Nest::domain::template tensor<
        typename to_fractions<To>::template element<typename Nest::value_type>,
        typename Nest::extents_type, typename Nest::layout_type>;
    return convert(std::type_identity<X>{}, nest);
  } else {
    return nest_as<with_fractions<To, Nest>>(nest, convert);
  }
}

}  // namespace detail

/// The same nest with its fractions converted to `To`: a tensor, or a class of the same template,
/// so that a model is called as before. Whole numbers and truth values stay.
///
/// A gradient passes, in the elements of the nest that was converted.
///
///     auto narrow = cast_nest<bfloat16>(model);
template <Fractional To, class Nest>
[[nodiscard]] constexpr auto cast_nest(const Nest& nest) {
  return detail::convert_nest<To>(nest, [](auto&& x) { return std::forward<decltype(x)>(x); });
}

namespace nn {

/// Which elements a model is kept in, is computed in, has its gradients reduced in, and gives.
///
/// `compute` converts parameters and batches in the loss; the gradients come back in the elements
/// of the parameters. A gradient that is a pending sum is reduced in `Reduce`: in the elements of
/// the parameters, which adds up the terms without rounding them to narrower ones again, or in
/// those of the computation, which moves fewer bytes. Where a model itself gathers what it computes
/// with, as under ZeRO-3, its gradient is reduced where it was gathered, in the elements it was
/// gathered in.
///
///     constexpr nn::elements<float, bfloat16> mixed;
///     auto loss = [=](const auto& model, const auto& x, const auto& y) {
///       return reshard<P<>>(nn::mse(mixed.output(mixed.compute(model)(mixed.compute(x))), y));
///     };
template <Fractional Parameter = float, Fractional Compute = bfloat16,
          Fractional Reduce = Parameter, Fractional Output = Parameter>
struct elements {
  static_assert(std::is_same_v<Reduce, Parameter> || std::is_same_v<Reduce, Compute>,
                "gradients are reduced in the elements of the parameters or of the computation");

  /// A model, or any nest, in the elements that parameters are kept in.
  template <class Nest>
  [[nodiscard]] constexpr auto parameters(const Nest& nest) const {
    return cast_nest<Parameter>(nest);
  }
  /// A model, or any nest, in the elements of the computation.
  template <class Nest>
  [[nodiscard]] constexpr auto compute(const Nest& nest) const {
    if constexpr (std::is_same_v<Reduce, Parameter>)
      return cast_nest<Compute>(nest);
    else
      return detail::convert_nest<Compute>(
          nest, [](auto&& x) { return finish_gradient(std::forward<decltype(x)>(x)); });
  }
  /// What the computation gives, in the elements of the result.
  template <class Nest>
  [[nodiscard]] constexpr auto output(const Nest& nest) const {
    return cast_nest<Output>(nest);
  }
};

}  // namespace nn

}  // namespace shardwise
