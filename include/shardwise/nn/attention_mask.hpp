// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/nn/options.hpp"
#include "shardwise/operation/arithmetic.hpp"
#include "shardwise/operation/broadcast_to.hpp"
#include "shardwise/operation/by_extents.hpp"
#include "shardwise/operation/cast.hpp"
#include "shardwise/operation/comparison.hpp"
#include "shardwise/operation/iota_like.hpp"
#include "shardwise/operation/logical.hpp"

#include <cstdint>
#include <limits>
#include <type_traits>

namespace shardwise {

namespace nn {

/// An option of `nn::attention`: a mask, which is broadcast to `[..., heads, queries, keys]`.
/// Elements of type `bool` select the keys that a query attends to; numbers are added to the
/// scores, and may be learnt.
///
///     // bool[512, 512], a sliding window; bool[8, 1, 1, 512], which words are padding
///     auto y = heads(x, nn::attention_mask{iota_like<0>(pairs) - iota_like<1>(pairs) < 128});
///     auto z = heads(x, nn::attention_mask{is_word});
template <class Mask>
struct attention_mask {
  Mask value;
};
template <class Mask>
attention_mask(Mask) -> attention_mask<Mask>;

}  // namespace nn

namespace detail {

template <class X>
struct is_attention_mask : std::false_type {};
template <class Mask>
struct is_attention_mask<nn::attention_mask<Mask>> : std::true_type {};

/// The verdict on a value of type `Mask`, with elements of type `T`, that `Attention` cannot use as
/// a mask. `Right` is what to write instead.
template <class Attention, class T, fixed_string Right>
using no_mask = refused<violation::operand_is_no_mask, of_types<Attention, T>, suggested(Right)>;
/// True for integers: neither truth values nor numbers to add to scores.
template <class X>
inline constexpr bool holds_integers = false;
template <EitherOperand X>
  requires(!AnyRefused<X>)
inline constexpr bool holds_integers<X> = is_whole_number(element_of<typename X::value_type>);

/// Checks a mask of `Attention`. An integer would be the position of the first query.
template <class Attention, class Mask>
[[nodiscard]] constexpr auto judge_mask() noexcept {
  if constexpr (AnyRefused<Mask>)
    return refused<>{};
  else if constexpr (!NamedOperand<Mask>)
    return no_mask<Attention, Mask, "nn::attention_mask{mask}">{};
  else if constexpr (holds_integers<Mask>)
    return no_mask<Attention, typename Mask::value_type, "nn::attention_mask{mask > 0}">{};
  else
    return allowed<>{};
}
/// Checks the options of a call of `Attention`: its mask, of which there is at most one.
template <class Attention>
[[nodiscard]] constexpr auto judge_options() noexcept {
  return allowed<>{};
}
template <class Attention, class Option, class... Options>
[[nodiscard]] constexpr auto judge_options() noexcept {
  if constexpr (is_attention_mask<Option>::value && (... || is_attention_mask<Options>::value))
    return no_mask<Attention, bool, "logical_and(mask, other)">{};
  else if constexpr (is_attention_mask<Option>::value)
    return judge_mask<Attention, decltype(Option::value)>();
  else
    return judge_options<Attention, Options...>();
}
/// The refusal of a tensor as an option: it is taken for a mask.
template <class Attention, class Mask>
struct judge_unnamed : no_mask<Attention, typename Mask::value_type, "nn::attention_mask{mask}"> {};
template <class Attention, AnyRefused Mask>
struct judge_unnamed<Attention, Mask> : refused<> {};
/// Checks a context of `Attention`: a mask in its place is no option.
template <class Attention, class Context>
[[nodiscard]] constexpr auto judge_context() noexcept {
  if constexpr (AnyRefused<Context>)
    return allowed<>{};
  else if constexpr (holds_integers<Context>)
    return no_mask<Attention, typename Context::value_type, "nn::attention_mask{mask > 0}">{};
  else if constexpr (std::is_same_v<typename Context::value_type, bool>)
    return no_mask<Attention, bool, "nn::attention_mask{mask}">{};
  else
    return allowed<>{};
}

/// The extents of all pairs of queries and keys, whose positions are the dimension 2.
[[nodiscard]] constexpr attributes extents_of_pairs(const extents_desc&,
                                                    const extents_desc& queries,
                                                    const extents_desc& keys) noexcept {
  extents_desc out;
  out.push_back(queries[2]);
  out.push_back(keys[2]);
  return broadcast_to_operation::how(out);
}

/// Returns a mask that also excludes the keys after the position of each query, of which the first
/// is `first`.
template <class First, class Q, class K, class Mask>
[[nodiscard]] constexpr auto masked_up_to(const First& first, const Q& queries, const K& keys,
                                          const Mask& mask) {
  if constexpr (AnyRefused<Mask>) {
    return refused_value{};
  } else {
    using T = typename Mask::value_type;
    const auto pairs = apply_by_extents<broadcast_to_operation, extents_of_pairs>(
        cast<std::int64_t>(first), queries, keys);
    const auto earlier = iota_like<1>(pairs) - iota_like<0>(pairs) <= pairs;
    if constexpr (std::is_same_v<T, bool>)
      return logical_and(mask, earlier);
    else
      return where(earlier, mask, static_cast<T>(-std::numeric_limits<float>::infinity()));
  }
}

}  // namespace detail

namespace nn {

/// An option of a call of `nn::attention`: `attention_mask`, or `across<...>`, the axes over which
/// keys and values are gathered.
template <class X>
concept AttentionOption = detail::is_attention_mask<X>::value || internal::are_across<X>;

}  // namespace nn

}  // namespace shardwise
