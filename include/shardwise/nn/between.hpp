// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/nn/spread.hpp"

namespace shardwise::nn {

/// A module between two layouts: what goes in is brought to the spec `In`, and what comes out to
/// `Out`, each of which may be `as_computed`. What that moves is in the types, as if the program
/// had said it before and after the call; DTensor's input and output functions of a module.
///
/// The names of its tensors have `inner` before them.
///
///     // Sequence parallel: each device normalises its positions.
///     using norm = nn::between<nn::rms_norm<Scale>, P<"data", "model", none>, P<"data", none,
///     none>>;
template <class Module, class In, class Out = as_computed>
struct between {
  Module inner;

  template <Operand... X>
  [[nodiscard]] constexpr auto operator()(const X&... x) const {
    return detail::spread<Out>(inner(detail::spread<In>(x)...));
  }
};

}  // namespace shardwise::nn
