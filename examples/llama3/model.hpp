// SPDX-License-Identifier: BSL-1.0
// A layer of Llama 3, its embedding and its output layer, and the cost for one device of a training
// step on a mesh with the axes `data`, `context`, `pipe` and `model`.
#pragma once

#include <shardwise/nn/embedding.hpp>
#include <shardwise/nn/linear.hpp>
#include <shardwise/nn/loss.hpp>
#include <shardwise/nn/norm.hpp>
#include <shardwise/nn/on_paper.hpp>
#include <shardwise/paper.hpp>

#include <tuple>
#include <type_traits>

namespace llama3 {

using namespace shardwise;

// --- sizes, from table 3 of the paper ------------------------------------------------------------

struct size_8b {
  static constexpr const char* name = "8B";
  static constexpr index_t width = 4096, hidden = 14'336, heads = 32, layers = 32;
};
struct size_70b {
  static constexpr const char* name = "70B";
  static constexpr index_t width = 8192, hidden = 28'672, heads = 64, layers = 80;
};
struct size_405b {
  static constexpr const char* name = "405B";
  static constexpr index_t width = 16'384, hidden = 53'248, heads = 128, layers = 126;
};
inline constexpr index_t vocabulary = 128'256, head_size = 128, key_heads = 8;

// --- a layer -------------------------------------------------------------------------------------

// The first dimension of every tensor in a layer is the stage of the pipeline, which is split over
// `pipe`: a call computes one layer of each stage. Between attention and the feed-forward part,
// positions are also split over `model`.
using stream = P<"pipe", "data", by("context", "model"), none>;
using whole_positions = P<"pipe", "data", "context", none>;

/// A norm of 2-byte values that is computed in `float`. Its scale is `float` too, so that the
/// pending sums of its gradient are not rounded to 2 bytes when they are reduced.
template <class Scale>
struct wide_norm {
  nn::rms_norm<Scale> in_floats;

  constexpr auto operator()(const auto& x) const {
    return cast<bfloat16>(in_floats(cast<float>(x)));
  }
};

template <class Scale, class Query, class Key, class Merge, class Up, class Down>
struct layer {
  wide_norm<Scale> attention_norm;
  Query query;
  Key key, value;
  Merge out;
  wide_norm<Scale> mlp_norm;
  Up gate, up;
  Down down;

  constexpr auto operator()(const auto& x, const auto& cosines, const auto& sines) const {
    const auto h = x + attend(reshard<whole_positions>(attention_norm(x)), cosines, sines);
    return h + feed(reshard<whole_positions>(mlp_norm(h)));
  }

 private:
  constexpr auto attend(const auto& x, const auto& cosines, const auto& sines) const {
    const auto q = rotary(einsum<"pbsd,pdhe->pbhse">(x, query), cosines, sines);
    const auto k = rotary(einsum<"pbsd,pdhe->pbhse">(x, key), cosines, sines);
    const auto v = einsum<"pbsd,pdhe->pbhse">(x, value);
    // Queries keep their split of positions; keys and values are gathered.
    using all_keys = P<"pipe", "data", "model", none, none>;
    const auto met = attention<attends::to_earlier>(q, reshard<all_keys>(k), reshard<all_keys>(v));
    return reshard<stream>(einsum<"pbhse,phed->pbsd">(met, out));
  }
  constexpr auto feed(const auto& x) const {
    const auto h = silu(einsum<"pbsd,pdf->pbsf">(x, gate)) * einsum<"pbsd,pdf->pbsf">(x, up);
    return reshard<stream>(einsum<"pbsf,pfd->pbsd">(h, down));
  }
};

/// Reshards the weights of a layer, or their gradients, so that `Rest` splits their width.
template <fixed_string Rest>
struct spread_layer {
  constexpr auto operator()(const auto& w) const {
    using scale = P<"pipe", none, none, Rest>;
    using in = P<"pipe", Rest, "model", none>;
    return std::tuple{reshard<scale>(w.attention_norm.in_floats.scale),
                      reshard<in>(w.query),
                      reshard<in>(w.key),
                      reshard<in>(w.value),
                      reshard<P<"pipe", "model", none, Rest>>(w.out),
                      reshard<scale>(w.mlp_norm.in_floats.scale),
                      reshard<P<"pipe", Rest, "model">>(w.gate),
                      reshard<P<"pipe", Rest, "model">>(w.up),
                      reshard<P<"pipe", "model", Rest>>(w.down)};
  }
};

// --- before the first stage and after the last ---------------------------------------------------

/// The layout of activations outside of the stages.
using ends_stream = P<"data", by("context", "model"), none>;

template <class Scale, class Head>
struct last_words {
  wide_norm<Scale> norm;
  nn::linear<Head> head;

