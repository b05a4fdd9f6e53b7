// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/manual.hpp"
#include "shardwise/runtime/any_mark.hpp"

namespace shardwise {

namespace detail {
/// The tensor after a rule of manual sharding.
template <class T>
[[nodiscard]] any_tensor<T> by_hand(const any_tensor<T>& x, const manual_result& made,
                                    reduction fold = reduction::sum) {
  require(made.verdict);
  return any_tensor<T>(manual_node_of(read_operand<const any_tensor<T>&>(x), made.tensor, fold));
}
}  // namespace detail

/// `enable_manual_sharding` of a tensor whose layout is a value.
template <Element T>
[[nodiscard]] any_tensor<T> enable_manual_sharding(const any_tensor<T>& x) {
  return detail::by_hand(x, to_manual(x.mesh(), x.tensor()));
}
/// `disable_manual_sharding` of a tensor whose layout is a value, to a spec or a layout.
///
///     auto y = disable_manual_sharding(mine, spec_desc{{"data", ""}});
template <Element T, LayoutValue Target>
[[nodiscard]] any_tensor<T> disable_manual_sharding(const any_tensor<T>& x, const Target& target) {
  const layout_desc to = detail::layout_for(x, target);
  require(validate(x.mesh(), to));
  return detail::by_hand(x, from_manual(x.mesh(), x.tensor(), to));
}
/// `all_reduce` along manual axes, as bits, of a tensor whose layout is a value.
template <Element T>
[[nodiscard]] any_tensor<T> all_reduce(const any_tensor<T>& x, reduction fold, unsigned axes) {
  return detail::by_hand(x, reduced_manual(x.mesh(), x.tensor(), axes), fold);
}
/// The same along axes that the program names, spelled as for tensors whose layout is a type.
///
///     auto total = all_reduce<"data">(mine);
///     auto most = all_reduce<reduction::max, "data", "model">(mine);
template <reduction Fold, fixed_string... Axes, Element T>
[[nodiscard]] any_tensor<T> all_reduce(const any_tensor<T>& x) {
  return detail::by_hand(x, detail::reduce_manual<Axes...>::judge(x.mesh(), x.tensor()), Fold);
}
template <fixed_string... Axes, Element T>
[[nodiscard]] any_tensor<T> all_reduce(const any_tensor<T>& x) {
  return all_reduce<reduction::sum, Axes...>(x);
}

}  // namespace shardwise
