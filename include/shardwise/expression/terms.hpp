// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/diagnosis.hpp"
#include "shardwise/mesh/mesh_desc.hpp"
#include "shardwise/rule/suggestion.hpp"

#include <type_traits>

namespace shardwise::internal {

/// True for an argument that names axes over which an operation may communicate: `across<...>`.
template <class X>
inline constexpr bool are_across = false;
/// True for an argument that requests the layout of a result: `as<P<...>>` or `out_sharding(...)`.
template <class X>
inline constexpr bool is_result_as = false;

/// The last argument of an operation: axes over which it may communicate, or the layout of its
/// result.
template <class X>
concept Terms = are_across<X> || is_result_as<X>;

/// Returns true if the last argument requests a layout.
template <class... X>
[[nodiscard]] constexpr bool ends_with_result_as() noexcept {
  bool is_last = false;
  ((is_last = is_result_as<std::remove_cvref_t<X>>), ...);
  return is_last;
}
/// Returns true if the last argument is the terms of an operation.
template <class... X>
[[nodiscard]] constexpr bool ends_with_terms() noexcept {
  bool is_last = false;
  ((is_last = Terms<std::remove_cvref_t<X>>), ...);
  return is_last;
}

/// Permits an operation to communicate over all axes of its mesh. It is a template, which has no
/// arguments, so that no refused operand, which converts to any type, is taken for it.
template <class... None>
  requires(sizeof...(None) == 0)
struct every_axis_of {
  [[nodiscard]] static constexpr diagnosis check(const mesh_desc&) noexcept { return {}; }
  [[nodiscard]] static constexpr unsigned bits(const mesh_desc&) noexcept { return ~0U; }
};
using every_axis = every_axis_of<>;
template <>
inline constexpr bool are_across<every_axis> = true;

/// The permission of a call that accepts `across` and was given `Permitted`; there is none to be
/// suggested for a call that accepts no `across`, or that requests a layout.
template <class Permitted>
[[nodiscard]] constexpr across_permission permission_of(const mesh_desc& mesh) noexcept {
  if constexpr (std::is_void_v<Permitted>)
    return {};
  else if constexpr (requires { Permitted::permission(mesh); })
    return Permitted::permission(mesh);
  else
    return across_permission::with(Permitted::bits(mesh));
}

/// The axes over which these terms permit an operation to communicate.
template <Terms Given>
using permitted_by = std::conditional_t<are_across<Given>, Given, every_axis>;
/// The option of a function, or every axis instead of a request for a layout.
template <class Option>
[[nodiscard]] constexpr decltype(auto) without_request(const Option& option) noexcept {
  if constexpr (is_result_as<Option>)
    return every_axis{};
  else
    return (option);
}

/// The call of an elementwise function whose last argument is its terms; defined with `as`.
template <class Function>
struct elementwise_call_on_terms;

}  // namespace shardwise::internal
