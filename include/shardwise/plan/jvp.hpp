// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/plan/vjp.hpp"

#include <tuple>
#include <type_traits>
#include <utility>

namespace shardwise {

namespace detail {

template <class X>
inline constexpr bool is_tuple = false;
template <class... X>
inline constexpr bool is_tuple<std::tuple<X...>> = true;
/// An argument or a tangent that is not in a tuple: a tensor or another nest of tensors. A tuple
/// holds all arguments.
template <class X>
concept SingleArgument = !is_tuple<X> && internal::has_tensor_in<X>();

/// Calls a function and returns its results and their tangents.
template <class F, class... X, class... V>
[[nodiscard]] constexpr auto call_jvp(const F& f, const std::tuple<X...>& arguments,
                                      const std::tuple<V...>& tangents) {
  const auto made = call_with([&](const auto&... x) { return vjp(f, x...); }, arguments);
  // A linear function has the same derivative everywhere. Tensors, unlike expressions, may be the
  // members of an aggregate.
  const auto nothing = []<class Each>(const Each& each) {
    if constexpr (std::is_same_v<typename Each::value_type, bool>)
      return made_tensor(logical_xor(each, each));
    else
      return made_tensor(each * static_cast<typename Each::value_type>(0));
  };
  const auto pull = [&](const auto& cotangent) { return made.second(cotangent); };
  const auto dual = vjp(pull, map_nest(made.first, nothing));
  if constexpr (sizeof...(V) == 1)
    return std::pair{made.first, dual.second(std::get<0>(tangents))};
  else
    return std::pair{made.first, dual.second(tangents)};
}

}  // namespace detail

/// Returns the results of a function of tensors and their tangents: the directional derivatives
/// along the tangents of the arguments. The cotangents of the arguments are linear in those of the
/// results, and the transpose of this linear function gives the tangents; so every operation with a
/// gradient has a forward derivative too. The values of the gradient itself are computed only if
/// the tangents read them.
///
///     auto [y, dy] = jvp(layer, std::tuple{x, w}, std::tuple{vx, vw});
///     auto [z, dz] = jvp(activation, x, v);
///
/// A single argument may be any nest, such as a model, except a tuple. The tangent of a gradient is
/// a product of the Hessian matrix with a vector.
///
///     auto [slope, product] = jvp(gradient(loss), model, direction);
template <class F, class... X, class... V>
  requires(sizeof...(X) == sizeof...(V))
[[nodiscard]] constexpr auto jvp(const F& f, const std::tuple<X...>& arguments,
                                 const std::tuple<V...>& tangents) {
  if constexpr (AnyRefused<X..., V...>) {
    return std::pair{refused_value{}, refused_value{}};
  } else if constexpr ((... || internal::holds_expressions<X>)) {
    return detail::call_jvp(f, arguments, tangents);
  } else {
    // As in `gradient`.
    using results = decltype(std::declval<const internal::callee<F>&>()(
        std::declval<const typename internal::recorded_as<X>::type&>()...));
    internal::require_results<results, F, "jvp(f, std::tuple{x, w}, tangents)",
                              typename internal::recorded_as<X>::type...>();
    if constexpr (internal::has_no_results<results>)
      return std::pair{internal::refused_results_of<results>{},
                       internal::refused_results_of<results>{}};
    else
      return detail::call_jvp(f, arguments, tangents);
  }
}
template <class F, detail::SingleArgument X, detail::SingleArgument V>
[[nodiscard]] constexpr auto jvp(const F& f, const X& argument, const V& tangent) {
  if constexpr (!AnyRefused<X, V> && !internal::holds_expressions<X>) {
    // Named here as in `gradient`, where the program calls.
    using results = decltype(std::declval<const internal::callee<F>&>()(
        std::declval<const typename internal::recorded_as<X>::type&>()));
    internal::require_results<results, F, "jvp(f, std::tuple{x, w}, tangents)",
                              typename internal::recorded_as<X>::type>();
    if constexpr (internal::has_no_results<results>)
      return std::pair{internal::refused_results_of<results>{},
                       internal::refused_results_of<results>{}};
    else
      return jvp(f, std::tuple<X>{argument}, std::tuple<V>{tangent});
  } else {
    return jvp(f, std::tuple<X>{argument}, std::tuple<V>{tangent});
  }
}

}  // namespace shardwise
