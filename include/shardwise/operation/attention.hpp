// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/attention_gradient.hpp"
#include "shardwise/operation/attention_operation.hpp"
#include "shardwise/operation/number.hpp"

namespace shardwise {

/// Attention whose attributes are types.
template <attends To>
struct attention_of {
  using operation_class = attention_operation;
  static constexpr attributes how = integer_attributes(static_cast<int>(To));
};

namespace detail {
template <attends To, class Permitted>
using attention_call =
    fractional_call<attention_of<To>, fetching_call<attention_of<To>, Permitted>>;
}  // namespace detail

/// Returns scaled dot-product attention: `softmax(q k^T / sqrt(d)) v` for each head, of queries
/// `[..., heads, queries, d]`, keys `[..., heads, keys, d]` and values `[..., heads, keys, e]`; the
/// result is `[..., heads, queries, e]`. The scores are never stored as a whole: the sum is
/// accumulated over blocks of keys.
///
/// If there are fewer heads of keys and values than of queries, consecutive heads of queries share
/// one (grouped-query attention). With `attends::to_earlier`, query `i` attends to the keys up to
/// `i`. A mask is broadcast to `[..., heads, queries, keys]`: `bool` elements select the keys that
/// a query attends to, numbers are added to the scores and may be learnt, such as relative
/// positions. A query that attends to no key gives zeros.
///
/// With `attends::to_earlier`, an integer `start` of rank 0 may replace the mask. It is the
/// position of the first query: query `i` attends to the keys up to `start + i`. Later keys are not
/// read, so they may be the unused part of a cache.
///
/// Positions to which a query does not attend contribute nothing, even if their keys or values are
/// infinite or NaN: neither to the result nor to a cotangent. Numbers of a mask that are negative
/// infinity hide a key like `false`. Third derivatives do not exist: for these, write the products
/// and the softmax.
///
/// All dimensions may be split except `keys` and `d`; heads may be split if each device has the
/// heads of keys that its queries need. Keys may be gathered over permitted axes.
///
///     auto y = attention<attends::to_earlier>(q, k, v);          // heads split over "model"
///     auto z = attention(q, k, v, mask, across<"seq">);
///     auto next = attention<attends::to_earlier>(q, cache.keys, cache.values, cache.filled);
template <attends To = attends::to_all, NamedOperand Q, NamedOperand K, NamedOperand V,
          internal::Terms Given = across_axes<>>
[[nodiscard]] constexpr internal::outcome_on<
    detail::attention_call<To, internal::permitted_by<Given>>, Given, Q, K, V>
attention(Q&& q, K&& k, V&& v, const Given& given = {}) {
  return internal::carry_out_on<detail::attention_call<To, internal::permitted_by<Given>>>(
      given, static_cast<Q&&>(q), static_cast<K&&>(k), static_cast<V&&>(v));
}
template <attends To = attends::to_all, NamedOperand Q, NamedOperand K, NamedOperand V,
          NamedOperand Mask, internal::Terms Given = across_axes<>>
[[nodiscard]] constexpr internal::outcome_on<
    detail::attention_call<To, internal::permitted_by<Given>>, Given, Q, K, V, Mask>
attention(Q&& q, K&& k, V&& v, Mask&& mask, const Given& given = {}) {
  return internal::carry_out_on<detail::attention_call<To, internal::permitted_by<Given>>>(
      given, static_cast<Q&&>(q), static_cast<K&&>(k), static_cast<V&&>(v),
      static_cast<Mask&&>(mask));
}

}  // namespace shardwise
