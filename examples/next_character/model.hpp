// SPDX-License-Identifier: BSL-1.0
// A small model: softmax regression from the previous characters to the next one, and one step
// of its training. This header needs nothing that runs: the compiler already knows what it costs.
#pragma once

#include <shardwise/paper.hpp>

#include <tuple>
#include <utility>

namespace next_character {

using namespace shardwise;

/// The mesh that it is trained on, and the one that checks it: the same axes with one device.
struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
struct single : mesh<axis<"data", 1>, axis<"model", 1>> {};

inline constexpr index_t context = 4;   ///< how many characters the model sees
inline constexpr index_t symbols = 96;  ///< the most frequent bytes, and one for all others
inline constexpr index_t inputs = context * symbols;
inline constexpr index_t batch = 2048;  ///< characters that one step learns from

/// The tensors of a step. Examples are split over `data`, classes over `model`; the running mean of
/// the gradient, which only the update reads, is split over both (what ZeRO does).
template <Mesh M>
using examples = sharded_tensor<float, extents<batch, inputs>, layout<M, P<"data", none>>>;
template <Mesh M>
using targets = sharded_tensor<float, extents<symbols, batch>, layout<M, P<"model", "data">>>;
template <Mesh M>
using weights = sharded_tensor<float, extents<inputs, symbols>, layout<M, P<none, "model">>>;
template <Mesh M>
using momentum = sharded_tensor<float, extents<inputs, symbols>, layout<M, P<"data", "model">>>;

/// The mean loss of a batch and its gradient, which is still a pending sum over `data`.
///
/// Classes are the rows of `scores`, so that a number for each example meets them from the right.
inline constexpr auto differentiate = [](const auto& x, const auto& y, const auto& w) {
  const auto scores = einsum<"bi,io->ob">(x, w);            // [96@model, 2048@data]
  const auto highest = reshard<P<"data">>(max<0>(scores));  // all_reduce over model
  const auto shifted = scores - highest;
  const auto likely = exp(shifted);
  const auto total = reshard<P<"data">>(sum<0>(likely));       // all_reduce over model
  const auto right = reshard<P<"data">>(sum<0>(shifted * y));  // all_reduce over model
  const auto loss = reshard<P<>>(mean(log(total) - right));    // all_reduce over data
  const auto error = (likely / total - y) * (1.0F / batch);
  return std::tuple(loss, einsum<"bi,ob->io">(x, error));  // {partial sum: data}
};

/// What one step does: the loss before it, the new weights, the new momentum.
struct update {
  float rate = 1.0F;

  constexpr auto operator()(const auto& x, const auto& y, const auto& w, const auto& m) const {
    const auto [loss, gradient] = differentiate(x, y, w);
    auto mean_gradient = 0.9F * m + reshard<P<"data", "model">>(gradient);  // reduce_scatter
    auto new_w = w - reshard<P<none, "model">>(rate * mean_gradient);       // all_gather
    return std::tuple(loss, std::move(new_w), std::move(mean_gradient));
  }
};

template <Mesh M>
inline constexpr auto program_of = plan_program(trace_program(update{}, abstract<examples<M>>(),
                                                              abstract<targets<M>>(),
                                                              abstract<weights<M>>(),
                                                              abstract<momentum<M>>()));
template <Mesh M>
inline constexpr const cost_ledger& cost = program_of<M>.total;

// What a step communicates, counted by the compiler.
static_assert(cost<pod>.collectives() == 6);
static_assert(cost<pod>.collectives(collective::all_reduce, "model") == 3);
static_assert(cost<pod>.collectives(collective::all_reduce, "data") == 1);
static_assert(cost<pod>.collectives(collective::reduce_scatter, "data") == 1);
static_assert(cost<pod>.collectives(collective::all_gather, "data") == 1);
static_assert(cost<pod>.bytes_moved() <= 64_KiB);
static_assert(cost<pod>.peak_bytes_per_device() <= 2_MiB);

}  // namespace next_character
