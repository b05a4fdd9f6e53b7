// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/plan/vjp.hpp"

#include <tuple>
#include <utility>

namespace shardwise {

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
  const auto made = detail::call_with([&](const auto&... x) { return vjp(f, x...); }, arguments);
  // A linear function has the same derivative everywhere.
  const auto nothing = [](const auto& each) {
    using T = typename std::remove_cvref_t<decltype(each)>::value_type;
    return each * static_cast<T>(0);
  };
  const auto pull = [&](const auto& cotangent) { return made.second(cotangent); };
  const auto dual = vjp(pull, detail::map_nest(made.first, nothing));
  if constexpr (sizeof...(V) == 1)
    return std::pair{made.first, dual.second(std::get<0>(tangents))};
  else
    return std::pair{made.first, dual.second(tangents)};
}
template <class F, class X, class V>
  requires(EitherOperand<X>&& EitherOperand<V>)
[[nodiscard]] constexpr auto jvp(const F& f, const X& argument, const V& tangent) {
  return jvp(f, std::tuple{argument}, std::tuple{tangent});
}

}  // namespace shardwise
