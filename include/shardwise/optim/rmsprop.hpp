// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/nn/parameters.hpp"
#include "shardwise/operation/arithmetic.hpp"
#include "shardwise/operation/transcendental.hpp"
#include "shardwise/optim/nests.hpp"

#include <type_traits>

namespace shardwise::optim {

/// The state of `rmsprop`: two tensors for each parameter, split like it.
template <class Parameters>
struct rmsprop_state {
  using leaves_out_frozen = void;
  Parameters squares;   ///< the running mean of the squares of the gradients
  Parameters momentum;  ///< stays 0 without momentum
};

/// RMSprop: each parameter moves by its gradient divided by the root of the running mean of the
/// squares of its gradients, or by a momentum of these quotients. For parameters, state and rate
/// see `sgd`.
///
///     optim::rmsprop learn{.decay = 0.9, .momentum = 0.9};
struct rmsprop {
  named_options named{};
  double decay = 0.99;           ///< of the running mean; `alpha` in PyTorch
  double epsilon = 1e-8;         ///< is added to the root
  double momentum = 0;           ///< 0 for none
  double weight_decay = 0;       ///< `weight_decay * w` is added to the gradient
  treatment_rule treat = alike;  ///< how each parameter is treated, by its name

  /// The state that training parameters of this type needs.
  template <class Parameters>
  using state = rmsprop_state<Parameters>;
  /// Returns the state before the first step, in the pool of the parameters.
  template <class Parameters>
  [[nodiscard]] auto start(const Parameters& parameters) const {
    if constexpr (detail::lacks_range_of_squares<Parameters>)
      return detail::refuse_squares<rmsprop, Parameters>();
    else
      return state<Parameters>{zeros_like(parameters), zeros_like(parameters)};
  }

  /// Takes a step: changes the parameters and the state. The rate is a number, or a tensor of rank
  /// 0.
  template <class Parameters, class Rate>
  constexpr void operator()(Parameters& parameters, rmsprop_state<Parameters>& kept,
                            const Parameters& gradients, const Rate& rate) const {
    if constexpr (detail::lacks_range_of_squares<Parameters>)
      (void)detail::refuse_squares<rmsprop, Parameters>();
    detail::require_kept_part(decay, detail::decay_rule);
    detail::require_not_negative(epsilon, detail::epsilon_rule);
    detail::require_not_negative(momentum, detail::momentum_rule);
    detail::require_not_negative(weight_decay, detail::weight_decay_rule);
    const auto rates = detail::number_beside_nest<Parameters>(rate);
    const auto update = [&]<class X>(const treatment& how, X& w, X& v, X& m, const X& gradient) {
      const auto number = [](double value) { return internal::number_for<X>(value); };
      const X g = detail::with_decay(gradient, w, how.decays ? weight_decay : 0);
      detail::put_rounded(
          v, detail::kept_part(v, decay) + square(internal::widened(g)) * number(1 - decay));
      if (momentum == 0)
        return detail::descend(w, g / (sqrt(v) + number(epsilon)), rates.template beside<X>(),
                               how.rate);
      const auto ahead = internal::widened(g) / (sqrt(internal::widened(v)) + number(epsilon));
      detail::put_rounded(m, detail::kept_part(m, momentum) + ahead);
      detail::descend(w, m, rates.template beside<X>(), how.rate);
    };
    detail::update_trained(treat, update, parameters, kept.squares, kept.momentum, gradients);
  }
  /// Error: the state is that of another optimizer or model.
  template <class Parameters, class State>
    requires(!std::is_same_v<State, state<Parameters>>)
  constexpr detail::state_differs<rmsprop, State> operator()(Parameters&, State&, const Parameters&,
                                                             unlike) const {
    return {};
  }
  /// Error: the gradients are pending, or those of another nest.
  template <bool IsReported = false>
  constexpr refused_value operator()(unlike, unlike, unlike, unlike) const {
    return detail::refuse_gradients<rmsprop, IsReported>();
  }
  constexpr refused_value operator()(unlike, unlike, const refused_value& given, unlike) const {
    return given;
  }
};

}  // namespace shardwise::optim
