// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/broadcast_to.hpp"
#include "shardwise/operation/iota_like.hpp"
#include "shardwise/operation/manual_collectives.hpp"
#include "shardwise/operation/reduce.hpp"

namespace shardwise {

namespace detail {

/// Returns the indices of the devices along some axes, as a replicated tensor.
template <fixed_string... Axes, class X>
[[nodiscard]] constexpr auto positions_on_mesh(const X& x) {
  using rule = vary_rule<Axes...>;
  if constexpr (AnyRefused<X>) {
    return refused_value{};
  } else if constexpr (ValueOperand<X>) {
    using domain = typename X::value_domain;
    const index_t n = x.mesh().parts(rule::called(x.mesh()).axes);
    return iota_like<0>(domain::template apply_with<broadcast_to_operation, std::int64_t>(
        broadcast_to_operation::how(extents_desc{n}),
        domain::template number<std::int64_t>(x, std::int64_t{0})));
  } else {
    constexpr index_t n = mesh_of<X>::value.parts(rule::called(mesh_of<X>::value).axes);
    return iota_like<0>(
        broadcast_to<extents<n>>(X::domain::template number<std::int64_t>(x, std::int64_t{0})));
  }
}

}  // namespace detail

/// Returns the index of each device along axes of known size, counted from 0, as a manual value:
/// `axis_index` in JAX. Only the mesh of `x` is used. Several axes are numbered together, the first
/// one major.
///
///     auto rank = axis_index<"data">(mine);                      // i64[]{manual: data}
///     auto first = where(equal(rank, 0), mine, mine * 0.0F);
template <fixed_string... Axes, NamedOperand X>
[[nodiscard]] constexpr auto axis_index(const X& x) {
  return sum<0>(all_slice<detail::named_axes<Axes...>(), 0>(detail::positions_on_mesh<Axes...>(x)));
}

}  // namespace shardwise
