// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/arithmetic.hpp"
#include "shardwise/optim/adam.hpp"

#include <type_traits>

namespace shardwise::optim {

/// The state of `amsgrad`: three tensors for each parameter, split like it, and the number of steps
/// so far.
template <class Parameters>
struct amsgrad_state {
  using leaves_out_frozen = void;
  Parameters first;     ///< the running mean of the gradients
  Parameters second;    ///< that of their squares
  Parameters greatest;  ///< the greatest of these so far
  typename detail::step_count<Parameters>::type steps;
};

/// AMSGrad: `adam` with the greatest running mean of squares so far, so that steps never grow
/// because old gradients are forgotten. For parameters, state and rate see `sgd`.
struct amsgrad {
  named_options named{};
  double beta1 = 0.9;            ///< how much of the mean of gradients a step keeps
  double beta2 = 0.999;          ///< how much of the mean of squares a step keeps
  double epsilon = 1e-8;         ///< is added to the root
  double weight_decay = 0;       ///< is added to the gradient
  treatment_rule treat = alike;  ///< how each parameter is treated, by its name

  /// The state that training parameters of this type needs.
  template <class Parameters>
  using state = amsgrad_state<Parameters>;
  /// Returns the state before the first step, in the pool of the parameters.
  template <class Parameters>
  [[nodiscard]] auto start(const Parameters& parameters) const {
    using count = typename detail::step_count<Parameters>::type;
    if constexpr (detail::lacks_range_of_squares<Parameters>)
      return detail::refuse_squares<amsgrad, Parameters>();
    else
      return state<Parameters>{zeros_like(parameters), zeros_like(parameters),
                               zeros_like(parameters),
                               detail::number_in_pool_of<count>(parameters, 0.0F)};
  }

  /// Takes a step: changes the parameters and the state. The rate is a number, or a tensor of rank
  /// 0.
  template <class Parameters, class Rate>
  constexpr void operator()(Parameters& parameters, amsgrad_state<Parameters>& kept,
                            const Parameters& gradients, const Rate& rate) const {
    detail::adam_step<true>(*this, parameters, kept, gradients, rate);
  }
  /// Error: the state is that of another optimizer or model.
  template <class Parameters, class State>
    requires(!std::is_same_v<State, state<Parameters>>)
  constexpr detail::state_differs<amsgrad, State> operator()(Parameters&, State&, const Parameters&,
                                                             unlike) const {
    return {};
  }
  /// Error: the gradients are pending, or those of another nest.
  template <bool IsReported = false>
  constexpr refused_value operator()(unlike, unlike, unlike, unlike) const {
    return detail::refuse_gradients<amsgrad, IsReported>();
  }
  constexpr refused_value operator()(unlike, unlike, const refused_value& given, unlike) const {
    return given;
  }
};

}  // namespace shardwise::optim
