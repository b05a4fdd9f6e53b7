// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/arithmetic.hpp"
#include "shardwise/operation/broadcast_to.hpp"
#include "shardwise/operation/by_extents.hpp"
#include "shardwise/operation/cast.hpp"
#include "shardwise/operation/exponential.hpp"
#include "shardwise/operation/iota_like.hpp"
#include "shardwise/operation/number.hpp"
#include "shardwise/operation/rotary.hpp"
#include "shardwise/operation/squeeze.hpp"
#include "shardwise/operation/trigonometric.hpp"
#include "shardwise/operation/with_rank.hpp"

#include <ratio>
#include <type_traits>

namespace shardwise::nn {

/// No rotary embedding: attention does not change queries and keys.
struct no_rotary {};

/// A rotary position embedding without tables: pair `p` of the last dimension of `[..., positions,
/// size]` is rotated by the angle `position * Base^(-2 p / size)`. Positions are counted from 0, or
/// from an integer tensor of rank 0, or are the elements of one of rank 1, such as those of packed
/// texts.
///
/// The angles are computed on the fly, in `float`, or in `double` for `double`. Where positions are
/// counted, their number must be known at compile time, unless the layout of the tensor is a value.
///
///     auto q = nn::rotary<>{}(einsum<"bsd,dhe->bhse">(x, w));
///     auto k = nn::rotary<>{}(einsum<"bsd,dhe->bhse">(x, v), positions);     // i32[512]
template <class Base = std::ratio<10000>, rotary_pairs Pairs = rotary_pairs::halves>
struct rotary {
  template <EitherOperand X>
  [[nodiscard]] constexpr auto operator()(const X& x) const {
    if constexpr (AnyRefused<X>)
      return refused_value{};
    else
      return turned(x, counted(x));
  }
  template <EitherOperand X, EitherOperand Positions>
  [[nodiscard]] constexpr auto operator()(const X& x, const Positions& positions) const {
    if constexpr (AnyRefused<X, Positions>)
      return refused_value{};
    else
      return turned(x, internal::with_rank<0, 1>(positions, [&](auto rank) {
                      return from<decltype(rank)::value>(x, positions);
                    }));
  }

 private:
  /// Returns positions counted from a number, or those of a tensor of rank 1 beside their pairs.
  template <int Rank, class X, class Positions>
  [[nodiscard]] static constexpr auto from(const X& x, const Positions& positions) {
    using wide = compute_type<typename X::value_type>;
    if constexpr (Rank == 0)
      return internal::made_tensor(counted(x) + cast<wide>(positions));
    else
      return internal::made_tensor(unsqueeze<1>(cast<wide>(positions)));
  }
  /// The number of pairs; a tensor without positions is an error of the operation.
  [[nodiscard]] static constexpr index_t pairs_of(const extents_desc& of) noexcept {
    return of.ssize() < 2 ? 0 : of[of.ssize() - 1] / 2;
  }
  /// The extents of the angles of all pairs, `[positions, pairs]`, or of one position.
  template <int Rank>
  [[nodiscard]] static constexpr attributes extents_of_angles(const extents_desc&,
                                                              const extents_desc& of) noexcept {
    extents_desc out;
    if (Rank == 2) out.push_back(of.ssize() < 2 ? 0 : of[of.ssize() - 2]);
    out.push_back(pairs_of(of));
    return broadcast_to_operation::how(out);
  }
  /// Returns the index of each angle along the first of its dimensions.
  template <int Rank, class X>
  [[nodiscard]] static constexpr auto index_of_angles(const X& x) {
    using wide = compute_type<typename X::value_type>;
    return cast<wide>(
        iota_like<0>(internal::apply_by_extents<broadcast_to_operation, extents_of_angles<Rank>>(
            internal::number_tensor<wide>(x, 0), x)));
  }
  /// Returns the positions, counted from 0, `[positions, pairs]`.
  template <class X>
  [[nodiscard]] static constexpr auto counted(const X& x) {
    return index_of_angles<2>(x);
  }
  template <class X, class Position>
  [[nodiscard]] static constexpr auto turned(const X& x, const Position& position) {
    using T = typename X::value_type;
    using wide = compute_type<T>;
    constexpr wide base = static_cast<wide>(Base::num) / static_cast<wide>(Base::den);
    const auto pairs = static_cast<wide>(pairs_of(x.extents()));
    const auto angle = position * pow(base, index_of_angles<1>(x) * (-1 / pairs));
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
