// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/nn/parameters.hpp"
#include "shardwise/operation/cast.hpp"
#include "shardwise/operation/exponential.hpp"
#include "shardwise/operation/transcendental.hpp"
#include "shardwise/optim/nests.hpp"
#include "shardwise/plan/gradient.hpp"

#include <limits>
#include <numbers>
#include <type_traits>
#include <utility>

namespace shardwise {

namespace detail {

/// Returns the logarithm of a number from 0 to 1, also in constant expressions.
[[nodiscard]] constexpr double log_below_one(double x) noexcept {
  if (x < std::numeric_limits<double>::min()) return -std::numeric_limits<double>::infinity();
  int halvings = 0;
  while (x < 0.5) {
    x *= 2;
    ++halvings;
  }
  // log(x) = 2 atanh((x - 1) / (x + 1))
  const double z = (x - 1) / (x + 1);
  double sum = 0, power = z;
  for (int k = 1; k < 40; k += 2, power *= z * z) sum += power / k;
  return 2 * sum - halvings * std::numbers::ln2;
}

/// Returns `1 - beta^steps`, without the cancellation that computing the power would cause, in
/// `double` if a parameter has such elements and in the `float` of the count otherwise.
template <class Parameters, class Steps>
[[nodiscard]] constexpr auto decayed_part(const Steps& steps, double beta) {
  if constexpr (has_element<Parameters, element::f64>)
    return expm1(cast<double>(steps) * log_below_one(beta)) * -1.0;
  else
    return expm1(steps * static_cast<float>(log_below_one(beta))) * -1.0F;
}

/// Updates the moments of Adam with the settings `by` and calls `move(how, w, direction)` for each
/// parameter; `direction()` is the first moment divided by the root of the second, both with bias
/// correction. `Coupled` states that weight decay is a part of the gradient.
template <bool Coupled, class Settings, class Parameters, class State, class Move>
constexpr void move_by_moments(const Settings& by, Parameters& parameters, State& kept,
                               const Parameters& gradients, const Move& move) {
  if constexpr (lacks_range_of_squares<Parameters>) (void)refuse_squares<Settings, Parameters>();
  require_kept_part(by.beta1, beta1_rule);
  require_kept_part(by.beta2, beta2_rule);
  require_not_negative(by.epsilon, epsilon_rule);
  require_not_negative(by.weight_decay, weight_decay_rule);
  kept.steps += 1.0F;
  const auto first_part = decayed_part<Parameters>(kept.steps, by.beta1);
  const auto second_part = decayed_part<Parameters>(kept.steps, by.beta2);
  const auto first_parts = number_beside_nest<Parameters>(first_part);
  const auto second_parts = number_beside_nest<Parameters>(second_part);
  const auto update = [&]<class X>(const optim::treatment& how, X& w, X& m, X& v, const X& gradient,
                                   auto&... greatest) {
    const auto number = [](double value) { return number_for<X>(value); };
    const X g = with_decay(gradient, w, Coupled && how.decays ? by.weight_decay : 0);
    const auto wide = internal::widened(g);
    put_rounded(m, kept_part(m, by.beta1) + wide * number(1 - by.beta1));
    put_rounded(v, kept_part(v, by.beta2) + square(wide) * number(1 - by.beta2));
    (put(greatest, maximum(greatest, v)), ...);
    const auto by_root_of = [&](const X& squares) {
      return m / first_parts.template beside<X>() /
             (sqrt(squares / second_parts.template beside<X>()) + number(by.epsilon));
    };
    if constexpr (sizeof...(greatest) != 0)
      move(how, w, [&] { return by_root_of(greatest...); });
    else
      move(how, w, [&] { return by_root_of(v); });
  };
  if constexpr (requires { kept.greatest; })
    update_trained(by.treat, update, parameters, kept.first, kept.second, gradients, kept.greatest);
  else
    update_trained(by.treat, update, parameters, kept.first, kept.second, gradients);
}
/// A step of Adam; without `Coupled`, weight decay applies to the weights directly.
template <bool Coupled, class Settings, class Parameters, class State, class Rate>
constexpr void adam_step(const Settings& by, Parameters& parameters, State& kept,
                         const Parameters& gradients, const Rate& rate) {
  const auto rates = number_beside_nest<Parameters>(rate);
  const auto move = [&]<class X>(const optim::treatment& how, X& w, const auto& direction) {
    const auto rate_here = rates.template beside<X>();
    if (!Coupled && how.decays && by.weight_decay != 0)
      w -= w * rate_here * number_for<X>(by.weight_decay * how.rate);
    descend(w, direction(), rate_here, how.rate);
  };
  move_by_moments<Coupled>(by, parameters, kept, gradients, move);
}

}  // namespace detail

namespace optim {

/// The state of `adam` and `adamw`: two tensors for each parameter, split like it, and the number
/// of steps so far.
template <class Parameters>
struct adam_state {
  using leaves_out_frozen = void;
  Parameters first;   ///< the running mean of the gradients
  Parameters second;  ///< that of their squares
  typename detail::step_count<Parameters>::type steps;
};

/// Adam: each parameter moves by the running mean of its gradients divided by the root of that of
/// their squares, both with bias correction. `weight_decay` is added to the gradient; `adamw`
/// applies it to the weights instead. For parameters, state and rate see `sgd`.
///
///     optim::adamw learn{.weight_decay = 0.1};
///     auto state = learn.start(model);
///     learn(model, state, gradients, rate);
struct adam {
  named_options named{};
  double beta1 = 0.9;            ///< how much of the mean of gradients a step keeps
  double beta2 = 0.999;          ///< how much of the mean of squares a step keeps
  double epsilon = 1e-8;         ///< is added to the root
  double weight_decay = 0;       ///< `weight_decay * w` is added to the gradient
  treatment_rule treat = alike;  ///< how each parameter is treated, by its name

