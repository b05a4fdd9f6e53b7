// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/arithmetic.hpp"
#include "shardwise/operation/normalising.hpp"
#include "shardwise/operation/reshard.hpp"
#include "shardwise/optim/nests.hpp"
#include "shardwise/plan/gradient.hpp"

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
template <class Loss, class Change, class Model, class... Batch>
concept ComputesGradients = requires(const Loss& loss, const Change& change, const Model& model,
                                     const Batch&... batch) {
  loss.value_and_gradients(change, model, batch...);
};

/// Returns a loss and the gradients of `change(value)`.
template <class Loss, class Change, class Model, class... Batch>
[[nodiscard]] constexpr auto value_and_gradients(const Loss& loss, const Change& change,
                                                 const Model& model, const Batch&... batch) {
  if constexpr (ComputesGradients<Loss, Change, Model, Batch...>) {
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

}  // namespace detail

namespace optim {

/// Reduces a nest of pending gradients to the layouts of `Parameters` and multiplies it by a
/// number: the end of an accumulation.
///
///     auto sum = gradient(loss, left_pending<"data">)(model, first);
///     ...
///     auto gradients = optim::reduced<Model>(sum, 0.25);      // one reduction for each parameter
template <class Parameters, class Pending>
[[nodiscard]] constexpr Parameters reduced(const Pending& sums, double factor = 1) {
  return detail::nest_as<Parameters>(
      sums, [&]<class X, class G>(std::type_identity<X>, const G& gradient) {
        using T = typename X::value_type;
        if (factor == 1) return X(reshard<typename X::layout_type>(detail::narrowed<T>(gradient)));
        return X(reshard<typename X::layout_type>(
            detail::narrowed<T>(gradient * detail::number_for<X>(factor))));
      });
}

/// A loss whose value and gradients are means over micro-batches. It replaces the loss of
/// `training_step`, and takes a range of micro-batches instead of a batch; each is a tensor or a
/// tuple of tensors. Their gradients are left pending over `Axes`, added, and reduced once.
/// `bfloat16` and `float16` gradients are added as `float`.
///
///     constexpr auto mean_loss = optim::accumulated<"data">(loss);
///     constexpr auto learn = optim::training_step{mean_loss, optim::adamw{}};
///     learn(model, state, rate, std::array{std::tuple{x0, y0}, std::tuple{x1, y1}});
template <class Loss, fixed_string... Axes>
struct accumulated_loss {
  Loss loss;

  template <class Change, class Model, class Batches>
  [[nodiscard]] constexpr auto value_and_gradients(const Change& change, const Model& model,
                                                   const Batches& batches) const {
    if (batches.size() == 0)
      fail({.rule = violation::operand_count_differs, .have = 0, .want = 1},
           "an accumulation is of one micro-batch or more");
    const auto both = [&](const auto& m, const auto&... x) {
      auto value = loss(m, x...);
      auto number = change(value);
      return std::tuple<decltype(number), decltype(value)>{std::move(number), std::move(value)};
    };
    const auto of_one = [&](const auto& batch) {
      if constexpr (detail::nest_kind_of<std::remove_cvref_t<decltype(batch)>>() ==
                    detail::nest_kind::tensor)
        return value_and_grad(both, left_pending<Axes...>)(model, batch);
      else
        return std::apply(
            [&](const auto&... x) {
              return value_and_grad(both, left_pending<Axes...>)(model, x...);
            },
            batch);
    };
    // Sums of many narrow terms would be inaccurate.
    const auto widen = [](const auto& x) { return detail::made_tensor(detail::widened(x)); };
    auto first = of_one(*batches.begin());
    auto sums = detail::map_nest(first.second, widen);
    auto value = widen(std::get<1>(first.first));
    using T = typename std::remove_cvref_t<decltype(std::get<1>(first.first))>::value_type;
    bool is_first = true;
    for (const auto& batch : batches) {
      if (std::exchange(is_first, false)) continue;
      const auto more = of_one(batch);
      detail::put(value, value + detail::widened(std::get<1>(more.first)));
      detail::add_nest(sums, more.second);
    }
    const double part = 1.0 / static_cast<double>(batches.size());
    auto mean = detail::narrowed<T>(value * detail::number_for<decltype(value)>(part));
    return std::pair{detail::made_tensor(reshard<P<>>(mean)), reduced<Model>(sums, part)};
  }
};
template <fixed_string... Axes, class Loss>
[[nodiscard]] constexpr accumulated_loss<Loss, Axes...> accumulated(const Loss& loss) {
  return {loss};
}

}  // namespace optim

}  // namespace shardwise
