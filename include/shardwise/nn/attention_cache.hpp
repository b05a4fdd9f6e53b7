// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/dynamic_slice.hpp"
#include "shardwise/operation/einsum.hpp"
#include "shardwise/plan/abstract.hpp"

#include <cstdint>
#include <utility>

namespace shardwise {

namespace detail {

/// The type of the number of positions in a cache, beside its keys.
template <class Keys>
struct filled_beside {
  using type =
      typename Keys::domain::template tensor<std::int32_t, extents<>, layout<mesh_of<Keys>, P<>>>;
};
template <ValueOperand Keys>
struct filled_beside<Keys> {
  using type = typename Keys::value_domain::template tensor<std::int32_t>;
};

}  // namespace detail

namespace nn {

/// A key-value cache: keys and values `[batch, heads, capacity, size]`, of which the first `filled`
/// positions are valid. A call of `nn::attention` or of a `transformer_block` with a cache takes
/// one or several new positions and appends their keys and values.
///
/// It is an aggregate of tensors, and is created, saved, traced and donated like a model. Keys and
/// values that have no other owner are updated in place. Positions beyond the capacity throw
/// `part_is_beyond_end` when they are computed; the cache is lost then.
template <class Keys, class Values = Keys>
struct attention_cache {
  Keys keys;
  Values values;
  /// The number of valid positions, a replicated integer.
  typename detail::filled_beside<Keys>::type filled;
};

}  // namespace nn

namespace detail {

/// The type of the keys that a weight computes from `Capacity` positions.
template <class X, class Weight, index_t Capacity>
struct cached {
  static constexpr const extents_desc& of = X::extents_type::value;
  using stream = abstract_tensor<typename X::value_type, extents<of[0], Capacity, of[2]>,
                                 typename X::layout_type>;
  using weight = abstract_tensor<typename Weight::value_type, typename Weight::extents_type,
                                 typename Weight::layout_type>;
  using made = decltype(einsum<"bsd,dhe->bhse">(std::declval<const stream&>(),
                                                std::declval<const weight&>()));
  using type = typename Weight::domain::template tensor<
      typename made::value_type, typename made::extents_type, typename made::layout_type>;
};
template <class Module, class X, index_t Capacity>
struct cache_of;
/// The part of a module that has a cache: `call(module, x, f)` calls `f` with the input of its
/// attention and with its weights for keys, a `key_type`, and for values.
template <class Module>
struct cached_part;
template <class Module>
concept HasCache = requires {
  sizeof(cached_part<Module>);
};

/// Appends the keys and values of new positions to a cache, or returns the first operation that is
/// an error.
template <class Cache, class K, class V>
constexpr auto append(Cache& cache, const K& keys, const V& values) {
  if constexpr (AnyRefused<K, V>) {
    return refused_value{};
  } else if constexpr (AnyRefused<decltype(update_slice<2, out_of_range::error>(cache.keys, keys,
                                                                                cache.filled))>) {
    return update_slice<2, out_of_range::error>(cache.keys, keys, cache.filled);
  } else {
    cache.keys = update_slice<2, out_of_range::error>(cache.keys, keys, cache.filled);
    cache.values = update_slice<2, out_of_range::error>(cache.values, values, cache.filled);
    cache.filled += static_cast<std::int32_t>(keys.extents()[2]);
  }
}

}  // namespace detail

namespace nn {

/// The type of the cache of an attention, or of a block that contains one, for inputs like `X`
/// (`[batch, positions, width]`) and a total of `Capacity` positions. Its heads are split as in the
/// weights, its batch as in `X`.
///
///     using Cache = nn::cache_for<nn::transformer_block<Norm, Heads, Mlp>, X, 512>;
template <class Module, class X, index_t Capacity>
using cache_for = typename detail::cache_of<Module, X, Capacity>::type;

}  // namespace nn

}  // namespace shardwise
