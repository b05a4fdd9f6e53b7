// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/nn/parameters.hpp"
#include "shardwise/operation/comparison.hpp"
#include "shardwise/operation/exponential.hpp"
#include "shardwise/operation/transcendental.hpp"
#include "shardwise/optim/nests.hpp"
#include "shardwise/optim/scale_of.hpp"

#include <tuple>
#include <type_traits>
#include <utility>

namespace shardwise {

namespace detail {

/// Returns the mean along dimension `rank - FromEnd`, which is kept with size 1. Pending sums are
/// reduced.
template <int FromEnd, class X>
[[nodiscard]] constexpr auto mean_along(const X& x) {
  if constexpr (ValueOperand<X>)
    return settled(mean(x, over{x.tensor().rank() - FromEnd}, keep_dims));
  else
    return settled(mean<X::extents_type::rank - FromEnd>(x, keep_dims));
}
/// True for a tensor whose squares have means of rows and columns.
template <class X>
[[nodiscard]] constexpr bool is_factored(const X& x) noexcept {
  if constexpr (ValueOperand<X>)
    return x.tensor().rank() >= 2;
  else
    return X::extents_type::rank >= 2;
}

/// Returns zeros like `x`; an abstract tensor, which has no values, is returned unchanged.
template <class X>
[[nodiscard]] constexpr X zeros_beside(const X& x) {
  if constexpr (requires { x.share(); })
    return zeros_like(x);
  else
    return x;
}
/// Returns zeros for the means of the rows of a parameter; if it is no matrix, for all squares.
inline constexpr auto zero_rows = []<class X>(const X& x) {
  if constexpr (ValueOperand<X>)
    return zeros_beside(is_factored(x) ? X(mean_along<1>(x)) : x);
  else if constexpr (X::extents_type::rank >= 2)
    return zeros_beside(made_tensor(narrowed<typename X::value_type>(mean_along<1>(widened(x)))));
  else
    return zeros_beside(x);
};
/// Returns zeros for the means of its columns; nothing if it is no matrix.
inline constexpr auto zero_columns = []<class X>(const X& x) {
  if constexpr (ValueOperand<X>)
    return zeros_beside(is_factored(x) ? X(mean_along<2>(x)) : X(settled(sum(x))));
  else if constexpr (X::extents_type::rank >= 2)
    return zeros_beside(made_tensor(narrowed<typename X::value_type>(mean_along<2>(widened(x)))));
  else
    return std::tuple<>{};
};
template <class Parameters, const auto& Change>
using changed_members = decltype(map_nest(std::declval<const Parameters&>(), Change));

}  // namespace detail

namespace optim {

/// The state of `adafactor`: for each matrix of `n` rows and `m` columns the `n` means of the
/// squares in a row and the `m` in a column, split like the rows and columns of the parameter; for
/// other parameters a tensor like it. Dimensions before the last two are of several matrices.
template <class Parameters>
struct adafactor_state {
  using leaves_out_frozen = void;
  detail::changed_members<Parameters, detail::zero_rows> rows;
  detail::changed_members<Parameters, detail::zero_columns> columns;
  typename detail::step_count<Parameters>::type steps;
};

/// Adafactor: each parameter moves by its gradient divided by the root of the running mean of its
/// squares, of which a matrix keeps only the means of rows and columns: the memory of the state is
/// a small part of that of the parameters. The rate is relative to the root mean square of the
/// parameter, is at most `1 / sqrt(step)`, and large directions are clipped.
///
/// The means of rows and columns are reduced over the axes that split the other dimension, and a
/// few numbers over all axes that split the parameter. Narrow parameters are computed in `float`,
/// except for the state. For parameters and rate see `sgd`.
///
///     optim::adafactor learn{};
///     auto state = learn.start(model);
///     learn(model, state, gradients, 0.01);
struct adafactor {
  named_options named{};
  double decay = 0.8;             ///< step `t` weighs the past by `1 - 1 / t^decay`
  double epsilon = 1.1920929e-7;  ///< the least root of an estimated square
  double least_scale = 1e-3;      ///< the least root mean square by which the rate is scaled
  double threshold = 1;           ///< the greatest root mean square of a direction
  double weight_decay = 0;        ///< the weights shrink by `rate * weight_decay` in each step
  treatment_rule treat = alike;   ///< how each parameter is treated, by its name

  /// The state that training parameters of this type needs.
  template <class Parameters>
  using state = adafactor_state<Parameters>;
  /// Returns the state before the first step, in the pool of the parameters.
  template <class Parameters>
  [[nodiscard]] auto start(const Parameters& parameters) const {
    using count = typename detail::step_count<Parameters>::type;
    constexpr auto left_out = internal::frozen_parts::are_left_out;
    if constexpr (detail::lacks_range_of_squares<Parameters>)
      return detail::refuse_squares<adafactor, Parameters>();
    else
      return state<Parameters>{internal::map_nest<left_out>(parameters, detail::zero_rows),
                               internal::map_nest<left_out>(parameters, detail::zero_columns),
                               detail::number_in_pool_of<count>(parameters, 0.0F)};
  }

