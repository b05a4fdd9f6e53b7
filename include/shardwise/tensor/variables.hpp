// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/expression/nest.hpp"
#include "shardwise/tensor/tensor_handle.hpp"

#include <concepts>
#include <type_traits>
#include <utility>

namespace shardwise {

namespace internal {
template <class Nest>
[[nodiscard]] constexpr bool has_variables_only() noexcept;
}  // namespace internal

namespace detail {

/// The same for the members of a nest.
struct members_are_variables {
  template <class... Members>
  [[nodiscard]] constexpr auto operator()(Members&...) const noexcept {
    return std::bool_constant<(... && has_variables_only<Members>())>{};
  }
};

}  // namespace detail

namespace internal {

/// True for a nest whose tensors are variables that may be assigned: no expressions, and neither
/// the nest nor a tensor in it is const.
template <class Nest>
constexpr bool has_variables_only() noexcept {
  using plain = std::remove_const_t<Nest>;
  constexpr nest_kind kind = nest_kind_of<plain>();
  if constexpr (AnyRefused<plain>)
    return true;  // the error has been reported
  else if constexpr (kind == nest_kind::tensor)
    return !std::is_const_v<Nest> && std::derived_from<plain, tensor_handle>;
  else if constexpr (kind == nest_kind::tuple || kind == nest_kind::aggregate)
    return decltype(with_parts(std::declval<Nest&>(), detail::members_are_variables()))::value;
  else if constexpr (kind == nest_kind::range)
    return has_variables_only<std::remove_reference_t<decltype(*std::declval<Nest&>().begin())>>();
  else if constexpr (kind == nest_kind::frozen)
    return has_variables_only<std::remove_reference_t<decltype((std::declval<Nest&>().value))>>();
  else
    return true;
}

}  // namespace internal

}  // namespace shardwise
