// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/between_devices.hpp"
#include "shardwise/operation/flip_operation.hpp"
#include "shardwise/operation/shard_mirror.hpp"

#include <type_traits>
#include <utility>

namespace shardwise {

namespace detail {

/// The call of a flip.
template <int... Dims>
struct flip_call {
  using operation = flip_of<Dims...>;

  [[nodiscard]] static constexpr shard_mirror plan(const mesh_desc& mesh, const tensor_desc& x,
                                                   unsigned permitted) noexcept {
    return shard_mirror::of(mesh, x, over(attributes_for<operation>(x.rank()).integers), permitted);
  }
  template <class Plan, class Permitted, class X>
  [[nodiscard]] static constexpr auto on_types(X&& x) {
    using layout = typename std::remove_cvref_t<X>::layout_type;
    auto moved = exchanged<Plan, 0>(enable_manual_sharding(static_cast<X&&>(x)));
    return disable_manual_sharding<layout>(
        apply_operation<operation>(across_axes<>{}, static_cast<decltype(moved)&&>(moved)));
  }
  template <class X>
  [[nodiscard]] static X on_values(const X& x, const shard_mirror& plan) {
    X mine = value_steps::enter(x);
    for (const axis_list& axes : plan.dims)
      mine = value_steps::call(shard_mirror::along(axes), std::move(mine));
    return value_steps::leave(
        X::value_domain::template apply_with<flip_operation, typename X::value_type>(
            attributes_for<operation>(x.tensor().rank()), std::move(mine)),
        x.tensor().layout);
  }

 private:
  template <class Plan, int I, class X>
  [[nodiscard]] static constexpr auto exchanged(X&& x) {
    if constexpr (I == Plan::value.dims.ssize()) {
      return std::remove_cvref_t<X>(static_cast<X&&>(x));
    } else {
      constexpr auto axes = entry_of_axes<mesh_of<X>, pack(Plan::value.dims[I])>::value;
      return exchanged<Plan, I + 1>(
          call_collective<moving_collective<collective::collective_permute, axes, mirror_moves>>(
              static_cast<X&&>(x)));
    }
  }
};

}  // namespace detail

/// Returns the elements in reverse order along the given dimensions, which must not be split.
/// Pending reductions stay pending.
///
/// If axes are permitted that split the dimensions evenly, they stay split: devices exchange their
/// shards, with one `collective_permute` for each such dimension. Otherwise they are gathered over
/// permitted axes.
///
///     auto y = flip<1>(x);                      // f32[8@data, 64]: y[i, j] = x[i, 63 - j]
///     auto z = flip<1>(x, across<"model">);     // f32[8, 64@model]
template <int... Dims, NamedOperand X, internal::Terms Given = across_axes<>>
  requires(sizeof...(Dims) > 0 && sizeof...(Dims) <= max_rank &&
           !detail::may_run_between_devices<detail::flip_call<Dims...>, X, Given>)
[[nodiscard]] constexpr auto flip(X&& x, const Given& permitted = {})
    -> decltype(apply_operation<flip_of<Dims...>>(permitted, static_cast<X&&>(x))) {
  return apply_operation<flip_of<Dims...>>(permitted, static_cast<X&&>(x));
}
template <int... Dims, NamedOperand X, internal::Terms Given = across_axes<>>
  requires(sizeof...(Dims) > 0 && sizeof...(Dims) <= max_rank &&
           detail::may_run_between_devices<detail::flip_call<Dims...>, X, Given>)
[[nodiscard]] constexpr auto flip(X&& x, const Given& permitted = {}) {
  return detail::run_between_devices<detail::flip_call<Dims...>>(static_cast<X&&>(x), permitted);
}

}  // namespace shardwise