  /// Takes a step: changes the parameters and the state. The rate is a number, or a tensor of rank
  /// 0.
  template <class Parameters, class Rate>
  constexpr void operator()(Parameters& parameters, adafactor_state<Parameters>& kept,
                            const Parameters& gradients, const Rate& rate) const {
    if constexpr (detail::lacks_range_of_squares<Parameters>)
      (void)detail::refuse_squares<adafactor, Parameters>();
    detail::require_not_negative(decay, "the decay of Adafactor is finite and not negative");
    detail::require_not_negative(epsilon, detail::epsilon_rule);
    detail::require_not_negative(least_scale, "a least scale is finite and not negative");
    internal::require_within(threshold > 0, "the threshold of Adafactor is positive");
    detail::require_not_negative(weight_decay, detail::weight_decay_rule);
    constexpr auto wide = detail::combined_in::wide_elements;
    kept.steps += 1.0F;
    const auto weight = exp(log(kept.steps) * static_cast<float>(-decay));
    const auto most = 1.0F / sqrt(kept.steps);
    const auto weights = detail::number_beside_nest<Parameters, wide>(weight);
    const auto bounds = detail::number_beside_nest<Parameters, wide>(most);
    const auto rates = detail::number_beside_nest<Parameters, wide>(rate);
    const auto update = [&]<class W>(const treatment& how, W& w, auto& rows, auto& columns,
                                     const W& gradient) {
      const auto number = [](double value) { return internal::number_for<W>(value); };
      // The rate may be a number.
      const auto own_rate = [&] {
        auto made = rates.template beside<W>() * number(how.rate);
        if constexpr (EitherOperand<decltype(made)>)
          return internal::made_tensor(std::move(made));
        else
          return made;
      }();
      const auto g = internal::made_tensor(internal::widened(gradient));
      const auto along =
          direction(g, rows, columns, internal::made_tensor(weights.template beside<W>()));
      const auto v = internal::made_tensor(internal::widened(w));
      const auto scale = maximum(detail::root_mean_square(v), number(least_scale));
      const auto excess =
          maximum(detail::root_mean_square(along) * number(1 / threshold), number(1));
      const auto step =
          internal::made_tensor(minimum(bounds.template beside<W>(), own_rate) * scale / excess);
      const auto moved = v - along * step;
      if (how.decays && weight_decay != 0)
        internal::put(w, internal::narrowed<typename W::value_type>(
                             moved - v * own_rate * number(weight_decay)));
      else
        internal::put(w, internal::narrowed<typename W::value_type>(moved));
    };
    detail::update_trained(treat, update, parameters, kept.rows, kept.columns, gradients);
  }
  /// Error: the state is that of another optimizer or model.
  template <class Parameters, class State>
    requires(!std::is_same_v<State, state<Parameters>>)
  constexpr detail::state_differs<adafactor, State> operator()(Parameters&, State&,
                                                               const Parameters&, unlike) const {
    return {};
  }
  /// Error: the gradients are pending, or those of another nest.
  template <bool IsReported = false>
  constexpr refused_value operator()(unlike, unlike, unlike, unlike) const {
    return detail::refuse_gradients<adafactor, IsReported>();
  }
  constexpr refused_value operator()(unlike, unlike, const refused_value& given, unlike) const {
    return given;
  }

 private:
  /// Updates the state of one parameter, with `weight` for its gradient, and returns the direction.
  template <class G, class Rows, class Columns, class Weight>
  [[nodiscard]] constexpr auto direction(const G& g, Rows& rows, Columns& columns,
                                         const Weight& weight) const {
    if constexpr (std::is_same_v<Columns, std::tuple<>>)
      return by_squares(g, rows, weight);
    else if constexpr (ValueOperand<G>)
      return detail::is_factored(g) ? by_means(g, rows, columns, weight)
                                    : by_squares(g, rows, weight);
    else
      return by_means(g, rows, columns, weight);
  }
  template <class G, class Rows, class Columns, class Weight>
  [[nodiscard]] constexpr auto by_means(const G& g, Rows& rows, Columns& columns,
                                        const Weight& weight) const {
    const auto squares = internal::made_tensor(square(g));
    learn(rows, detail::mean_along<1>(squares), weight);
    learn(columns, detail::mean_along<2>(squares), weight);
    const auto of_rows = internal::made_tensor(internal::widened(rows));
    const auto all = maximum(detail::mean_along<2>(of_rows), internal::number_for<G>(epsilon));
    return over_root(g, of_rows * internal::widened(columns) / all);
  }
  template <class G, class Squares, class Weight>
  [[nodiscard]] constexpr auto by_squares(const G& g, Squares& squares,
                                          const Weight& weight) const {
    learn(squares, square(g), weight);
    return over_root(g, internal::widened(squares));
  }
  template <class Mean, class Now, class Weight>
  static constexpr void learn(Mean& mean, const Now& now, const Weight& weight) {
    const auto past = internal::made_tensor(internal::widened(mean));
    internal::put(mean,
                  internal::narrowed<typename Mean::value_type>(past + (now - past) * weight));
  }
  template <class G, class Squares>
  [[nodiscard]] constexpr auto over_root(const G& g, const Squares& squares) const {
    return internal::made_tensor(
        g / sqrt(maximum(squares, internal::number_for<G>(epsilon * epsilon))));
  }
};

}  // namespace optim

}  // namespace shardwise
