// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/manual_collectives.hpp"
#include "shardwise/runtime/any_mark.hpp"

namespace shardwise {

/// `disable_manual_sharding` of a tensor with a run-time layout, to a spec or a layout.
///
///     auto y = disable_manual_sharding(mine, spec_desc{{"data", ""}});
template <Element T>
[[nodiscard]] any_tensor<T> disable_manual_sharding(const any_tensor<T>& x,
                                                    const layout_desc& target) {
  require(validate(x.mesh(), target));
  const manual_result made = from_manual(x.mesh(), x.tensor(), target);
  require(made.verdict);
  return any_domain::manually<any_tensor<T>>(x, made.tensor);
}
template <Element T>
[[nodiscard]] any_tensor<T> disable_manual_sharding(const any_tensor<T>& x,
                                                    const spec_desc& target) {
  return disable_manual_sharding(x, layout_of(x.mesh(), target));
}
/// A collective given as a value, of a tensor with a run-time layout. If the axes are known by
/// name, write `all_reduce<"data">(mine)`, as for other tensors.
///
///     auto all = apply_collective(mine, {.kind = collective::all_gather, .axes = {0}, .from = 1});
///     auto sums = apply_collective(mine, {.axes = mine.layout().manual_axes()});
template <Element T>
[[nodiscard]] any_tensor<T> apply_collective(const any_tensor<T>& x,
                                             const manual_collective& given) {
  const manual_collective called = given.from_front(x.tensor().rank());
  const manual_result made = called.apply(x.mesh(), x.tensor());
  require(made.verdict);
  return any_domain::manually<any_tensor<T>>(x, made.tensor, called);
}

}  // namespace shardwise
