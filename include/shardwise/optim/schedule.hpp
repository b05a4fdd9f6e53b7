// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/index.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace shardwise::optim {

/// A cosine schedule with linear warm-up: the rate rises from `peak / warmup` at step 0 to `peak`,
/// then falls along half a cosine wave to `least` at step `steps`, where it stays.
///
///     constexpr optim::warmup_cosine schedule{.peak = 3e-3, .warmup = 50, .steps = 1000};
///     auto now = train_step(model, state, schedule(step), x, y);
struct warmup_cosine {
  double peak = 1e-3;
  index_t warmup = 0;
  index_t steps = 1;
  double least = 0;

  [[nodiscard]] double operator()(index_t step) const noexcept {
    if (step < warmup) return peak * static_cast<double>(step + 1) / static_cast<double>(warmup);
    const auto all = static_cast<double>(std::max(steps - warmup, index_t{1}));
    const double done = std::min(static_cast<double>(step - warmup) / all, 1.0);
    return least + (peak - least) * (1 + std::cos(std::numbers::pi * done)) / 2;
  }
};

/// A rate that changes linearly from `first` to `last` over `steps` steps, and stays there.
struct linear {
  double first = 1e-3;
  double last = 0;
  index_t steps = 1;

  [[nodiscard]] constexpr double operator()(index_t step) const noexcept {
    const double done = static_cast<double>(std::min(step, steps)) /
                        static_cast<double>(std::max(steps, index_t{1}));
    return first + (last - first) * done;
  }
};

/// A rate that is multiplied by `factor` after every `period` steps.
struct decay_by_steps {
  double first = 1e-3;
  double factor = 0.1;
  index_t period = 1;

  [[nodiscard]] constexpr double operator()(index_t step) const noexcept {
    double rate = first;
    for (index_t n = step / std::max(period, index_t{1}); n > 0; --n) rate *= factor;
    return rate;
  }
};

}  // namespace shardwise::optim
