// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/arithmetic.hpp"
#include "shardwise/operation/composed.hpp"
#include "shardwise/operation/over.hpp"
#include "shardwise/operation/split_at.hpp"
#include "shardwise/operation/transcendental.hpp"

#include <tuple>
#include <utility>

namespace shardwise {

namespace detail {

/// Returns the two halves of a dimension, after it has been gathered over permitted axes.
template <int Dim, class X, class Permitted>
[[nodiscard]] constexpr auto halves(const X& x, Permitted permitted) {
  if constexpr (ValueOperand<X>) {
    using T = typename X::value_type;
    using first = strided_slice_of<Dim, 0, 0, 1>;
    const int rank = x.extents().ssize();
    require(over(Dim).from_front(rank).judge(rank));
    const auto whole = fetching_call<first, Permitted>::gathered(x);
    const int dim = counted_from_front(Dim, rank);
    const index_t size = whole.extents()[dim];
    if (size % 2 != 0)
      fail({.rule = violation::extent_is_not_divisible, .dim = dim, .have = size, .want = 2});
    const auto part = [&](index_t begin, index_t end) {
      return X::value_domain::template apply_with_across<slice_operation, T>(
          Permitted::bits(whole.mesh()), slice_operation::how(dim, begin, end, 1), whole);
    };
    return std::tuple{part(0, size / 2), part(size / 2, size)};
  } else if constexpr (constexpr int dim = counted_from_front(Dim, X::extents_type::rank);
                       dim < 0 || dim >= X::extents_type::rank) {
    return split_at<Dim, 0>(x, permitted);
  } else {
    constexpr index_t size = X::extents_type::value[dim];
    // A size that is odd or not known has no half: its slice is out of range.
    constexpr index_t half = size == dyn ? -1 : size % 2 == 0 ? size / 2 : size + 1;
    return split_at<Dim, half>(x, permitted);
  }
}

}  // namespace detail

/// Returns the gated linear unit: the first half of a dimension times the sigmoid of the second
/// half. The dimension has an even size, and must not be split, or is gathered over permitted axes.
///
///     auto y = glu<1>(x);                            // f32[8@data, 64] -> f32[8@data, 32]
template <int Dim, NamedOperand X, internal::Terms Given = across_axes<>>
[[nodiscard]] constexpr auto glu(const X& x, const Given& given = {}) {
  auto parts = detail::halves<Dim>(x, internal::permitted_by<Given>{});
  if constexpr (AnyRefused<decltype(parts)>)
    return refused_value{};
  else
    return multiply(std::move(std::get<0>(parts)), sigmoid(std::move(std::get<1>(parts))), given);
}

}  // namespace shardwise
