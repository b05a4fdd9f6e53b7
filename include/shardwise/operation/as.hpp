// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/across.hpp"

#include <type_traits>
#include <utility>

namespace shardwise {

/// Requests a layout for the result of an operation: a spec `P<...>`, or a whole layout.
template <class Target>
struct result_as {
  /// Casts a tensor with a run-time layout to the type `Target`, checked.
  template <class X>
  [[nodiscard]] constexpr auto operator()(const X& x) const
      -> decltype(checked_as(std::type_identity<Target>{}, x)) {
    return checked_as(std::type_identity<Target>{}, x);
  }
};
/// Requests the layout of a result, as the last argument of an operation; JAX's `out_sharding`. It
/// permits the communication that this takes: the `reshard`s of operands that an error would
/// propose, and that of the result, which reduces a pending sum, or reduces and scatters it. The
/// ledger and `explain` show all of it.
///
/// Accepted by `einsum`, `reshape`, `broadcast_to`, and single operations that accept `across`,
/// such as `take` and `convolution`.
///
///     auto y = einsum<"bi,io->bo">(x, w, as<P<"data", "model">>);   // one reduce_scatter
///     auto z = reshape<extents<32>>(x, as<P<none>>);
///
/// For a tensor `x` with a run-time layout, `as<X>(x)` is the checked cast to type `X`.
template <class Target>
inline constexpr result_as<Target> as{};

namespace detail {

/// Permits an operation to fetch over all axes of its mesh.
struct every_axis {
  [[nodiscard]] static constexpr diagnosis check(const mesh_desc&) noexcept { return {}; }
  [[nodiscard]] static constexpr unsigned bits(const mesh_desc&) noexcept { return ~0U; }
};

template <class X>
inline constexpr bool is_result_as = false;
template <class Target>
inline constexpr bool is_result_as<result_as<Target>> = true;
template <class X>
inline constexpr bool are_across = false;
template <fixed_string... Axes>
inline constexpr bool are_across<across_axes<Axes...>> = true;

/// The last argument of an operation: axes over which it may fetch, or the layout of its result.
template <class X>
concept Terms = are_across<X> || is_result_as<X>;

/// Returns true if the last argument requests a layout.
template <class... X>
[[nodiscard]] constexpr bool ends_with_result_as() noexcept {
  bool is_last = false;
  ((is_last = is_result_as<std::remove_cvref_t<X>>), ...);
  return is_last;
}

}  // namespace detail

/// Applies an operation and reshards its result to the requested layout.
template <class Operation, class Target, class... X>
[[nodiscard]] constexpr decltype(auto) apply_operation(result_as<Target>, X&&... x) {
  return reshard<Target>(detail::carry_out<detail::fetching_call<Operation, detail::every_axis>>(
      static_cast<X&&>(x)...));
}

}  // namespace shardwise
