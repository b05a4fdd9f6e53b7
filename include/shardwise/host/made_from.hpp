// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/expression/elementwise.hpp"
#include "shardwise/host/host_data.hpp"
#include "shardwise/runtime/use_mesh.hpp"
#include "shardwise/tensor/random.hpp"

#include <concepts>
#include <span>
#include <tuple>
#include <type_traits>

namespace shardwise {

/// A tensor type that can be created: `sharded_tensor<...>`.
template <class X>
concept ShardedTensor = internal::is_sharded_tensor<X>;

/// The name of a missing argument or type in errors.
struct nothing_given {};
/// The names of `full`, and of `uniform` and `normal`, in errors.
struct filling;
struct random_numbers;
template <class X>
using shown_or_nothing = std::conditional_t<std::is_void_v<X>, nothing_given, shown_as<X>>;

namespace detail {

/// Arguments of calls that create an `any_tensor<T>`: extents and a layout are among them.
template <class T, class... A>
concept DescribedByValue = is_element<T> &&(std::same_as<A, extents_desc> || ...);

/// The arguments between the pool and the sizes of a function that creates a tensor.
enum class made_from { sizes, value, key, function, data };

/// The argument that `From` requires for tensors of `T`, for errors.
template <made_from From, class T>
using wanted = std::tuple_element_t<
    static_cast<std::size_t>(From),
    std::tuple<index_t, T, random_key, T(const global_index&), std::span<const T>>>;

/// Checks the arguments from number `I` on, of which `Wanted` must be sizes: the type of the
/// result, or the rule that they break. (Types, since a function whose constraint is a value would
/// cause a second error.)
template <class X, int I, int Wanted, class First = nothing_given, class... Rest>
[[nodiscard]] constexpr auto judge_sizes() noexcept {
  if constexpr (Wanted == 0 && std::same_as<First, nothing_given>)
    return allowed<X>{};
  else if constexpr (Wanted == 0)
    return refused<misuse::argument_is_unexpected, of_types<shown_as<First>, nothing_given>,
                   operand_at{I}>{};
  else if constexpr (NumberFor<First, index_t> && !std::floating_point<std::remove_cvref_t<First>>)
    return judge_sizes<X, I + 1, Wanted - 1, Rest...>();
  else
    return refused<misuse::argument_is_unexpected, of_types<shown_as<First>, index_t>,
                   operand_at{I}>{};
}
/// Checks the arguments from number `I` on, as long as the one that `From` needs has not been
/// found.
template <made_from From, class X, int I, class First = nothing_given, class... Rest>
[[nodiscard]] constexpr auto judge_arguments() noexcept {
  using T = element_in<X>;
  constexpr int sizes = extents_in<X>::dynamic_rank;
  if constexpr (From == made_from::sizes) {
    return judge_sizes<X, I, sizes, First, Rest...>();
  } else if constexpr (From == made_from::data && !std::same_as<First, nothing_given>) {
    using data = decltype(judge_host<X, First>());
    if constexpr (data::ok)
      return judge_sizes<X, I + 1, host_sizes<X, First, int{sizeof...(Rest)}>(), Rest...>();
    else
      return data{};
  } else if constexpr (From == made_from::value && number_that_is_cut<T, First> == 0) {
    return refused<misuse::number_would_be_cut, of_types<filling, T>, operand_at{I}>{};
  } else if constexpr (From == made_from::function ? FunctionOf<First, T>
                                                   : NumberFor<First, wanted<From, T>>) {
    return judge_sizes<X, I + 1, sizes, Rest...>();
  } else {
    return refused<misuse::argument_is_unexpected, of_types<shown_as<First>, wanted<From, T>>,
                   operand_at{I}>{};
  }
}

/// Checks a call that creates an `X`.
template <made_from From, class X, class First = nothing_given, class... Rest>
[[nodiscard]] constexpr auto judge_call() noexcept {
  if constexpr (!ShardedTensor<X>)
    return refused<misuse::made_type_is_not_a_tensor, shown_or_nothing<X>>{};
  else if constexpr (Mesh<First> || std::same_as<First, mesh_desc>)
    return refused<misuse::mesh_is_not_a_pool, shown_as<First>>{};
  else if constexpr (!tensor_type_judge<X>::ok)
    return tensor_type_judge<X>{};
  else if constexpr (From == made_from::key && !Fractional<element_in<X>>)
    return refused<misuse::elements_have_no_fractions, of_types<random_numbers, element_in<X>>>{};
  else if constexpr (std::same_as<First, device_pool>)
    return judge_arguments<From, X, 1, Rest...>();
  else
    return judge_arguments<From, X, 0, First, Rest...>();
}
template <made_from From, class X, class... A>
using made_outcome = given<decltype(judge_call<From, X, A...>())>;
template <made_from From, class X, class... A>
using made = typename made_outcome<From, X, A...>::type;

/// Calls `make(pool, arguments...)` if the call is valid, with the pool that comes first or that of
/// the scope. It is constexpr, like its callers, for errors: clang then points at the program's
/// line, even if the result is discarded.
template <made_from From, class X, class Make, class... A>
[[nodiscard]] constexpr made<From, X, A...> make_in_pool(const Make& make, const A&... a) {
  using outcome = made_outcome<From, X, A...>;
  if constexpr (outcome::is_refusal)
    return outcome::value();
  else if constexpr (std::same_as<std::tuple_element_t<0, std::tuple<A..., void>>, device_pool>)
    return make(a...);
  else
    return make(use_mesh::pool(), a...);
}

}  // namespace detail
}  // namespace shardwise
