// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/text.hpp"

#include <cstddef>

namespace shardwise::optim {

/// How an optimizer treats a parameter.
struct treatment {
  double rate = 1;     ///< factor of the learning rate; 0 leaves the parameter unchanged
  bool decays = true;  ///< whether `weight_decay` applies
};

/// Returns how to treat a parameter, given its name, such as `layers.0.mlp.up.weight`, and its
/// rank: the type of the member `treat` of optimizers. A lambda without captures converts to it.
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

namespace shardwise {

/// Returns true if a name matches a pattern: `*` matches any characters, or none, `?` exactly one.
///
///     static_assert(name_matches("layers.0.up.bias", "*.bias"));
[[nodiscard]] constexpr bool name_matches(text_view name, text_view pattern) noexcept {
  std::size_t n = 0, p = 0, star = pattern.size(), behind = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      behind = n;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == name[n])) {
      ++n;
      ++p;
    } else if (star < pattern.size()) {
      p = star + 1;
      n = ++behind;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace shardwise
