// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/classification.hpp"
#include "shardwise/operation/comparison.hpp"
#include "shardwise/operation/logical.hpp"
#include "shardwise/optim/accumulate.hpp"
#include "shardwise/optim/adam.hpp"
#include "shardwise/optim/clip.hpp"

#include <limits>
#include <type_traits>
#include <utility>

namespace shardwise {

namespace detail {

/// Returns true, on every device, if all elements of a nest are finite. Each device counts its own
/// elements that are not; one number is reduced for each set of axes that splits a tensor.
template <class Nest>
[[nodiscard]] constexpr auto all_finite(const Nest& nest) {
  const auto faults = [](const auto& x) { return sum(cast<float>(logical_not(isfinite(x)))); };
  return made_tensor(equal(reduced_sum<float>(nest, faults), 0.0F));
}

/// Replaces the tensors of `made` by those of `kept` if `is_right` is false.
template <class Truth, class Nest>
constexpr void keep_unless(const Truth& is_right, Nest& made, const Nest& kept) {
  const auto choose = [&]<class X>(X& now, const X& before) {
    put(now, where(is_right, now, before));
  };
  update_each(choose, made, kept);
}

}  // namespace detail

namespace optim {

/// The state of `loss_scale`; its numbers are replicated.
template <class Number>
struct loss_scale_state {
  Number scale;       ///< what the loss is multiplied by
  Number good_steps;  ///< how many steps were taken since the scale changed
  Number skipped;     ///< how many steps were skipped since the start
  Number overflowed;  ///< 1 if the last step was skipped, 0 if it was taken
};

/// Loss scaling, which prevents gradients from underflowing in `float16`. If any gradient on any
/// device is infinite or NaN, the step is skipped: parameters and optimizer state do not change,
/// the scale is multiplied by `backoff`, and the state records it. After `interval` steps without a
/// skip the scale is multiplied by `growth`. Scaling by powers of two is exact.
///
///     optim::loss_scale scaling{.first = 1024, .interval = 100};
///     optim::loss_scale fixed{.first = 1024, .is_dynamic = false};    // skips; a constant scale
struct loss_scale {
  double first = 65536;     ///< the scale at the start of training
  index_t interval = 2000;  ///< the steps without a skip after which the scale grows
  double growth = 2;        ///< the factor by which it grows
  double backoff = 0.5;     ///< the factor by which it falls where a step is skipped
  double least = 1;         ///< the lowest scale
  double most = 16777216;   ///< the highest scale
  bool is_dynamic = true;   ///< whether the scale changes

  /// Returns the state at the start of training, in the pool of the parameters.
  template <class Parameters>
  [[nodiscard]] auto start(const Parameters& parameters) const {
    require_options();
    using number = typename detail::step_count<Parameters>::type;
    const auto of = [&](double value) {
      return detail::number_in_pool_of<number>(parameters, static_cast<float>(value));
    };
    return loss_scale_state<number>{of(first), of(0), of(0), of(0)};
  }

  /// Updates the scale after a step that was applied, or skipped if `is_right` is false.
  template <class Number, class Truth>
  constexpr void update(loss_scale_state<Number>& kept, const Truth& is_right) const {
    require_options();
    const auto number = [](double value) { return static_cast<float>(value); };
    internal::put(kept.overflowed, where(is_right, 0.0F, 1.0F));
    kept.skipped += kept.overflowed;
    if (!is_dynamic) {
      kept.good_steps += 1.0F - kept.overflowed;
      return;
    }
    const Number steps = kept.good_steps + 1.0F;
    const auto grows = steps >= number(static_cast<double>(interval));
    // A first scale beyond the limits does not change the direction.
    const Number larger = maximum(kept.scale, minimum(kept.scale * number(growth), number(most)));
    const Number smaller =
        minimum(kept.scale, maximum(kept.scale * number(backoff), number(least)));
    internal::put(kept.good_steps, where(is_right, where(grows, 0.0F, steps), 0.0F));
    internal::put(kept.scale, where(is_right, where(grows, larger, kept.scale), smaller));
  }

