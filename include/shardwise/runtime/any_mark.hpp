// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/plan/constraint.hpp"
#include "shardwise/runtime/any_operations.hpp"

namespace shardwise {

/// The types that describe a run-time layout: a `layout_desc`, or a `spec_desc` of the tensor's
/// mesh, with the tensor's policy and nothing pending.
template <class Target>
concept LayoutValue = std::same_as<Target, layout_desc> || std::same_as<Target, spec_desc>;

/// `constrain` to a run-time layout; throws if a collective is necessary.
///
///     auto y = constrain(x, spec_desc{{"data", ""}});
template <Element T, LayoutValue Target>
[[nodiscard]] any_tensor<T> constrain(const any_tensor<T>& x, const Target& target) {
  const layout_desc to = detail::layout_for(x, target);
  const diagnosis verdict = check_constraint(x.mesh(), x.tensor(), to);
  if (!verdict.ok()) fail(verdict, promise_advice(x.mesh(), x.tensor(), to, verdict));
  return reshard(x, to);
}

/// `mark_sharding` with a run-time layout; throws if the tensor is marked with another one.
template <Element T, LayoutValue Target>
[[nodiscard]] any_tensor<T> mark_sharding(const any_tensor<T>& x, const Target& target) {
  const layout_desc to = detail::layout_for(x, target);
  diagnosis verdict = redistribute(x.mesh(), x.tensor(), to).verdict;
  if (verdict.ok()) verdict = check_marking(x.mesh(), x.layout(), to);
  if (!verdict.ok()) fail(verdict, promise_advice(x.mesh(), x.tensor(), to, verdict));
  return reshard(x, to);
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
