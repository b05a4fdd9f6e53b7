// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/nn/parameters.hpp"
#include "shardwise/operation/arithmetic.hpp"
#include "shardwise/operation/transcendental.hpp"
#include "shardwise/optim/nests.hpp"

#include <type_traits>
#include <utility>

namespace shardwise::optim {

/// The state of `adagrad`: one tensor for each parameter, split like it.
template <class Parameters>
struct adagrad_state {
  using leaves_out_frozen = void;
  Parameters squares;  ///< the sum of the squares of all gradients so far
};

/// Adagrad: each parameter moves by its gradient divided by the root of the sum of the squares of
/// all its gradients, so elements that rarely have gradients move far when they do. For parameters,
/// state and rate see `sgd`.
///
///     optim::adagrad learn{.initial = 0.1};
struct adagrad {
  named_options named{};
  double epsilon = 1e-10;        ///< is added to the root
  double initial = 0;            ///< is added to the sum of squares
  double weight_decay = 0;       ///< `weight_decay * w` is added to the gradient
  treatment_rule treat = alike;  ///< how each parameter is treated, by its name

  /// The state that training parameters of this type needs.
  template <class Parameters>
  using state = adagrad_state<Parameters>;
  /// Returns the state before the first step, in the pool of the parameters.
  template <class Parameters>
  [[nodiscard]] auto start(const Parameters& parameters) const {
    if constexpr (detail::lacks_range_of_squares<Parameters>)
      return detail::refuse_squares<adagrad, Parameters>();
    else
      return state<Parameters>{zeros_like(parameters)};
  }

  /// Takes a step: changes the parameters and the state. The rate is a number, or a tensor of rank
  /// 0.
  template <class Parameters, class Rate>
  constexpr void operator()(Parameters& parameters, adagrad_state<Parameters>& kept,
                            const Parameters& gradients, const Rate& rate) const {
    if constexpr (detail::lacks_range_of_squares<Parameters>)
      (void)detail::refuse_squares<adagrad, Parameters>();
    detail::require_not_negative(epsilon, detail::epsilon_rule);
    detail::require_not_negative(initial, "an initial sum of squares is finite and not negative");
    detail::require_not_negative(weight_decay, detail::weight_decay_rule);
    const auto rates = detail::number_beside_nest<Parameters>(rate);
    const auto update = [&]<class X>(const treatment& how, X& w, X& v, const X& gradient) {
      const auto number = [](double value) { return internal::number_for<X>(value); };
      const X g = detail::with_decay(gradient, w, how.decays ? weight_decay : 0);
      v += square(g);
      const auto move = [&](auto&& root) {
        detail::descend(w, g / (std::forward<decltype(root)>(root) + number(epsilon)),
                        rates.template beside<X>(), how.rate);
      };
      if (initial == 0)
        move(sqrt(v));
      else
        move(sqrt(v + number(initial)));
    };
    detail::update_trained(treat, update, parameters, kept.squares, gradients);
  }
  /// Error: the state is that of another optimizer or model.
  template <class Parameters, class State>
    requires(!std::is_same_v<State, state<Parameters>>)
  constexpr detail::state_differs<adagrad, State> operator()(Parameters&, State&, const Parameters&,
                                                             unlike) const {
    return {};
  }
  /// Error: the gradients are pending, or those of another nest.
  template <bool IsReported = false>
  constexpr refused_value operator()(unlike, unlike, unlike, unlike) const {
    return detail::refuse_gradients<adagrad, IsReported>();
  }
  constexpr refused_value operator()(unlike, unlike, const refused_value& given, unlike) const {
    return given;
  }
};

}  // namespace shardwise::optim