 private:
  constexpr void require_options() const {
    using internal::require_within;
    constexpr double highest = std::numeric_limits<float>::max();
    require_within(first > 0 && first <= highest, "the first loss scale is a positive float");
    require_within(growth >= 1 && growth <= highest,
                   "a loss scale grows by a factor of at least 1");
    require_within(backoff > 0 && backoff <= 1,
                   "a loss scale falls by a factor above 0 and of at most 1");
    require_within(least >= 0 && least <= most && most <= highest,
                   "the lowest loss scale is not negative, and the highest is not below it");
  }
};

/// The state of `scaled_training_step`.
template <class State, class Scale>
struct scaled_state {
  State optimizer;
  Scale scale;
};

/// A `training_step` with loss scaling. The gradients are divided by the scale in `float`, are
/// clipped if `clip` is above 0, and update the parameters if all of them are finite on every
/// device. It returns the unscaled loss.
///
/// Use `with_masters` for parameters of narrow element types. `state.scale` has the scale, the
/// number of skipped steps, and whether the last step was skipped.
///
///     constexpr optim::scaled_training_step learn{loss, optim::adamw{}, optim::loss_scale{}};
///     auto state = learn.start(model);
///     auto now = step(pool, [&] { return learn(model, state, rate, x, y); });
///     if (to_host(state.scale.overflowed)() != 0) std::cout << "skipped\n";
template <class Loss, class Optimizer>
struct scaled_training_step {
  Loss loss;
  Optimizer optimizer;
  loss_scale scaling{};
  double clip = 0;

  template <class Model>
  using state = scaled_state<typename Optimizer::template state<Model>,
                             loss_scale_state<typename detail::step_count<Model>::type>>;

  /// Returns the state of the optimizer and of the scale before the first step.
  template <class Model>
  [[nodiscard]] auto start(const Model& model) const {
    auto inner = optimizer.start(model);
    if constexpr (AnyRefused<decltype(inner)>)
      return inner;
    else
      return state<Model>{std::move(inner), scaling.start(model)};
  }

  /// Takes a step, or skips it, and returns the loss.
  template <class Model, class State, class Rate, class... Batch>
  constexpr auto operator()(Model& model, State& kept, const Rate& rate,
                            const Batch&... batch) const {
    if constexpr (AnyRefused<State>) {
      return refused_value{};
    } else {
      const auto scale = kept.scale.scale;
      const auto scaled = [&](const auto& value) {
        auto wide = internal::widened(value);
        using T = typename decltype(wide)::value_type;
        return std::move(wide) * internal::narrowed<T>(scale);
      };
      auto [value, steep] =
          detail::value_and_gradients(loss, scaled, std::as_const(model), batch...);
      const auto inverse = internal::made_tensor(1.0F / scale);
      const auto inverses =
          detail::number_beside_nest<Model, detail::combined_in::wide_elements>(inverse);
      const auto unscaled = [&]<class G>(const G& g) {
        return internal::made_tensor(internal::widened(g) * inverses.template beside<G>());
      };
      auto gradients = internal::map_nest(steep, unscaled);
      const auto is_right = detail::all_finite(gradients);
      if (!(clip <= 0)) (void)clip_by_global_norm(gradients, clip);
      const Model before = model;
      const auto state_before = kept.optimizer;
      optimizer(model, kept.optimizer, gradients, rate);
      detail::keep_unless(is_right, model, before);
      detail::keep_unless(is_right, kept.optimizer, state_before);
      scaling.update(kept.scale, is_right);
      return value;
    }
  }
};
template <class Loss, class Optimizer>
scaled_training_step(Loss, Optimizer) -> scaled_training_step<Loss, Optimizer>;
template <class Loss, class Optimizer>
scaled_training_step(Loss, Optimizer, loss_scale) -> scaled_training_step<Loss, Optimizer>;
template <class Loss, class Optimizer>
scaled_training_step(Loss, Optimizer, loss_scale, double) -> scaled_training_step<Loss, Optimizer>;

}  // namespace optim

}  // namespace shardwise
