// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/name_pattern.hpp"

namespace shardwise::optim {

/// How an optimizer treats a parameter.
struct treatment {
  double rate = 1;     ///< factor of the learning rate; 0 leaves the parameter unchanged
  bool decays = true;  ///< whether `weight_decay` applies
};

/// A function that returns how to treat a parameter, given its name, such as
/// `layers.0.mlp.up.weight`, and its rank: the type of the member `treat` of optimizers. A lambda
/// without captures converts to it.
///
///     optim::adamw learn{.treat = [](text_view name, int) {
///       return optim::treatment{.rate = name_matches(name, "*.bias") ? 2.0 : 1.0};
///     }};
using treatment_rule = treatment (*)(text_view name, int rank);

/// Treats all parameters alike.
[[nodiscard]] constexpr treatment alike(text_view, int) noexcept { return {}; }
/// Applies weight decay to matrices only, not to biases, scales and other vectors.
///
///     optim::adamw learn{.weight_decay = 0.1, .treat = optim::decay_matrices};
[[nodiscard]] constexpr treatment decay_matrices(text_view, int rank) noexcept {
  return {.decays = rank >= 2};
}

}  // namespace shardwise::optim
