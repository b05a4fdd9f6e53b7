// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/philox.hpp"
#include "shardwise/nn/distribute_module.hpp"
#include "shardwise/operation/arithmetic.hpp"
#include "shardwise/operation/normalising.hpp"
#include "shardwise/operation/random_keys.hpp"
#include "shardwise/operation/reshard.hpp"
#include "shardwise/optim/nests.hpp"
#include "shardwise/plan/callee.hpp"
#include "shardwise/plan/gradient.hpp"

#include <cstdint>
#include <functional>
#include <tuple>
#include <type_traits>
#include <utility>

namespace shardwise {

namespace detail {

/// Adds the tensors of a nest to those of another, in the element type of the latter.
template <class Sum, class Nest>
constexpr void add_nest(Sum& sum, const Nest& more) {
  const auto add = []<class X, class Y>(X& x, const Y& y) {
    if constexpr (std::is_same_v<typename X::value_type, typename Y::value_type>)
      put(x, x + y);
    else
      put(x, x + widened(y));
  };
  for_each_together(add, sum, more);
}

/// A loss that computes its own gradients, such as `accumulated_loss`.
template <class Loss>
concept ComputesGradients = requires {
  typename Loss::computes_gradients;
};

/// How micro-batches are given.
inline constexpr fixed_string batches_text{"std::array{batch0, batch1}"};
/// The results of a loss for one micro-batch, which is a tensor or a tuple of tensors, and the
/// error if the loss cannot be called with it.
template <class Loss, class Model, class Batch, class... Further>
struct loss_of_batch {
  using type = internal::not_callable;
  using judged = internal::refused_arguments<Loss, 2 + int{sizeof...(Further)}, batches_text>;
};
template <class Loss, class Model, EitherOperand Batch, class... Further>
struct loss_of_batch<Loss, Model, Batch, Further...> {
  using type = internal::result_of_call<Loss, Model, Batch, Further...>;
  using judged = internal::refused_call<Loss, batches_text, Model, Batch, Further...>;
};
template <class Loss, class Model, class... X, class... Further>
struct loss_of_batch<Loss, Model, std::tuple<X...>, Further...> {
  using type = internal::result_of_call<Loss, Model, X..., Further...>;
  using judged = internal::refused_call<Loss, batches_text, Model, X..., Further...>;
};
/// A range of micro-batches.
template <class Batches>
concept MicroBatches = !EitherOperand<Batches> && requires(const Batches& batches) {
  *batches.begin();
  batches.size();
};
/// The results of a loss for each of several micro-batches.
template <class Loss, class Model, class Batches, class... Further>
struct loss_of_batches : loss_of_batch<Loss, Model, Batches*, Further...> {};
template <class Loss, class Model, MicroBatches Batches, class... Further>
struct loss_of_batches<Loss, Model, Batches, Further...>
    : loss_of_batch<Loss, Model,
                    std::remove_cvref_t<decltype(*std::declval<const Batches&>().begin())>,
                    Further...> {};

/// Returns a loss and the gradients of `change(value)`.
template <class Loss, class Change, class Model, class... Batch>
[[nodiscard]] constexpr auto value_and_gradients(const Loss& loss, const Change& change,
                                                 const Model& model, const Batch&... batch) {
  if constexpr (ComputesGradients<Loss>) {
    return loss.value_and_gradients(change, model, batch...);
  } else {
    const auto changed = [&](const auto& m, const auto&... x) {
      auto value = loss(m, x...);
      auto number = change(value);
      return std::tuple<decltype(number), decltype(value)>{std::move(number), std::move(value)};
    };
    auto [values, gradients] = value_and_grad(changed)(model, batch...);
    return std::pair{std::get<1>(std::move(values)), std::move(gradients)};
  }
}

/// Returns the argument `x` for micro-batch `n`: a random key, also that of a compiled step, is
/// replaced by the `n`-th key that it splits into; anything else is passed on.
template <class X>
[[nodiscard]] constexpr auto argument_of_batch(const X& x, std::uint32_t n) {
  if constexpr (requires { x.split(n); })
    return x.split(n);
  else if constexpr (ValueOperand<X>)
    return made_tensor(x);
  else
    return x;
}

}  // namespace detail

namespace optim {

/// Reduces a nest of pending gradients to the layouts of `Parameters` and multiplies it by a
/// number: the end of an accumulation. The sums are reduced in the element types of the parameters,
/// or as `Reduce`.
///
///     auto sum = gradient(loss, left_pending<"data">)(model, first);
///     ...
///     auto gradients = optim::reduced<Model>(sum, 0.25);      // one reduction for each parameter
///     auto by_half = optim::reduced<Model, bfloat16>(sum, 0.25);      // of half the bytes
template <class Parameters, class Reduce = void, class Pending>
[[nodiscard]] constexpr Parameters reduced(const Pending& sums, double factor = 1) {
  return internal::nest_as<Parameters>(
      sums, [&]<class X, class G>(std::type_identity<X>, const G& gradient) {
        using T = typename X::value_type;
        using moved = std::conditional_t<std::is_void_v<Reduce>, T, Reduce>;
        const auto finish = [](auto&& mean) {
          return X(internal::narrowed<T>(reshard<typename X::layout_type>(
              internal::with_terms_as<moved>(std::forward<decltype(mean)>(mean)))));
        };
        if (factor == 1) return finish(G(gradient));
        return finish(gradient * internal::number_for<X>(factor));
      });
}

/// A loss of a model that is stored in other layouts than it computes in, such as one that is fully
/// sharded (ZeRO-3): its model is distributed to `Working`, a model or a plan as for
/// `nn::distribute_module`, and given to the loss.
///
/// `accumulated` distributes the model of such a loss once for all micro-batches, adds the pending
/// gradients of the working model, and reduces each once, to the layout in which it is stored. This
/// takes the memory of the working model and of its gradients. To save this memory, call
/// `nn::distribute_module` within the loss instead: every micro-batch then gathers the weights, and
/// reduces their gradients.
///
///     constexpr auto gathered = optim::gathering<working>(loss);
///     constexpr auto mean_loss = optim::accumulated<"data">(gathered);
template <class Working, class Loss>
struct gathering_loss {
  Loss loss;

