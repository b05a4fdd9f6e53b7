// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/by_extents.hpp"
#include "shardwise/operation/cast.hpp"
#include "shardwise/operation/comparison.hpp"
#include "shardwise/operation/reduce.hpp"
#include "shardwise/operation/squeeze.hpp"

#include <cstdint>
#include <type_traits>

namespace shardwise {

/// Before or behind elements that are equal to a value.
enum class search_side { left, right };

namespace detail {

/// Returns the dimensions of size 1 behind those of a sorted sequence, and before those of values,
/// with which both have a dimension of their own; if there is only one sequence, values are aligned
/// without it.
[[nodiscard]] constexpr attributes behind_sorted(const extents_desc& sorted,
                                                 const extents_desc& values) noexcept {
  if (sorted.ssize() > 1) return integer_attributes(sorted.ssize());
  attributes out = integer_attributes(1);
  for (int d = 2; d <= values.ssize(); ++d) out.integers.push_back(d);
  return out;
}
[[nodiscard]] constexpr attributes before_values(const extents_desc& values) noexcept {
  return integer_attributes(values.ssize() - 1);
}
/// Returns the sum over the elements of a sorted sequence with which values have been compared.
[[nodiscard]] constexpr attributes counting_sorted(const extents_desc& compared,
                                                   const extents_desc& sorted) noexcept {
  const int dim = sorted.ssize() < 2 ? 0 : compared.ssize() - 2;
  return reduction_operation::how(reduction::sum, 1U << dim, false);
}

}  // namespace detail

/// Returns the index at which each value would be inserted into a sorted sequence: the number of
/// its elements that are less, or with `search_side::right` not greater. Every value is compared
/// with every element, in one pass. If the sorted sequence is split, each device counts among its
/// own elements, and the result is a pending sum.
///
/// A sorted vector is searched for values of any rank. If its rank is higher, its last dimension is
/// sorted, and the dimensions before it are a batch, which broadcasts with that of the values.
///
///     auto bucket = searchsorted(bounds, values);    // f32[9], f32[512@data] -> i64[512@data]
///     auto places = searchsorted(rows, values);      // f32[4, 9], f32[4, 6] -> i64[4, 6]
template <search_side Side = search_side::left, NamedOperand Sorted, NamedOperand Values>
[[nodiscard]] constexpr auto searchsorted(const Sorted& sorted, const Values& values) {
  using comparison =
      std::conditional_t<Side == search_side::left, functions::less, functions::less_equal>;
  const auto count = [&](const auto& beside) {
    return detail::apply_by_extents<reduction_operation, &detail::counting_sorted>(
        cast<std::int64_t>(elementwise<comparison>(
            detail::apply_by_extents<unsqueeze_operation, &detail::behind_sorted>(sorted, values),
            beside)),
        sorted);
  };
  const auto behind = [&] {
    return detail::apply_by_extents<unsqueeze_operation, &detail::before_values>(values);
  };
  if constexpr (AnyRefused<Sorted, Values>) {
    return refused_value<>{};
  } else if constexpr (ValueOperand<Sorted> || ValueOperand<Values>) {
    using domain = typename detail::value_domain_of<Sorted, Values>::type;
    using any = typename domain::template tensor<typename Values::value_type>;
    return count(sorted.extents().ssize() < 2 ? any(values) : any(behind()));
  } else if constexpr (Sorted::extents_type::rank < 2) {
    return count(values);
  } else {
    return count(behind());
  }
}

}  // namespace shardwise
