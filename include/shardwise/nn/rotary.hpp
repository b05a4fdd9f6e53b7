// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/arithmetic.hpp"
#include "shardwise/operation/broadcast_to.hpp"
#include "shardwise/operation/cast.hpp"
#include "shardwise/operation/exponential.hpp"
#include "shardwise/operation/iota_like.hpp"
#include "shardwise/operation/rotary.hpp"
#include "shardwise/operation/trigonometric.hpp"

#include <ratio>
#include <type_traits>

namespace shardwise::nn {

/// No rotary embedding: attention does not change queries and keys.
struct no_rotary {};

/// A rotary position embedding without tables: pair `p` of the last dimension of `[..., positions,
/// size]` is rotated by the angle `position * Base^(-2 p / size)`. Positions are counted from 0, or
/// from `first`, an integer tensor of rank 0.
///
/// The angles are computed on the fly, in `float`, or in `double` for `double`. Extents must be
/// known at compile time.
///
///     auto q = nn::rotary<>{}(einsum<"bsd,dhe->bhse">(x, w));
template <class Base = std::ratio<10000>, rotary_pairs Pairs = rotary_pairs::halves>
struct rotary {
  template <Operand X>
  [[nodiscard]] constexpr auto operator()(const X& x) const {
    return turned(x, positions_of(x));
  }
  template <Operand X, Operand First>
  [[nodiscard]] constexpr auto operator()(const X& x, const First& first) const {
    return turned(x, positions_of(x) + cast<compute_type<typename X::value_type>>(first));
  }

 private:
  /// The type of a tensor with one number for each position and pair.
  template <class X>
  [[nodiscard]] static constexpr auto grid_of(const X& x) {
    constexpr int last = X::extents_type::rank - 1;
    constexpr index_t positions = X::extents_type::value[last - 1];
    constexpr index_t pairs = X::extents_type::value[last] / 2;
    using wide = compute_type<typename X::value_type>;
    return broadcast_to<extents<positions, pairs>>(X::domain::template number<wide>(x, wide{0}));
  }
  template <class X>
  [[nodiscard]] static constexpr auto positions_of(const X& x) {
    return cast<compute_type<typename X::value_type>>(iota_like<0>(grid_of(x)));
  }
  template <class X, class Position>
  [[nodiscard]] static constexpr auto turned(const X& x, const Position& position) {
    using T = typename X::value_type;
    using wide = compute_type<T>;
    constexpr wide base = static_cast<wide>(Base::num) / static_cast<wide>(Base::den);
    constexpr auto pairs = static_cast<wide>(X::extents_type::value[X::extents_type::rank - 1] / 2);
    const auto pair = cast<wide>(iota_like<1>(grid_of(x)));
    const auto angle = position * pow(base, pair * (-1 / pairs));
    if constexpr (std::is_same_v<T, wide>)
      return shardwise::rotary<Pairs>(x, cos(angle), sin(angle));
    else
      return shardwise::rotary<Pairs>(x, cast<T>(cos(angle)), cast<T>(sin(angle)));
  }
};

}  // namespace shardwise::nn

namespace shardwise::detail {

/// Applies the rotary embedding to queries or keys; positions are counted from `first` if it is
/// given.
template <class Rotary, class X, class... First>
[[nodiscard]] constexpr auto at_positions(const X& x, const First&... first) {
  if constexpr (std::is_same_v<Rotary, nn::no_rotary> || AnyRefused<X, First...>)
    return x;
  else
    return Rotary{}(x, first...);
}

}  // namespace shardwise::detail
