// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/plan/vjp.hpp"

#include <tuple>
#include <type_traits>
#include <utility>

namespace shardwise {

namespace detail {

/// Calls a function and returns its results and their tangents.
template <class F, class... X, class... V>
[[nodiscard]] constexpr auto call_jvp(const F& f, const std::tuple<X...>& arguments,
                                      const std::tuple<V...>& tangents) {
  const auto made = call_with([&](const auto&... x) { return vjp(f, x...); }, arguments);
  // A linear function has the same derivative everywhere.
  const auto nothing = [](const auto& each) {
    using T = typename std::remove_cvref_t<decltype(each)>::value_type;
    return each * static_cast<T>(0);
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
template <class F, class... X, class... V>
  requires(sizeof...(X) == sizeof...(V))
[[nodiscard]] constexpr auto jvp(const F& f, const std::tuple<X...>& arguments,
                                 const std::tuple<V...>& tangents) {
  if constexpr ((... || internal::holds_expressions<X>)) {
    return detail::call_jvp(f, arguments, tangents);
  } else {
    // As in `gradient`.
    using results = decltype(f(std::declval<const typename internal::recorded_as<X>::type&>()...));
    if constexpr (internal::holds_refusal<std::remove_cvref_t<results>>)
      return std::pair{internal::refused_results_of<results>{},
                       internal::refused_results_of<results>{}};
    else
      return detail::call_jvp(f, arguments, tangents);
  }
}
template <class F, class X, class V>
  requires(EitherOperand<X>&& EitherOperand<V>)
[[nodiscard]] constexpr auto jvp(const F& f, const X& argument, const V& tangent) {
  // Named here as in `gradient`, where the program calls.
  using results [[maybe_unused]] =
      decltype(f(std::declval<const typename internal::recorded_as<X>::type&>()));
  return jvp(f, std::tuple{argument}, std::tuple{tangent});
}

}  // namespace shardwise
