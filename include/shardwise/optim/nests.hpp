// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/nest.hpp"
#include "shardwise/expression/nest.hpp"
#include "shardwise/nn/together.hpp"
#include "shardwise/operation/normalising.hpp"
#include "shardwise/optim/groups.hpp"
#include "shardwise/optim/refusals.hpp"
#include "shardwise/optim/step_number.hpp"
#include "shardwise/plan/gradient.hpp"
#include "shardwise/runtime/any_operations.hpp"
#include "shardwise/tensor/any_tensor.hpp"
#include "shardwise/tensor/sharded_tensor.hpp"

#include <concepts>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace shardwise::detail {

/// Returns how an optimizer treats the parameter with this path.
template <class X>
[[nodiscard]] constexpr optim::treatment treated(optim::treatment_rule rule, const leaf_path& path,
                                                 const X& parameter) {
  if constexpr (ValueOperand<X>)
    return rule(text_view(path), parameter.tensor().rank());
  else
    return rule(text_view(path), X::extents_type::rank);
}
/// Calls `update` with the treatment of each parameter that is trained, the parameter and the
/// corresponding tensors of other nests.
template <class Update, class Parameters, class... Rest>
constexpr void update_trained(optim::treatment_rule rule, const Update& update,
                              Parameters& parameters, Rest&... rest) {
  const auto of_one = [&](const leaf_path& path, auto& w, auto&... others) {
    const optim::treatment how = treated(rule, path, w);
    if (how.rate != 0) update(how, w, others...);
  };
  update_together(of_one, parameters, rest...);
}
/// Returns the part of a running mean or sum that a step keeps, in the elements of arithmetic: in
/// `bfloat16` a part of 0.999 would be 1.
template <class X>
[[nodiscard]] constexpr auto kept_part(const X& running, double part) {
  return internal::widened(running) * internal::number_for<X>(part);
}
/// Stores a value of the elements of arithmetic, rounded once.
template <class X, class Value>
constexpr void put_rounded(X& x, Value&& value) {
  internal::put(x, internal::narrowed<typename X::value_type>(std::forward<Value>(value)));
}
/// Returns a gradient with the decay of a parameter added to it.
template <class X>
[[nodiscard]] constexpr X with_decay(const X& gradient, const X& w, double decay) {
  X sum = gradient;
  if (decay != 0) sum += w * number_for<X>(decay);
  return sum;
}
/// Subtracts a direction, times the rate and a factor, from a parameter.
template <class X, class Direction, class Rate>
constexpr void descend(X& w, Direction&& direction, const Rate& rate, double factor) {
  if (factor == 1)
    w -= std::forward<Direction>(direction) * rate;
  else
    w -= std::forward<Direction>(direction) * rate * number_for<X>(factor);
}

}  // namespace shardwise::detail
