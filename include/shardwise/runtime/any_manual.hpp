// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/manual_collectives.hpp"
#include "shardwise/runtime/any_mark.hpp"

namespace shardwise {

/// `disable_manual_sharding` of a tensor with a run-time layout, to a spec or a layout.
///
///     auto y = disable_manual_sharding(mine, spec_desc{{"data", ""}});
template <Element T, LayoutValue Target>
[[nodiscard]] any_tensor<T> disable_manual_sharding(const any_tensor<T>& x, const Target& target) {
  const layout_desc to = detail::layout_for(x, target);
  require(validate(x.mesh(), to));
  const manual_result made = from_manual(x.mesh(), x.tensor(), to);
  require(made.verdict);
  return any_domain::manually<any_tensor<T>>(x, made.tensor);
}
/// A collective given as a value, of a tensor with a run-time layout.
///
///     auto all = apply_collective(mine, {.kind = collective::all_gather, .axes = {0}, .from = 1});
template <Element T>
[[nodiscard]] any_tensor<T> apply_collective(const any_tensor<T>& x,
                                             const manual_collective& called) {
  const manual_result made = called.apply(x.mesh(), x.tensor());
  require(made.verdict);
  return any_domain::manually<any_tensor<T>>(x, made.tensor, called);
}
/// `all_reduce` along manual axes, given as a bit mask, of a tensor with a run-time layout.
template <Element T>
[[nodiscard]] any_tensor<T> all_reduce(const any_tensor<T>& x, reduction reduce, unsigned axes) {
  manual_collective called{.reduce = reduce};
  for (std::uint8_t a = 0; a < x.mesh().rank(); ++a)
    if ((axes >> a & 1U) != 0) called.axes.push_back(a);
  return apply_collective(x, called);
}

}  // namespace shardwise
