// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/nn/attention_cache.hpp"
#include "shardwise/nn/spread.hpp"

#include <tuple>
#include <type_traits>
#include <utility>

namespace shardwise {

namespace detail {

/// Returns an argument of a module as its input: a tensor with the spec `In`, anything else as it
/// is.
template <class In, class X>
[[nodiscard]] constexpr decltype(auto) as_input(X&& x) {
  if constexpr (EitherOperand<X>)
    return spread<In>(std::as_const(x));
  else
    return static_cast<X&&>(x);
}

/// Returns the result of a module as its output: a tensor, or each tensor of a pair or a tuple,
/// with the spec `Out`.
template <class Out, class Y>
[[nodiscard]] constexpr auto as_output(Y&& y) {
  if constexpr (EitherOperand<Y>)
    return spread<Out>(static_cast<Y&&>(y));
  else
    return std::remove_cvref_t<Y>(static_cast<Y&&>(y));
}
template <class Out, class First, class Second>
[[nodiscard]] constexpr auto as_output(std::pair<First, Second>&& y) {
  return std::pair{as_output<Out>(std::move(y.first)), as_output<Out>(std::move(y.second))};
}
template <class Out, class... Y>
[[nodiscard]] constexpr auto as_output(std::tuple<Y...>&& y) {
  return std::apply(
      [](auto&&... each) {
        return std::tuple<decltype(as_output<Out>(std::move(each)))...>{
            as_output<Out>(std::move(each))...};
      },
      std::move(y));
}

}  // namespace detail

namespace nn {

/// Reshards the inputs of a module to the spec `In` and its output to `Out`, either of which may be
/// `as_computed`. It equals a `reshard` before and after the call, and corresponds to the input and
/// output functions of DTensor's `distribute_module`.
///
/// All arguments that are tensors are inputs. Other arguments, such as a mask of attention, a
/// cache, a key or `across<...>`, are passed on. If the module returns a pair or a tuple, its
/// tensors are outputs.
///
/// Its tensors have the names that they have in the module.
///
///     // Sequence parallelism: each device normalises its positions.
///     using norm = nn::between<nn::rms_norm<Scale>, P<"data", "model", none>, P<"data", none,
///     none>>;
///     nn::between<Block, P<"data", none, none>> layer{block};
///     auto y = layer(x, nn::attention_mask{is_word});
template <class Module, class In, class Out = as_computed>
struct between {
  using adds_no_name = void;

  Module inner;

  template <class... X>
    requires(... || EitherOperand<X>)
  [[nodiscard]] constexpr auto operator()(X&&... x) const {
    // Completes the type of an invalid reshard here, so that the module is not part of its error.
    static_assert((... && (sizeof(detail::as_input<In>(static_cast<X&&>(x))) > 0)));
    return detail::as_output<Out>(inner(detail::as_input<In>(static_cast<X&&>(x))...));
  }
};

}  // namespace nn

namespace detail {

/// The cache of a module whose inputs are resharded.
template <class Module, class In, class Out, class X, index_t Capacity>
struct cache_of<nn::between<Module, In, Out>, X, Capacity>
    : cache_of<Module, std::remove_cvref_t<decltype(spread<In>(std::declval<const X&>()))>,
               Capacity> {};
template <class Module, class In, class Out>
struct cached_part<nn::between<Module, In, Out>> {
  using key_type = typename cached_part<Module>::key_type;
  template <class Between, class X, class F>
  [[nodiscard]] static auto call(const Between& module, const X& x, const F& f) {
    return cached_part<Module>::call(module.inner, spread<In>(x), f);
  }
};

}  // namespace detail

}  // namespace shardwise
