// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/nn/spread.hpp"

namespace shardwise::nn {

/// Reshards the inputs of a module to the spec `In` and its output to `Out`, either of which may be
/// `as_computed`. It equals a `reshard` before and after the call, and corresponds to the input and
/// output functions of DTensor's `distribute_module`.
///
/// Its tensors have the names that they have in the module.
///
///     // Sequence parallelism: each device normalises its positions.
///     using norm = nn::between<nn::rms_norm<Scale>, P<"data", "model", none>, P<"data", none,
///     none>>;
template <class Module, class In, class Out = as_computed>
struct between {
  using adds_no_name = void;

  Module inner;

  template <EitherOperand... X>
  [[nodiscard]] constexpr auto operator()(const X&... x) const {
    // Completes the type of an invalid reshard here, so that the module is not part of its error.
    static_assert((... && (sizeof(detail::spread<In>(x)) > 0)));
    return detail::spread<Out>(inner(detail::spread<In>(x)...));
  }
};

}  // namespace shardwise::nn
