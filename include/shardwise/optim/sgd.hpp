// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/nn/parameters.hpp"
#include "shardwise/operation/arithmetic.hpp"
#include "shardwise/optim/nests.hpp"

#include <type_traits>

namespace shardwise::optim {

/// The state of `sgd`: a tensor for each parameter, split like it.
template <class Parameters>
struct sgd_state {
  using leaves_out_frozen = void;
  Parameters momentum;
};

/// Stochastic gradient descent: `m = momentum m + gradient`, then `w -= rate m`.
///
/// Parameters are any nest of tensors, of one floating-point type or of several; gradients and
/// state are nests of the same structure. The rate is a number, or a `scalar` if it changes from
/// step to step, so that the program of the step stays the same; it may be of any floating-point
/// type, and is converted to those of the parameters. Nothing is communicated, and nothing is
/// copied: values without remaining handles are overwritten.
///
///     optim::sgd descend{.momentum = 0.9};
///     auto state = descend.start(model);
///     descend(model, state, gradients, rate);
struct sgd {
  named_options named{};
  double momentum = 0.9;         ///< 0 for plain gradient descent
  double weight_decay = 0;       ///< `weight_decay * w` is added to the gradient
  bool nesterov = false;         ///< looks one step ahead
  treatment_rule treat = alike;  ///< how each parameter is treated, by its name

  /// The state that training parameters of this type needs.
  template <class Parameters>
  using state = sgd_state<Parameters>;
  /// Returns the state before the first step, in the pool of the parameters.
  template <class Parameters>
  [[nodiscard]] state<Parameters> start(const Parameters& parameters) const {
    return {zeros_like(parameters)};
  }

  /// Takes a step: changes the parameters and the state. The rate is a number, or a tensor of rank
  /// 0.
  template <class Parameters, class Rate>
  constexpr void operator()(Parameters& parameters, sgd_state<Parameters>& kept,
                            const Parameters& gradients, const Rate& rate) const {
    detail::require_not_negative(momentum, detail::momentum_rule);
    detail::require_not_negative(weight_decay, detail::weight_decay_rule);
    const auto rates = detail::number_beside_nest<Parameters>(rate);
    const auto update = [&]<class X>(const treatment& how, X& w, X& m, const X& gradient) {
      const X g = detail::with_decay(gradient, w, how.decays ? weight_decay : 0);
      detail::put_rounded(m, detail::kept_part(m, momentum) + internal::widened(g));
      if (nesterov)
        detail::descend(w,
                        internal::narrowed<typename X::value_type>(internal::widened(g) +
                                                                   detail::kept_part(m, momentum)),
                        rates.template beside<X>(), how.rate);
      else
        detail::descend(w, m, rates.template beside<X>(), how.rate);
    };
    detail::update_trained(treat, update, parameters, kept.momentum, gradients);
  }
  /// Error: the state is that of another optimizer or model.
  template <class Parameters, class State>
    requires(!std::is_same_v<State, state<Parameters>>)
  constexpr detail::state_differs<sgd, State> operator()(Parameters&, State&, const Parameters&,
                                                         unlike) const {
    return {};
  }
  /// Error: the gradients are pending, or those of another nest.
  template <bool IsReported = false>
  constexpr refused_value operator()(unlike, unlike, unlike, unlike) const {
    return detail::refuse_gradients<sgd, IsReported>();
  }
  constexpr refused_value operator()(unlike, unlike, const refused_value& given, unlike) const {
    return given;
  }
};

}  // namespace shardwise::optim
