// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/comparison.hpp"
#include "shardwise/operation/logical.hpp"
#include "shardwise/optim/adam.hpp"
#include "shardwise/optim/scale_of.hpp"

#include <type_traits>

namespace shardwise::optim {

/// LAMB: the direction of `adamw`, scaled for each parameter so that one step moves it by `rate`
/// times its norm. It trains with large batches at rates that do not depend on the sizes of the
/// parameters. If the parameter or its direction is 0, the direction is not scaled.
///
/// The norms of a parameter that is split are reduced, two numbers each step. For parameters and
/// rate see `sgd`.
///
///     optim::lamb learn{.weight_decay = 0.01, .treat = optim::decay_matrices};
struct lamb {
  named_options named{};
  double beta1 = 0.9;            ///< how much of the mean of gradients a step keeps
  double beta2 = 0.999;          ///< how much of the mean of squares a step keeps
  double epsilon = 1e-6;         ///< is added to the root
  double weight_decay = 0;       ///< `weight_decay * w` is added to the direction
  treatment_rule treat = alike;  ///< how each parameter is treated, by its name

  /// The state that training parameters of this type needs.
  template <class Parameters>
  using state = adam_state<Parameters>;
  /// Returns the state before the first step, in the pool of the parameters.
  template <class Parameters>
  [[nodiscard]] auto start(const Parameters& parameters) const {
    if constexpr (detail::lacks_range_of_squares<Parameters>)
      return detail::refuse_squares<lamb, Parameters>();
    else
      return adam{}.start(parameters);
  }

  /// Takes a step: changes the parameters and the state. The rate is a number, or a tensor of rank
  /// 0.
  template <class Parameters, class Rate>
  constexpr void operator()(Parameters& parameters, adam_state<Parameters>& kept,
                            const Parameters& gradients, const Rate& rate) const {
    const auto rates = detail::number_beside_nest<Parameters>(rate);
    const auto move = [&]<class X>(const treatment& how, X& w, const auto& direction) {
      X along{direction()};
      if (how.decays && weight_decay != 0) along += w * internal::number_for<X>(weight_decay);
      const auto size = internal::made_tensor(detail::root_mean_square(w));
      const auto length = internal::made_tensor(detail::root_mean_square(along));
      const auto is_scaled = logical_and(size > 0, length > 0);
      const auto trust = internal::made_tensor(where(is_scaled, size / length, 1));
      detail::descend(w, along * internal::narrowed<typename X::value_type>(trust),
                      rates.template beside<X>(), how.rate);
    };
    detail::move_by_moments<false>(*this, parameters, kept, gradients, move);
  }
  /// Error: the state is that of another optimizer or model.
  template <class Parameters, class State>
    requires(!std::is_same_v<State, state<Parameters>>)
  constexpr detail::state_differs<lamb, State> operator()(Parameters&, State&, const Parameters&,
                                                          unlike) const {
    return {};
  }
  /// Error: the gradients are pending, or those of another nest.
  template <bool IsReported = false>
  constexpr refused_value operator()(unlike, unlike, unlike, unlike) const {
    return detail::refuse_gradients<lamb, IsReported>();
  }
  constexpr refused_value operator()(unlike, unlike, const refused_value& given, unlike) const {
    return given;
  }
};

}  // namespace shardwise::optim
