// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/across.hpp"

#include <type_traits>
#include <utility>

namespace shardwise {

/// Asks an operation for a result of this layout: a spec `P<...>`, or a whole layout.
template <class Target>
struct result_as {
  /// The checked cast of a tensor whose layout is a value, to the type `Target`.
  template <class X>
  [[nodiscard]] constexpr auto operator()(const X& x) const
      -> decltype(checked_as(std::type_identity<Target>{}, x)) {
    return checked_as(std::type_identity<Target>{}, x);
  }
};
/// As the last argument of an operation, the layout of its result, where it could give several:
/// JAX's `out_sharding`. It is a request to move what that takes, and stands for the `reshard`s
/// that an error would propose for the operands, and that of the result: what is pending is
/// reduced, or reduced and scattered. All of it is in the ledger and in `explain`.
///
/// `einsum`, `reshape`, `broadcast_to`, and what takes `across` as a single operation, as `take`
/// and `convolution`, take it.
///
///     auto y = einsum<"bi,io->bo">(x, w, as<P<"data", "model">>);   // one reduce_scatter
///     auto z = reshape<extents<32>>(x, as<P<none>>);
///
/// Of a tensor whose layout is a value, `as<X>(x)` is the tensor of type `X`.
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

/// What an operation may be given behind its operands: axes over which it may fetch, or the layout
/// of its result.
template <class X>
concept Terms = are_across<X> || is_result_as<X>;

/// True if the last of some arguments asks for a layout.
template <class... X>
[[nodiscard]] constexpr bool ends_with_result_as() noexcept {
  bool is_last = false;
  ((is_last = is_result_as<std::remove_cvref_t<X>>), ...);
  return is_last;
}

}  // namespace detail

/// Applies an operation, as `apply_operation` does, for a result of this layout.
template <class Operation, class Target, class... X>
[[nodiscard]] constexpr decltype(auto) apply_operation(result_as<Target>, X&&... x) {
  return reshard<Target>(detail::carry_out<detail::fetching_call<Operation, detail::every_axis>>(
      static_cast<X&&>(x)...));
}

}  // namespace shardwise
