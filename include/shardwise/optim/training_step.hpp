// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/optim/accumulate.hpp"
#include "shardwise/optim/clip.hpp"
#include "shardwise/plan/callee.hpp"

#include <functional>
#include <tuple>
#include <type_traits>
#include <utility>

namespace shardwise::detail {

/// True for a number or a tensor of rank 0; the rank of one whose layout is a value is not known.
template <class Rate>
inline constexpr bool is_rate = Scalar<Rate> || ValueOperand<Rate> || AnyRefused<Rate>;
template <Operand Rate>
inline constexpr bool is_rate<Rate> = Rate::extents_type::rank == 0;

}  // namespace shardwise::detail

namespace shardwise::optim {

/// One training step as a function of tensors: `loss(model, batch...)` and its gradient, which is
/// clipped if `clip` is above 0, then the optimizer. It updates model and state and returns the
/// loss before the update. It also accepts abstract tensors, so that the ledger of a whole step is
/// a constant.
///
///     constexpr auto learn = optim::training_step{loss, optim::adamw{}, 1.0};
///     const auto now = step(pool, [&] { return learn(model, state, rate, x, y); });
template <class Loss, class Optimizer>
struct training_step {
  Loss loss;
  Optimizer optimizer;
  double clip = 0;

  template <class Model, class State, class Rate, class... Batch>
  constexpr auto operator()(Model& model, State& state, const Rate& rate,
                            const Batch&... batch) const {
    auto made = value_and_gradients<Rate>(std::as_const(model), batch...);
    // The result of an invalid loss or rate takes no step.
    if constexpr (std::is_base_of_v<refused_value, decltype(made)>) {
      return refused_value{};
    } else if constexpr (internal::holds_refusal<decltype(made.first)>) {
      return refused_value{};
    } else {
      if (!(clip <= 0)) (void)clip_by_global_norm(made.second, clip);
      optimizer(model, state, made.second, rate);
      return std::move(made.first);
    }
  }

 private:
  template <class Rate, class Model, class... Batch>
  constexpr auto value_and_gradients(const Model& model, const Batch&... batch) const {
    using no_rate = refused<misuse::rate_is_no_number, internal::shown_operand<Rate>,
                            suggested(fixed_string("schedule(step)"))>;
    if constexpr (detail::ComputesGradients<Loss> && !detail::is_rate<Rate>) {
      return typename no_rate::type{};
    } else if constexpr (detail::ComputesGradients<Loss>) {
      return loss.value_and_gradients(std::identity{}, model, batch...);
    } else {
      // Named here as in `gradient`, where the program calls.
      using results = decltype(std::declval<const internal::callee<Loss>&>()(model, batch...));
      if constexpr (std::is_same_v<results, internal::not_callable>) {
        using refusal =
            internal::refused_call<Loss, "learn(model, state, rate, x)", Model, Batch...>;
        using reported [[maybe_unused]] = decltype(typename refusal::type{});
        // A pair here and below: g++ compiles all if the loss has an error of the language.
        return std::pair<refused_value, Model>{{}, model};
      } else if constexpr (!detail::is_rate<Rate>) {
        return typename no_rate::type{};
      } else {
        constexpr bool may_be_an_error = internal::may_be_an_error<std::remove_cvref_t<results>>;
        if constexpr (may_be_an_error) fail({.rule = violation::loss_is_no_number});
        if constexpr (may_be_an_error || internal::holds_refusal<std::remove_cvref_t<results>>)
          return std::pair<refused_value, Model>{{}, model};
        else
          return value_and_grad(loss)(model, batch...);
      }
    }
  }
};
template <class Loss, class Optimizer>
training_step(Loss, Optimizer) -> training_step<Loss, Optimizer>;
template <class Loss, class Optimizer>
training_step(Loss, Optimizer, double) -> training_step<Loss, Optimizer>;

/// The same as a function of values, for `trace_nests`: takes a model and a state and returns the
/// loss and the updated model and state.
template <class Step>
struct functional_step {
  Step step;

  template <class Model, class State, class Rate, class... Batch>
  [[nodiscard]] constexpr auto operator()(Model model, State state, const Rate& rate,
                                          const Batch&... batch) const {
    auto value = step(model, state, rate, batch...);
    return std::tuple<decltype(value), Model, State>{std::move(value), std::move(model),
                                                     std::move(state)};
  }
};
template <class Step>
functional_step(Step) -> functional_step<Step>;

}  // namespace shardwise::optim
