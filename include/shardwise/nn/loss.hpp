// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/nn/cross_entropy.hpp"
#include "shardwise/nn/spread.hpp"
#include "shardwise/operation/activation.hpp"
#include "shardwise/operation/arithmetic.hpp"
#include "shardwise/operation/reduce.hpp"
#include "shardwise/operation/special.hpp"
#include "shardwise/operation/squeeze.hpp"

namespace shardwise::nn {

/// Returns the mean squared difference: a pending sum over the axes that split the operands.
template <Operand X, Operand Y>
[[nodiscard]] constexpr auto mse(const X& x, const Y& wanted) {
  return mean(square(x - wanted));
}

/// Returns the mean binary cross entropy of logits and the probabilities that are wanted, numbers
/// between 0 and 1: `-y log(sigmoid(x)) - (1 - y) log(1 - sigmoid(x))`, without overflow. A pending
/// sum over the axes that split the operands.
///
///     auto loss = reshard<P<>>(nn::binary_cross_entropy(model(x), wanted));
template <Operand X, Operand Y>
[[nodiscard]] constexpr auto binary_cross_entropy(const X& logits, const Y& wanted) {
  return mean(softplus(logits) - logits * wanted);
}

/// Returns the mean negative log-likelihood of labels `[...]`, given log-probabilities `[...,
/// classes]`, such as the result of `log_softmax`.
template <Operand X, Operand Labels>
[[nodiscard]] constexpr auto nll(const X& log_probabilities, const Labels& labels) {
  constexpr int last = detail::last_dim<X>;
  return -mean(take_along<last>(log_probabilities, unsqueeze<last>(labels)));
}

/// Returns the mean Huber loss: half the squared difference where it is at most `delta`, and
/// `delta (|x - y| - delta / 2)` elsewhere.
///
///     auto loss = reshard<P<>>(nn::huber(model(x), wanted, 1.0));
template <Operand X, Operand Y>
[[nodiscard]] constexpr auto huber(const X& x, const Y& wanted, double delta = 1) {
  const auto apart = abs(x - wanted);
  const auto bounded = minimum(apart, delta);
  return mean(bounded * (apart - bounded * 0.5));
}

/// Returns the mean smooth L1 loss: the Huber loss divided by `beta`, which is `|x - y| - beta / 2`
/// where the difference is large.
template <Operand X, Operand Y>
[[nodiscard]] constexpr auto smooth_l1(const X& x, const Y& wanted, double beta = 1) {
  return huber(x, wanted, beta) / beta;
}

/// Returns the mean hinge loss, `max(0, 1 - y x)`, of scores and the classes 1 and -1.
template <Operand X, Operand Y>
[[nodiscard]] constexpr auto hinge(const X& scores, const Y& classes) {
  return mean(relu(1 - scores * classes));
}

/// Returns the mean of `p (log(p) - log_q)`: the terms of the Kullback-Leibler divergence of
/// probabilities from others that are given by their logarithms. Terms with `p = 0` are 0.
///
///     auto loss = nn::kl_divergence(log_softmax<1>(logits), wanted);
template <Operand Q, Operand Wanted>
[[nodiscard]] constexpr auto kl_divergence(const Q& log_q, const Wanted& p) {
  return mean(xlogy(p, p) - p * log_q);
}

}  // namespace shardwise::nn
