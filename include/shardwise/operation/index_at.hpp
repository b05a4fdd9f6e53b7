// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/between_devices.hpp"
#include "shardwise/operation/shard_owner.hpp"
#include "shardwise/rule/window.hpp"

#include <type_traits>
#include <utility>

namespace shardwise {

namespace detail {

/// The call of an index.
template <int Dim, index_t At>
struct index_call {
  using operation = strided_slice_of<Dim, At, At == -1 ? open_end : size_sum(1, At), 1, true>;

  [[nodiscard]] static constexpr shard_owner plan(const mesh_desc& mesh, const tensor_desc& x,
                                                  unsigned permitted) noexcept {
    return shard_owner::of(mesh, x, attributes_for<operation>(x.rank()), permitted);
  }
  template <class Plan, class Permitted, class X>
  [[nodiscard]] static constexpr auto on_types(X&& x) {
    constexpr auto axes = entry_of_axes<mesh_of<X>, pack(Plan::value.axes)>::value;
    using made = std::remove_cvref_t<decltype(apply_operation<operation>(Permitted{}, x))>;
    auto mine = apply_operation<typename index_call<Dim, Plan::value.local>::operation>(
        across_axes<>{}, enable_manual_sharding(static_cast<X&&>(x)));
    return disable_manual_sharding<typename made::layout_type>(
        broadcast<axes, Plan::value.position>(static_cast<decltype(mine)&&>(mine)));
  }
  template <class X>
  [[nodiscard]] static X on_values(const X& x, const shard_owner& plan) {
    const attributes& whole = attributes_for<operation>(x.tensor().rank());
    const attributes local = slice_operation::how(static_cast<int>(whole.integers[0]), plan.local,
                                                  plan.local + 1, 1, true);
    X mine = X::value_domain::template apply_with<slice_operation, typename X::value_type>(
        local, value_steps::enter(x));
    return value_steps::leave(value_steps::call(plan.sending(), std::move(mine)),
                              shard_owner::result_of(x.mesh(), x.tensor(), whole));
  }
};

}  // namespace detail

/// Returns the elements at one index of a dimension, which is removed; a negative index counts from
/// the end. The dimension must not be split. Pending reductions stay pending.
///
/// If axes are permitted that split the dimension evenly, the device that has the elements sends
/// them to the others, with a `broadcast`. Otherwise the dimension is gathered over permitted axes.
///
///     auto last = index_at<1, -1>(x);                        // f32[8@data, 64] -> f32[8@data]
///     auto newest = index_at<1, -1>(h, across<"sequence">);  // f32[8, 64@sequence] -> f32[8]
template <int Dim, index_t At, NamedOperand X, internal::Terms Given = across_axes<>>
  requires(!detail::may_run_between_devices<detail::index_call<Dim, At>, X, Given>)
[[nodiscard]] constexpr auto index_at(X&& x, Given permitted = {})
    -> decltype(apply_operation<typename detail::index_call<Dim, At>::operation>(
        permitted, static_cast<X&&>(x))) {
  return apply_operation<typename detail::index_call<Dim, At>::operation>(permitted,
                                                                          static_cast<X&&>(x));
}
template <int Dim, index_t At, NamedOperand X, internal::Terms Given = across_axes<>>
  requires detail::may_run_between_devices<detail::index_call<Dim, At>, X, Given>
[[nodiscard]] constexpr auto index_at(X&& x, Given permitted = {}) {
  return detail::run_between_devices<detail::index_call<Dim, At>>(static_cast<X&&>(x), permitted);
}

/// Deleted: the index is a template argument, or a tensor for `take`.
template <int Dim, NamedOperand X, Scalar Index>
refused_value index_at(const X&, Index) = delete;  // index_at<0, 2>(x)

}  // namespace shardwise