  constexpr auto operator()(const auto& x) const {
    return head(reshard<P<"data", "context", none>>(norm(x)));
  }
};

// --- functions to trace --------------------------------------------------------------------------

/// The axes over which gradients of weights are left pending until the end of a step. Nothing is
/// pending over an axis of size 1.
template <class Pod>
inline constexpr auto left = [] {
  if constexpr (Pod::value.axes[1].size == 1)
    return left_pending<"data">;
  else
    return left_pending<"data", "context">;
}();
template <class Pod>
using left_over = std::conditional_t<Pod::value.axes[1].size == 1, partial<"data">,
                                     partial<by("data", "context")>>;

struct forward {
  constexpr auto operator()(const auto& w, const auto&... x) const { return w(x...); }
};
/// The backward pass of a layer, given its input and the gradient of its output: returns the
/// gradients of its weights and of its input. It computes the layer again, so that only the input
/// has to be stored.
template <class Pod>
struct backward {
  constexpr auto operator()(const auto& w, const auto& x, const auto& dy,
                            const auto&... tables) const {
    const auto met = [&](const auto& each, const auto& in) {
      return reshard<P<>>(sum(each(in, tables...) * dy));
    };
    return gradient<0, 1>(met, left<Pod>)(w, x);
  }
};
/// The backward pass of the embedding, whose input has no gradient.
template <class Pod>
struct words_backward {
  constexpr auto operator()(const auto& w, const auto& words, const auto& dy) const {
    const auto met = [&](const auto& each) { return reshard<P<>>(sum(each(words) * dy)); };
    return gradient(met, left<Pod>)(w);
  }
};
/// Returns the loss, and the gradients of the output layer's weights and of its input.
template <class Pod>
struct loss_and_backward {
  constexpr auto operator()(const auto& w, const auto& x, const auto& next) const {
    const auto loss = [&](const auto& last, const auto& in) {
      return reshard<P<>>(nn::cross_entropy(last(in), next, across<"model">));
    };
    return value_and_grad<0, 1>(loss, left<Pod>)(w, x);
  }
};

// --- a training run ------------------------------------------------------------------------------

/// The training of a model on a mesh. In a step, each group of devices along `data` processes
/// `Sequences` sequences of `Length` words, one after the other. Weights are gathered once in a
/// step, and gradients are scattered once.
template <class Size, class Pod, index_t Length, index_t Sequences>
struct training {
  using size = Size;
  static constexpr const mesh_desc& pod = Pod::value;
  static constexpr index_t devices = Pod::devices, length = Length;
  static constexpr index_t data = pod.axes[0].size, contexts = pod.axes[1].size,
                           stages = pod.axes[2].size, models = pod.axes[3].size;
  /// The number of layers in the longest stage.
  static constexpr index_t stage_layers = (Size::layers + stages - 1) / stages;
  static constexpr index_t tokens_at_once = data * Length, tokens = Sequences * tokens_at_once;

  template <class T, class Spec, class Pending, index_t... N>
  using tensor = sharded_tensor<T, extents<N...>, layout<Pod, Spec, Pending>>;

  template <class T, fixed_string Rest, class Pending>
  using up_of = tensor<T, P<"pipe", Rest, "model">, Pending, stages, Size::width, Size::hidden>;
  /// One layer of each stage; `Rest` splits its width.
  template <class T, fixed_string Rest, class Pending = partial<>>
  using layer_of = layer<
      tensor<float, P<"pipe", none, none, Rest>, Pending, stages, 1, 1, Size::width>,
      tensor<T, P<"pipe", Rest, "model", none>, Pending, stages, Size::width, Size::heads,
             head_size>,
      tensor<T, P<"pipe", Rest, "model", none>, Pending, stages, Size::width, key_heads, head_size>,
      tensor<T, P<"pipe", "model", none, Rest>, Pending, stages, Size::heads, head_size,
             Size::width>,
      up_of<T, Rest, Pending>,
      tensor<T, P<"pipe", "model", Rest>, Pending, stages, Size::hidden, Size::width>>;
  static constexpr auto rest = by("data", "context");
  using working = layer_of<bfloat16, none>;
  using stored = layer_of<bfloat16, rest>;

