// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/nn/changed_nest.hpp"
#include "shardwise/operation/cast.hpp"
#include "shardwise/operation/finish_gradient.hpp"

#include <type_traits>
#include <utility>

namespace shardwise {

namespace detail {

/// Converts the floating-point tensors of a nest to `To` and applies `behind` to each result.
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

/// Returns a nest with its floating-point tensors converted to `To`: a tensor, or an instance of
/// the same class template, so calls of a model do not change. Integer and `bool` tensors and
/// those of an `nn::buffer` do not change.
///
/// The gradient has the element types of the original nest.
///
///     auto narrow = cast_nest<bfloat16>(model);
template <Fractional To, class Nest>
[[nodiscard]] constexpr auto cast_nest(const Nest& nest) {
  return detail::convert_nest<To>(nest, [](auto&& x) { return std::forward<decltype(x)>(x); });
}

namespace detail {

/// Reports an error unless gradients are reduced in the elements of the parameters or of the
/// computation.
template <class Parameter, class Compute, class Reduce>
using reduced_elements_judge = typename std::conditional_t<
    std::is_same_v<Reduce, Parameter> || std::is_same_v<Reduce, Compute>, allowed<>,
    refused<misuse::reduced_elements_differ, of_types<Reduce, Parameter, Compute>>>::type;

}  // namespace detail

namespace nn {

/// A mixed-precision policy: the element types of parameters, of the computation, of the reduction
/// of gradients, and of the output.
///
/// `compute` converts parameters and batches within the loss; gradients have the element type of
/// the parameters. A pending gradient is reduced in `Reduce`: the type of the parameters, which
/// avoids rounding the sum, or that of the computation, which moves fewer bytes. If the model
/// itself gathers its weights, as in ZeRO-3, a gradient is reduced where the weight was gathered,
/// in the element type it had there. A gradient that is requested with `left_pending` stays
/// pending.
///
///     constexpr nn::elements<float, bfloat16> mixed;
///     auto loss = [=](const auto& model, const auto& x, const auto& y) {
///       return reshard<P<>>(nn::mse(mixed.output(mixed.compute(model)(mixed.compute(x))), y));
///     };
template <Fractional Parameter = float, Fractional Compute = bfloat16,
          Fractional Reduce = Parameter, Fractional Output = Parameter>
struct elements {
  static_assert(sizeof(detail::reduced_elements_judge<Parameter, Compute, Reduce>) > 0);
  using reduce_type = Reduce;

  /// Converts a model, or any nest, to the element type of parameters.
  template <class Nest>
  [[nodiscard]] constexpr auto parameters(const Nest& nest) const {
    return cast_nest<Parameter>(nest);
  }
  /// Converts a model, or any nest, to the element type of the computation.
  template <class Nest>
  [[nodiscard]] constexpr auto compute(const Nest& nest) const {
    if constexpr (std::is_same_v<Reduce, Parameter>)
      return cast_nest<Compute>(nest);
    else
      return detail::convert_nest<Compute>(
          nest, [](auto&& x) { return finish_gradient(std::forward<decltype(x)>(x)); });
  }
  /// Converts a result of the computation to the element type of the output.
  template <class Nest>
  [[nodiscard]] constexpr auto output(const Nest& nest) const {
    return cast_nest<Output>(nest);
  }
};

}  // namespace nn

}  // namespace shardwise
