// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/nn/parameters.hpp"
#include "shardwise/operation/rounding.hpp"
#include "shardwise/optim/nests.hpp"

#include <type_traits>

namespace shardwise::optim {

/// The state of `lion`: one tensor for each parameter, split like it.
template <class Parameters>
struct lion_state {
  using leaves_out_frozen = void;
  Parameters momentum;
};

/// Lion: each parameter moves by the rate, in the direction of the sign of a mean of momentum and
/// gradient. Its rate should be about a tenth of Adam's. For parameters, state and rate see `sgd`.
///
///     optim::lion learn{.weight_decay = 0.1};
struct lion {
  named_options named{};
  double beta1 = 0.9;            ///< the weight of the momentum in the direction
  double beta2 = 0.99;           ///< how much of the momentum a step keeps
  double weight_decay = 0;       ///< the weights shrink by `rate * weight_decay` in each step
  treatment_rule treat = alike;  ///< how each parameter is treated, by its name

  /// The state that training parameters of this type needs.
  template <class Parameters>
  using state = lion_state<Parameters>;
  /// Returns the state before the first step, in the pool of the parameters.
  template <class Parameters>
  [[nodiscard]] state<Parameters> start(const Parameters& parameters) const {
    return {zeros_like(parameters)};
  }

  /// Takes a step: changes the parameters and the state. The rate is a number, or a tensor of rank
  /// 0.
  template <class Parameters, class Rate>
  constexpr void operator()(Parameters& parameters, lion_state<Parameters>& kept,
                            const Parameters& gradients, const Rate& rate) const {
    detail::require_kept_part(beta1, detail::beta1_rule);
    detail::require_kept_part(beta2, detail::beta2_rule);
    detail::require_not_negative(weight_decay, detail::weight_decay_rule);
    const auto rates = detail::number_beside_nest<Parameters>(rate);
    const auto update = [&]<class X>(const treatment& how, X& w, X& m, const X& g) {
      const auto rate_here = rates.template beside<X>();
      const auto number = [](double value) { return internal::number_for<X>(value); };
      const auto wide = internal::widened(g);
      const X direction{internal::narrowed<typename X::value_type>(
          sign(detail::kept_part(m, beta1) + wide * number(1 - beta1)))};
      // Before the weights change, which may be the gradient too.
      detail::put_rounded(m, detail::kept_part(m, beta2) + wide * number(1 - beta2));
      if (weight_decay != 0 && how.decays) w -= w * rate_here * number(weight_decay * how.rate);
      detail::descend(w, direction, rate_here, how.rate);
    };
    detail::update_trained(treat, update, parameters, kept.momentum, gradients);
  }
  /// Error: the state is that of another optimizer or model.
  template <class Parameters, class State>
    requires(!std::is_same_v<State, state<Parameters>>)
  constexpr detail::state_differs<lion, State> operator()(Parameters&, State&, const Parameters&,
                                                          unlike) const {
    return {};
  }
  /// Error: the gradients are pending, or those of another nest.
  template <bool IsReported = false>
  constexpr refused_value operator()(unlike, unlike, unlike, unlike) const {
    return detail::refuse_gradients<lion, IsReported>();
  }
  constexpr refused_value operator()(unlike, unlike, const refused_value& given, unlike) const {
    return given;
  }
};

}  // namespace shardwise::optim
