// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/index.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace shardwise::detail {

/// Returns the part of a number of steps that is done, from 0 to 1.
[[nodiscard]] constexpr double part_done(index_t step, index_t steps) noexcept {
  return step >= steps ? 1 : static_cast<double>(step) / static_cast<double>(steps);
}

/// Returns a power whose exponent is not negative, in a number of steps that is logarithmic in it.
[[nodiscard]] constexpr double power(double base, index_t exponent) noexcept {
  double result = 1;
  for (; exponent > 0; exponent /= 2) {
    if (exponent % 2 != 0) result *= base;
    // The square after the last factor is not needed, and may be too large for a constant.
    if (exponent > 1) base *= base;
  }
  return result;
}

}  // namespace shardwise::detail

namespace shardwise::optim {

/// A cosine schedule with linear warm-up: the rate rises from `peak / warmup` at step 0 to `peak`,
/// then falls along half a cosine wave to `least` at step `steps`, where it stays.
///
///     constexpr optim::warmup_cosine schedule{.peak = 3e-3, .warmup = 50, .steps = 1000};
///     auto now = train_step(model, state, schedule(step), x, y);
struct warmup_cosine {
  double peak = 1e-3;  ///< the highest rate
  index_t warmup = 0;  ///< the steps in which the rate rises
  index_t steps = 1;   ///< the number of steps
  double least = 0;    ///< the lowest rate

  /// Returns the rate of a step, counted from 0.
  [[nodiscard]] double operator()(index_t step) const noexcept {
    if (step >= steps) return least;
    if (step < warmup) return peak * static_cast<double>(step + 1) / static_cast<double>(warmup);
    const auto all = static_cast<double>(std::max(steps - warmup, index_t{1}));
    const double done = std::min(static_cast<double>(step - warmup) / all, 1.0);
    return least + (peak - least) * (1 + std::cos(std::numbers::pi * done)) / 2;
  }
};

/// A rate that changes linearly from `first` to `last` over `steps` steps, and stays there.
struct linear {
  double first = 1e-3;  ///< the rate of step 0
  double last = 0;      ///< the rate at the end
  index_t steps = 1;    ///< the number of steps

  /// Returns the rate of a step, counted from 0.
  [[nodiscard]] constexpr double operator()(index_t step) const noexcept {
    return first + (last - first) * detail::part_done(step, steps);
  }
};

/// A rate that is multiplied by `factor` after every `period` steps.
struct decay_by_steps {
  double first = 1e-3;  ///< the rate of step 0
  double factor = 0.1;  ///< what a period multiplies the rate by
  index_t period = 1;   ///< in steps

  /// Returns the rate of a step, counted from 0.
  [[nodiscard]] constexpr double operator()(index_t step) const noexcept {
    return first * detail::power(factor, step / std::max(period, index_t{1}));
  }
};

/// A rate that does not change.
struct constant {
  double rate = 1e-3;

  /// Returns the rate of a step, counted from 0.
  [[nodiscard]] constexpr double operator()(index_t) const noexcept { return rate; }
};

/// A rate that is multiplied by `factor` in every `period` steps, a little in each step.
///
///     constexpr optim::exponential schedule{.first = 0.1, .factor = 0.5, .period = 1000};
struct exponential {
  double first = 1e-3;  ///< the rate of step 0
  double factor = 0.1;  ///< what a period multiplies the rate by
  index_t period = 1;   ///< in steps
  double least = 0;     ///< the lowest rate

  /// Returns the rate of a step, counted from 0.
  [[nodiscard]] double operator()(index_t step) const noexcept {
    const auto periods =
        static_cast<double>(step) / static_cast<double>(std::max(period, index_t{1}));
    return std::max(first * std::pow(factor, periods), least);
  }
};

/// The rate `last + (first - last) * (1 - step / steps)^power` up to step `steps`, and `last`
/// afterwards. With power 1 it is `linear`.
struct polynomial {
  double first = 1e-3;  ///< the rate of step 0
  double last = 0;      ///< the rate at the end
  double power = 2;     ///< 1 is `linear`
  index_t steps = 1;    ///< the number of steps

  /// Returns the rate of a step, counted from 0.
  [[nodiscard]] double operator()(index_t step) const noexcept {
    return last + (first - last) * std::pow(1 - detail::part_done(step, steps), power);
  }
};

/// A rate that falls along half a cosine wave from `peak` to `least` again and again: the first
/// fall takes `period` steps, each further one `growth` times as many.
struct cosine_restarts {
  double peak = 1e-3;  ///< the highest rate
  index_t period = 1;  ///< in steps
  index_t growth = 1;  ///< how much longer each fall takes than the one before
  double least = 0;    ///< the lowest rate

  /// Returns the rate of a step, counted from 0.
  [[nodiscard]] double operator()(index_t step) const noexcept {
    index_t length = std::max(period, index_t{1});
    auto next = static_cast<double>(length);
    if (growth <= 1) {
      step %= length;
    } else {
      while (step >= length) {
        step -= length;
        next *= static_cast<double>(growth);
        // A length beyond all steps is the last.
        if (step / growth < length) break;
        length *= growth;
      }
    }
    const double done = static_cast<double>(step) / next;
    return least + (peak - least) * (1 + std::cos(std::numbers::pi * done)) / 2;
  }
};

/// The one-cycle schedule of super-convergence: the rate rises from `peak / start_divisor` to
/// `peak` in the part `rise` of all steps, then falls to `peak / start_divisor / last_divisor`,
/// both along half a cosine wave, and stays there from step `steps - 1` on.
struct one_cycle {
  double peak = 1e-2;         ///< the highest rate
  index_t steps = 1;          ///< the number of steps
  double rise = 0.3;          ///< the part of the steps in which the rate rises
  double start_divisor = 25;  ///< of the peak, for the rate of step 0
  double last_divisor = 1e4;  ///< of the rate of step 0, for the last rate

  /// Returns the rate of a step, counted from 0.
  [[nodiscard]] double operator()(index_t step) const noexcept {
    const auto between = [](double from, double to, double done) {
      return to + (from - to) * (1 + std::cos(std::numbers::pi * done)) / 2;
    };
    const auto at = static_cast<double>(step);
    const double top = rise * static_cast<double>(steps) - 1;
    const auto end = static_cast<double>(steps - 1);
    const double start = peak / start_divisor;
    if (at < top) return between(start, peak, at / top);
    const double done = end > top ? std::min((at - top) / (end - top), 1.0) : 1.0;
    return between(peak, start / last_divisor, done);
  }
};

/// One schedule for the first `steps` steps, then another, which begins at its step 0. Each may be
/// joined itself.
///
///     constexpr optim::joined schedule{optim::linear{.first = 0, .last = 0.1, .steps = 100}, 100,
///                                      optim::exponential{.first = 0.1, .period = 1000}};
template <class First, class Then>
struct joined {
  First first;
  index_t steps;
  Then then;

  /// Returns the rate of a step, counted from 0.
  [[nodiscard]] constexpr double operator()(index_t step) const noexcept {
    return step < steps ? first(step) : then(step - steps);
  }
};
template <class First, class Then>
joined(First, index_t, Then) -> joined<First, Then>;

}  // namespace shardwise::optim