  template <class Model, class... X>
  [[nodiscard]] constexpr auto operator()(const Model& stored, const X&... x) const {
    return loss(working(stored), x...);
  }
  /// The model that the loss computes with.
  template <class Model>
  [[nodiscard]] static constexpr auto working(const Model& stored) {
    return nn::distribute_module<Working>(stored);
  }
};
template <class Working, class Loss>
[[nodiscard]] constexpr gathering_loss<Working, Loss> gathering(const Loss& loss) {
  return {loss};
}

}  // namespace optim

namespace detail {

/// The model that a loss computes with, and its loss of that model.
template <class Loss, class Model>
[[nodiscard]] constexpr const Model& working_model(const Loss&, const Model& model) noexcept {
  return model;
}
template <class Working, class Loss, class Model>
[[nodiscard]] constexpr auto working_model(const optim::gathering_loss<Working, Loss>& loss,
                                           const Model& model) {
  return loss.working(model);
}
template <class Loss>
[[nodiscard]] constexpr const Loss& loss_of_working(const Loss& loss) noexcept {
  return loss;
}
template <class Working, class Loss>
[[nodiscard]] constexpr const Loss& loss_of_working(
    const optim::gathering_loss<Working, Loss>& loss) noexcept {
  return loss.loss;
}

}  // namespace detail

namespace optim {

/// A loss whose value and gradients are means over micro-batches. It replaces the loss of
/// `training_step`, and takes a range of micro-batches instead of a batch; each is a tensor or a
/// tuple of tensors. Their gradients are left pending over `Axes`, added, and reduced once: also
/// those that the loss itself would reduce in the element type of its computation. What the loss
/// gathers itself, as in ZeRO-3, is reduced for each micro-batch, unless the loss is one of
/// `gathering`. `bfloat16` and `float16`
/// gradients are added as `float`, and reduced as `Reduce`; `void` stands for the element type of
/// the parameters.
///
/// Arguments that follow the micro-batches are given to the loss with each of them. Of a key of
/// random numbers micro-batch `n` gets the `n`-th key that it splits into, so that a dropout drops
/// other elements.
///
///     constexpr auto mean_loss = optim::accumulated<"data">(loss);
///     constexpr auto learn = optim::training_step{mean_loss, optim::adamw{}};
///     learn(model, state, rate, std::array{std::tuple{x0, y0}, std::tuple{x1, y1}});
///     learn(model, state, rate, batches, seed.fold_in(step));    // loss(model, x, y, key)
template <class Loss, class Reduce, fixed_string... Axes>
struct accumulated_loss {
  using computes_gradients = void;

