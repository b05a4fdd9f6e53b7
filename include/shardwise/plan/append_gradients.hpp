// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/mesh/list_view.hpp"
#include "shardwise/plan/differentiate.hpp"

#include <type_traits>

namespace shardwise {

/// A value of a program and its cotangent. A loss has none: its cotangent is 1.
struct cotangent_seed {
  value_id of = -1;
  value_id cotangent = -1;
};

/// Returns the layout of the gradient of a tensor with a given layout.
using gradient_layout_function = layout_desc (*)(const mesh_desc&, const layout_desc&) noexcept;

namespace detail {

/// The implementation of `append_gradients`.
constexpr void differentiate(program_builder& code, value_id begin,
                             list_view<const cotangent_seed> seeds, list_view<value_id> wanted,
                             gradient_layout_function layout_of) {
  differentiation gradients(code, begin, wanted);
  unsigned left = 0;
  for (const value_id i : wanted) left |= layout_of(code.mesh(), code.value(i).layout).pending;
  gradients.leave_pending(left);
  for (const cotangent_seed& each : seeds)
    if (each.cotangent < 0)
      gradients.seed(each.of);
    else
      gradients.seed(each.of, each.cotangent);
  gradients.run();
  for (value_id& i : wanted)
    i = gradients.cotangent_of(i, layout_of(code.mesh(), code.value(i).layout));
}
/// The version that is called at run time; the compiled library contains it.
void differentiate_now(program_builder& code, value_id begin, list_view<const cotangent_seed> seeds,
                       list_view<value_id> wanted, gradient_layout_function layout_of);

}  // namespace detail

/// Appends the gradients of the seeded values with respect to the values `wanted`, which are
/// replaced by the gradients. Everything that is differentiated was appended from `begin` on.
constexpr void append_gradients(program_builder& code, value_id begin,
                                list_view<const cotangent_seed> seeds, list_view<value_id> wanted,
                                gradient_layout_function layout_of) {
  if constexpr (build_config::compiled) {
    if (!std::is_constant_evaluated())
      return detail::differentiate_now(code, begin, seeds, wanted, layout_of);
  }
  detail::differentiate(code, begin, seeds, wanted, layout_of);
}

}  // namespace shardwise
