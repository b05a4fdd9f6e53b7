// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/plan/vjp.hpp"

#include <tuple>
#include <utility>

namespace shardwise {

/// Calls a function of tensors and gives its results beside their tangents: how they change as the
/// arguments change along theirs. What the cotangents of a function are is linear in those of its
/// results, and the cotangents of that are the tangents: so every operation that has a gradient has
/// this too. The gradient's own values are computed only as far as the tangents read them.
///
///     auto [y, dy] = jvp(layer, std::tuple{x, w}, std::tuple{vx, vw});
///     auto [z, dz] = jvp(activation, x, v);
template <class F, class... X, class... V>
  requires(sizeof...(X) == sizeof...(V))
[[nodiscard]] constexpr auto jvp(const F& f, const std::tuple<X...>& arguments,
                                 const std::tuple<V...>& tangents) {
  const auto made = std::apply([&](const auto&... x) { return vjp(f, x...); }, arguments);
  // Where a linear function is differentiated is no matter.
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