  Loss loss;

  template <class Change, class Model, class Batches, class... Further>
  [[nodiscard]] constexpr auto value_and_gradients(const Change& change, const Model& model,
                                                   const Batches& batches,
                                                   const Further&... further) const {
    // As in `gradient`.
    using called = detail::loss_of_batches<
        Loss, Model, Batches,
        std::remove_cvref_t<decltype(detail::argument_of_batch(further, 0))>...>;
    using results = typename called::type;
    if constexpr (std::is_same_v<results, internal::not_callable>) {
      using shown [[maybe_unused]] = decltype(typename called::judged::type{});
      return std::pair{refused_value{}, refused_value{}};
    } else if constexpr (internal::holds_refusal<std::remove_cvref_t<results>>) {
      return std::pair{refused_value{}, refused_value{}};
    } else {
      using judged = decltype(internal::judge_request<left_pending_over<Axes...>, Model>());
      using shown [[maybe_unused]] = decltype(typename judged::type{});
      if constexpr (judged::ok)
        return mean_of(change, model, batches, further...);
      else
        return std::pair{refused_value{}, refused_value{}};
    }
  }

 private:
  template <class Change, class Model, class Batches, class... Further>
  [[nodiscard]] constexpr auto mean_of(const Change& change, const Model& model,
                                       const Batches& batches, const Further&... further) const {
    if (batches.size() == 0)
      fail({.rule = violation::operand_count_differs, .have = 0, .want = 1},
           "an accumulation is of one micro-batch or more");
    const auto& of_working = detail::loss_of_working(loss);
    const auto& working = detail::working_model(loss, model);
    const auto both = [&](const auto& m, const auto&... x) {
      auto value = of_working(m, x...);
      auto number = change(value);
      return std::tuple<decltype(number), decltype(value)>{std::move(number), std::move(value)};
    };
    std::uint32_t n = 0;
    const auto of_one = [&](const auto& batch) {
      const auto of = [&](const auto&... x) {
        return value_and_grad(both, left_pending<Axes...>)(
            working, x..., detail::argument_of_batch(further, n)...);
      };
      if constexpr (internal::nest_kind_of<std::remove_cvref_t<decltype(batch)>>() ==
                    internal::nest_kind::tensor)
        return of(batch);
      else
        return std::apply(of, batch);
    };
    // Sums of many narrow terms would be inaccurate.
    const auto widen = [](const auto& x) { return internal::made_tensor(internal::widened(x)); };
    auto first = of_one(*batches.begin());
    auto sums = internal::map_nest(first.second, widen);
    auto value = widen(std::get<1>(first.first));
    using T = typename std::remove_cvref_t<decltype(std::get<1>(first.first))>::value_type;
    auto next = batches.begin();
    for (++next, ++n; next != batches.end(); ++next, ++n) {
      const auto more = of_one(*next);
      internal::put(value, value + internal::widened(std::get<1>(more.first)));
      detail::add_nest(sums, more.second);
    }
    const double part = 1.0 / static_cast<double>(batches.size());
    auto mean = internal::with_terms_as<T>(value * internal::number_for<decltype(value)>(part));
    return std::pair{internal::made_tensor(reshard<P<>>(mean)), reduced<Model, Reduce>(sums, part)};
  }
};
template <fixed_string... Axes, class Loss>
[[nodiscard]] constexpr accumulated_loss<Loss, void, Axes...> accumulated(const Loss& loss) {
  return {loss};
}
/// The same with gradients that are reduced in the element type of a mixed-precision policy, such
/// as `nn::elements`.
///
///     constexpr auto mean_loss = optim::accumulated<"data">(loss, mixed);
template <fixed_string... Axes, class Loss, class Policy>
[[nodiscard]] constexpr accumulated_loss<Loss, typename Policy::reduce_type, Axes...> accumulated(
    const Loss& loss, const Policy&) {
  return {loss};
}

}  // namespace optim

}  // namespace shardwise
