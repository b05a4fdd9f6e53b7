// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/nn/cross_entropy.hpp"
#include "shardwise/nn/same_extents.hpp"
#include "shardwise/nn/spread.hpp"
#include "shardwise/operation/activation.hpp"
#include "shardwise/operation/arithmetic.hpp"
#include "shardwise/operation/reduce.hpp"
#include "shardwise/operation/special.hpp"
#include "shardwise/operation/squeeze.hpp"

namespace shardwise {

namespace detail {

/// Losses of predictions and targets of the same extents: neither is broadcast.
struct mse_loss {
  static constexpr text_view name = "mse";
  [[nodiscard]] static constexpr auto of(const auto& x, const auto& y) {
    return mean(square(x - y));
  }
};
struct l1_loss {
  static constexpr text_view name = "l1";
  [[nodiscard]] static constexpr auto of(const auto& x, const auto& y) { return mean(abs(x - y)); }
};
struct binary_cross_entropy_loss {
  static constexpr text_view name = "binary_cross_entropy";
  [[nodiscard]] static constexpr auto of(const auto& x, const auto& y) {
    // Without cancellation where a large logit is right. The logit folded to the negative side is
    // not written with its magnitude, whose slope at 0 is 0.
    using X = std::remove_cvref_t<decltype(x)>;
    const auto is_positive = x > 0;
    const auto wrong = where(is_positive, typename X::value_type(1), typename X::value_type(0)) - y;
    return mean(internal::weighted(x, wrong) + softplus(where(is_positive, -x, x)));
  }
};
struct huber_loss {
  static constexpr text_view name = "huber";
  [[nodiscard]] static constexpr auto of(const auto& x, const auto& y, double delta) {
    const auto difference = x - y;
    const auto bounded = clamp(difference, -delta, delta);
    return mean(bounded * (difference - bounded * 0.5));
  }
};
struct hinge_loss {
  static constexpr text_view name = "hinge";
  [[nodiscard]] static constexpr auto of(const auto& x, const auto& y) {
    return mean(relu(1 - x * y));
  }
};
struct kl_divergence_loss {
  static constexpr text_view name = "kl_divergence";
  [[nodiscard]] static constexpr auto of(const auto& log_q, const auto& p) {
    return mean(xlogy(p, p) - internal::weighted(log_q, p));
  }
};

/// The result of a loss.
template <class Loss, class X, class Y, class... Numbers>
using loss_of = outcome_of<same_extents_call<Loss>, const X&, const Y&, Numbers...>;
template <class Loss, class X, class Y, class... Numbers>
[[nodiscard]] constexpr loss_of<Loss, X, Y, Numbers...> of_target(const X& x, const Y& y,
                                                                  Numbers... numbers) {
  return carry_out<same_extents_call<Loss>, const X&, const Y&, Numbers...>(
      x, y, static_cast<Numbers&&>(numbers)...);
}

}  // namespace detail

namespace nn {

// Predictions and targets have the same extents: a target of another shape is an error, and is not
// broadcast. Means are pending sums over the axes that split the operands.

/// Returns the mean squared difference.
///
///     auto loss = reshard<P<>>(nn::mse(model(x), wanted));
template <EitherOperand X, EitherOperand Y>
[[nodiscard]] constexpr detail::loss_of<detail::mse_loss, X, Y> mse(const X& x, const Y& wanted) {
  return detail::of_target<detail::mse_loss>(x, wanted);
}

/// Returns the mean absolute difference.
template <EitherOperand X, EitherOperand Y>
[[nodiscard]] constexpr detail::loss_of<detail::l1_loss, X, Y> l1(const X& x, const Y& wanted) {
  return detail::of_target<detail::l1_loss>(x, wanted);
}

/// Returns the mean binary cross entropy of logits and the probabilities that are wanted, numbers
/// between 0 and 1: `-y log(sigmoid(x)) - (1 - y) log(1 - sigmoid(x))`, without overflow.
///
///     auto loss = reshard<P<>>(nn::binary_cross_entropy(model(x), wanted));
template <EitherOperand X, EitherOperand Y>
[[nodiscard]] constexpr detail::loss_of<detail::binary_cross_entropy_loss, X, Y>
binary_cross_entropy(const X& logits, const Y& wanted) {
  return detail::of_target<detail::binary_cross_entropy_loss>(logits, wanted);
}

/// Returns the mean negative log-likelihood of labels `[...]`, given log-probabilities `[...,
/// classes]`, such as the result of `log_softmax`. There is one label for each row of them.
template <EitherOperand X, EitherOperand Labels>
[[nodiscard]] constexpr auto nll(const X& log_probabilities, const Labels& labels) {
  if constexpr (AnyRefused<X, Labels>) {
    return refused_value{};
  } else {
    extents_desc rows = log_probabilities.extents();
    if (!rows.empty()) rows.pop_back();
    require(internal::check_same_extents(rows, labels.extents()));
    return -mean(take_along<-1>(log_probabilities, unsqueeze<-1>(labels)));
  }
}

/// Returns the mean Huber loss: half the squared difference where it is at most `delta`, and
/// `delta (|x - y| - delta / 2)` elsewhere. Throws `number_is_out_of_range` unless `delta` is
/// positive.
///
///     auto loss = reshard<P<>>(nn::huber(model(x), wanted, 1.0));
template <EitherOperand X, EitherOperand Y>
[[nodiscard]] constexpr detail::loss_of<detail::huber_loss, X, Y, double> huber(const X& x,
                                                                                const Y& wanted,
                                                                                double delta = 1) {
  internal::require_within(
      delta > 0,
      "the difference at which a Huber loss becomes linear is positive; nn::l1 is the limit");
  return detail::of_target<detail::huber_loss>(x, wanted, delta);
}

/// Returns the mean smooth L1 loss: the Huber loss divided by `beta`, which must be positive. It is
/// `|x - y| - beta / 2` where the difference is large.
template <EitherOperand X, EitherOperand Y>
[[nodiscard]] constexpr auto smooth_l1(const X& x, const Y& wanted, double beta = 1) {
  return huber(x, wanted, beta) / beta;
}

/// Returns the mean hinge loss, `max(0, 1 - y x)`, of scores and the classes 1 and -1.
template <EitherOperand X, EitherOperand Y>
[[nodiscard]] constexpr detail::loss_of<detail::hinge_loss, X, Y> hinge(const X& scores,
                                                                        const Y& classes) {
  return detail::of_target<detail::hinge_loss>(scores, classes);
}

/// Returns the mean over all elements of `p (log(p) - log_q)`, the terms of the Kullback-Leibler
/// divergence of `p` from probabilities that are given by their logarithms. Terms with `p = 0` are
/// 0.
///
///     auto loss = nn::kl_divergence(log_softmax<1>(logits), wanted);
template <EitherOperand Q, EitherOperand Wanted>
[[nodiscard]] constexpr detail::loss_of<detail::kl_divergence_loss, Q, Wanted> kl_divergence(
    const Q& log_q, const Wanted& p) {
  return detail::of_target<detail::kl_divergence_loss>(log_q, p);
}

}  // namespace nn

}  // namespace shardwise