  /// The state that training parameters of this type needs.
  template <class Parameters>
  using state = adam_state<Parameters>;
  /// Returns the state before the first step, in the pool of the parameters.
  template <class Parameters>
  [[nodiscard]] auto start(const Parameters& parameters) const {
    using count = typename detail::step_count<Parameters>::type;
    if constexpr (detail::lacks_range_of_squares<Parameters>)
      return detail::refuse_squares<adam, Parameters>();
    else
      return state<Parameters>{zeros_like(parameters), zeros_like(parameters),
                               detail::number_in_pool_of<count>(parameters, 0.0F)};
  }

  /// Takes a step: changes the parameters and the state. The rate is a number, or a tensor of rank
  /// 0.
  template <class Parameters, class Rate>
  constexpr void operator()(Parameters& parameters, adam_state<Parameters>& kept,
                            const Parameters& gradients, const Rate& rate) const {
    detail::adam_step<true>(*this, parameters, kept, gradients, rate);
  }
  /// Error: the state is that of another optimizer or model.
  template <class Parameters, class State>
    requires(!std::is_same_v<State, state<Parameters>>)
  constexpr detail::state_differs<adam, State> operator()(Parameters&, State&, const Parameters&,
                                                          unlike) const {
    return {};
  }
  /// Error: the gradients are pending, or those of another nest.
  template <bool IsReported = false>
  constexpr refused_value operator()(unlike, unlike, unlike, unlike) const {
    return detail::refuse_gradients<adam, IsReported>();
  }
  constexpr refused_value operator()(unlike, unlike, const refused_value& given, unlike) const {
    return given;
  }
};

/// Adam with decoupled weight decay: the weights shrink by `rate * weight_decay` in each step.
struct adamw {
  named_options named{};
  double beta1 = 0.9;            ///< how much of the mean of gradients a step keeps
  double beta2 = 0.999;          ///< how much of the mean of squares a step keeps
  double epsilon = 1e-8;         ///< is added to the root
  double weight_decay = 0.01;    ///< the weights shrink by `rate * weight_decay` in each step
  treatment_rule treat = alike;  ///< how each parameter is treated, by its name

  /// The state that training parameters of this type needs.
  template <class Parameters>
  using state = adam_state<Parameters>;
  /// Returns the state before the first step, in the pool of the parameters.
  template <class Parameters>
  [[nodiscard]] auto start(const Parameters& parameters) const {
    return adam{}.start(parameters);
  }

  /// Takes a step: changes the parameters and the state. The rate is a number, or a tensor of rank
  /// 0.
  template <class Parameters, class Rate>
  constexpr void operator()(Parameters& parameters, adam_state<Parameters>& kept,
                            const Parameters& gradients, const Rate& rate) const {
    detail::adam_step<false>(*this, parameters, kept, gradients, rate);
  }
  /// Error: the state is that of another optimizer or model.
  template <class Parameters, class State>
    requires(!std::is_same_v<State, state<Parameters>>)
  constexpr detail::state_differs<adamw, State> operator()(Parameters&, State&, const Parameters&,
                                                           unlike) const {
    return {};
  }
  /// Error: the gradients are pending, or those of another nest.
  template <bool IsReported = false>
  constexpr refused_value operator()(unlike, unlike, unlike, unlike) const {
    return detail::refuse_gradients<adamw, IsReported>();
  }
  constexpr refused_value operator()(unlike, unlike, const refused_value& given, unlike) const {
    return given;
  }
};

}  // namespace optim

}  // namespace shardwise
