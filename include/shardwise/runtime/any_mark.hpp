// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/plan/mark.hpp"
#include "shardwise/runtime/any_operations.hpp"

namespace shardwise {

/// `constrain` to a run-time layout, or a spec with the policy of the tensor unless one is given;
/// throws if a collective is necessary.
///
///     auto y = constrain(x, spec_desc{{"data", ""}});
template <Element T>
[[nodiscard]] any_tensor<T> constrain(const any_tensor<T>& x, const layout_desc& target) {
  return internal::promised<internal::constraining>(x, target);
}
template <Element T, class... Policy>
  requires(...&& std::convertible_to<Policy, policy_desc>)
[[nodiscard]] any_tensor<T> constrain(const any_tensor<T>& x, const spec_desc& target,
                                      Policy... policy) {
  return constrain(x, internal::layout_with_spec(x.mesh(), x.layout(), target, policy...));
}

/// `mark_sharding` with a run-time layout, or a spec with the policy of the tensor unless one is
/// given; throws if the tensor is marked with another one.
///
///     auto y = mark_sharding(x, spec_desc{{"data", ""}});
template <Element T>
[[nodiscard]] any_tensor<T> mark_sharding(const any_tensor<T>& x, const layout_desc& target) {
  return internal::promised<internal::marking>(x, target);
}
template <Element T, class... Policy>
  requires(...&& std::convertible_to<Policy, policy_desc>)
[[nodiscard]] any_tensor<T> mark_sharding(const any_tensor<T>& x, const spec_desc& target,
                                          Policy... policy) {
  return mark_sharding(x, internal::layout_with_spec(x.mesh(), x.layout(), target, policy...));
}

/// `clear_sharding` of a tensor with a run-time layout; throws if a reduction is pending.
template <Element T>
[[nodiscard]] any_tensor<T> clear_sharding(const any_tensor<T>& x) {
  const layout_desc whole = cleared(x.layout());
  const diagnosis verdict = check_clearing(x.mesh(), x.layout());
  if (!verdict.ok()) fail(verdict, promise_advice(x.mesh(), x.tensor(), whole, verdict));
  return reshard(x, whole);
}

/// `shard_as` for tensors with run-time layouts.
template <Element T, Element U>
[[nodiscard]] any_tensor<T> shard_as(const any_tensor<T>& x, const any_tensor<U>& like) {
  if (x.mesh() != like.mesh()) fail({.rule = violation::operand_meshes_differ, .operand = 1});
  return reshard(x, like.layout());
}

}  // namespace shardwise