  template <fixed_string Rest>
  using words_of =
      nn::embedding<tensor<bfloat16, P<"model", Rest>, partial<>, vocabulary, Size::width>,
                    ends_stream>;
  template <fixed_string Rest>
  using last_of =
      last_words<tensor<float, P<Rest>, partial<>, Size::width>,
                 tensor<bfloat16, P<Rest, "model">, partial<>, Size::width, vocabulary>>;

  using x = tensor<bfloat16, stream, partial<>, stages, data, Length, Size::width>;
  using angles = tensor<bfloat16, P<"context", none>, partial<>, Length, head_size / 2>;
  using ends_x = tensor<bfloat16, ends_stream, partial<>, data, Length, Size::width>;
  using words = tensor<std::int32_t, P<"data", "context">, partial<>, data, Length>;

  static constexpr index_t per_layer = nest_elements<working> / stages;
  static constexpr index_t parameters =
      Size::layers * per_layer + nest_elements<words_of<none>> + nest_elements<last_of<none>>;

  // The forward and backward passes of a layer for one sequence, and what a layer communicates once
  // in a step.
  static constexpr cost_ledger there =
      trace_nests<128, working, x, angles, angles>(llama3::forward{});
  static constexpr cost_ledger back =
      trace_nests<256, working, x, x, angles, angles>(llama3::backward<Pod>{});
  static constexpr cost_ledger gathered = trace_nests<64, stored>(spread_layer<none>{});
  static constexpr cost_ledger scattered =
      trace_nests<64, layer_of<float, none, left_over<Pod>>>(spread_layer<rest>{});
  // The embedding and the output layer, for one sequence.
  static constexpr cost_ledger read = trace_nests<64, words_of<none>, words>(llama3::forward{});
  static constexpr cost_ledger read_back =
      trace_nests<64, words_of<none>, words, ends_x>(words_backward<Pod>{});
  static constexpr cost_ledger last =
      trace_nests<192, last_of<none>, ends_x, words>(loss_and_backward<Pod>{});

  // The memory of a device with both the embedding and the output layer, an upper bound for all
  // stages.
  static constexpr index_t layer_bytes = nest_bytes<working>;
  static constexpr index_t ends_bytes = nest_bytes<words_of<none>> + nest_bytes<last_of<none>>;
  static constexpr index_t split_bytes =
      stage_layers * nest_bytes<stored> + nest_bytes<words_of<rest>> + nest_bytes<last_of<rest>>;
  static constexpr index_t weights = stage_layers * layer_bytes + ends_bytes;
  /// Gradients are accumulated as floats.
  static constexpr index_t gradients = 2 * weights;
  /// A copy of the weights and the two moments of Adam, as floats, split over all devices.
  static constexpr index_t optimizer = 3 * 2 * split_bytes;
  /// The inputs of the layers, for all sequences in the pipeline, and the largest temporary memory
  /// of a layer or of the loss.
  static constexpr index_t under_way = stages < Sequences ? stages : Sequences;
  static constexpr index_t at_work = [] {
    const index_t inside = back.peak_bytes_per_device() - layer_bytes;
    const index_t at_end = last.peak_bytes_per_device() - nest_bytes<last_of<none>>;
    return inside > at_end ? inside : at_end;
  }();
  static constexpr index_t activations = under_way * stage_layers * nest_bytes<x> + at_work;
  static constexpr index_t held = weights + gradients + optimizer + activations;

  /// The bytes of the training state on all devices without replicas: weights and gradients of 2
  /// bytes, and three floats for Adam.
  static constexpr index_t state_in_all =
      8 * (devices / stages) *
      (Size::layers * nest_bytes<stored> + nest_bytes<words_of<rest>> + nest_bytes<last_of<rest>>);

  /// Returns the ledger of a step for a device with both the embedding and the output layer,
  /// without the messages between stages.
  static cost_ledger step() {
    cost_ledger all(pod);
    for (index_t l = 0; l < stage_layers; ++l) {
      all.add(gathered, 0);
      all.add(scattered, 0);
      for (index_t s = 0; s < Sequences; ++s) {
        all.add(there, 0);
        all.add(back, 0);
      }
    }
    for (index_t s = 0; s < Sequences; ++s)
      for (const cost_ledger& each : {read, read_back, last}) all.add(each, 0);
    return all;
  }
  /// The bytes that a stage receives from its neighbours: for each sequence its input, and the
  /// gradient of its output.
  static constexpr index_t received_over_pipe = stages == 1 ? 0 : 2 * Sequences * nest_bytes<x>;
};

}  // namespace llama3
