// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/runtime/distribute.hpp"
#include "shardwise/tensor/shown_as.hpp"

#include <concepts>
#include <span>
#include <tuple>
#include <type_traits>

namespace shardwise {

/// How an argument or a type that is missing stands in errors.
struct nothing_given {};
template <class X>
using shown_or_nothing = std::conditional_t<std::is_void_v<X>, nothing_given, shown_as<X>>;
/// How a range that cannot be read twice through a const reference stands in errors.
template <class Item>
struct range_read_once;

namespace detail {

/// What a function that makes a tensor takes between the pool and the sizes.
enum class made_from { sizes, value, key, function, data };

/// The argument that `From` needs for tensors of `T`, as errors name it.
template <made_from From, class T>
using wanted =
    std::tuple_element_t<static_cast<std::size_t>(From),
                         std::tuple<index_t, T, key, T(const global_index&), std::span<const T>>>;

template <made_from From, class X, class A>
inline constexpr bool is_wanted = std::convertible_to<A, wanted<From, element_in<X>>>;
template <class X, class A>
inline constexpr bool is_wanted<made_from::function, X, A> =
    std::is_invocable_r_v<element_in<X>, const A&, const global_index&>;
template <class X, class A>
inline constexpr bool is_wanted<made_from::data, X, A> = is_host_data<X, A>;

/// True if a tensor of type `X` can be made from these arguments after the pool. Host data knows
/// its extents itself.
template <made_from From, class X, class... A>
inline constexpr bool makes = false;
template <ShardedTensor X, class... Sizes>
inline constexpr bool makes<made_from::sizes, X, Sizes...> =
    (std::convertible_to<Sizes, index_t> && ...) &&
    takes_sizes<extents_in<X>, int{sizeof...(Sizes)}>;
template <made_from From, ShardedTensor X, class First, class... Sizes>
  requires(From != made_from::sizes)
inline constexpr bool makes<From, X, First, Sizes...> =
    is_wanted<From, X, First> &&
    (makes<made_from::sizes, X, Sizes...> || (From == made_from::data && sizeof...(Sizes) == 0));

/// The same with the pool in front.
template <made_from From, class X, class... A>
inline constexpr bool makes_in = false;
template <made_from From, class X, class... A>
inline constexpr bool makes_in<From, X, device_pool, A...> = makes<From, X, A...>;

/// Why nothing can be made from the arguments from number `I` on, among them `Sizes` sizes. (Types,
/// since a function that is judged by a value would be a second error.)
template <made_from From, int I, int Sizes, class X, class First = nothing_given, class... Rest>
[[nodiscard]] constexpr auto judge_argument() noexcept {
  using T = element_in<X>;
  using data = nest<First>;
  constexpr bool is_size = From == made_from::sizes;
  if constexpr (I == 0 && std::same_as<First, device_pool>)
    return judge_argument<From, 1, Sizes, X, Rest...>();
  else if constexpr (is_size && takes_sizes<extents_in<X>, Sizes>)
    return refused<argument_is_unexpected<operand<I>, shown_as<First>, nothing_given>>{};
  else if constexpr (is_wanted<From, X, First>)
    return judge_argument<made_from::sizes, I + 1, Sizes + int{is_size}, X, Rest...>();
  else if constexpr (From != made_from::data || std::same_as<First, nothing_given>)
    return refused<argument_is_unexpected<operand<I>, shown_as<First>, wanted<From, T>>>{};
  else if constexpr (data::depth > 0 && !std::is_convertible_v<typename data::item, T>)
    return refused<host_elements_differ<typename data::item, T>>{};
  else if constexpr (data::depth > 0 && data::depth != extents_in<X>::rank)
    return refused<host_rank_differs<data::depth, extents_in<X>::rank>>{};
  else if constexpr (data::depth == 0 && std::ranges::input_range<First>)
    return refused<host_data_is_unreadable<range_read_once<std::ranges::range_value_t<First>>>>{};
  else
    return refused<host_data_is_unreadable<shown_as<First>>>{};
}

/// Judges a call that does not name a pool, or cannot be understood: what it makes, or the rule
/// that it breaks.
template <made_from From, class X, class... A>
[[nodiscard]] constexpr auto judge_call() noexcept {
  using first = std::tuple_element_t<0, std::tuple<A..., nothing_given>>;
  if constexpr (makes<From, X, A...>)
    return allowed<X>{};
  else if constexpr (!ShardedTensor<X>)
    return refused<made_type_is_not_a_tensor<shown_or_nothing<X>>>{};
  else if constexpr (Mesh<first> || std::same_as<first, mesh_desc>)
    return refused<mesh_is_not_a_pool<shown_as<first>>>{};
  else
    return judge_argument<From, 0, 0, X, A...>();
}
template <made_from From, class X, class... A>
using made_outcome = given<decltype(judge_call<From, X, A...>())>;
/// Of arguments that do not begin with a pool, or cannot be understood.
template <made_from From, class X, class... A>
  requires(!makes_in<From, X, A...>)
using made_here = typename made_outcome<From, X, A...>::type;

}  // namespace detail
}  // namespace shardwise
