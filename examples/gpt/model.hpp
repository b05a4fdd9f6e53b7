// SPDX-License-Identifier: BSL-1.0
// A small transformer that reads bytes and says which comes next, on two axes: `data` splits the
// batch, `model` the heads, the hidden layers and the classes.
#pragma once

#include <shardwise/nn.hpp>
#include <shardwise/optim.hpp>
#include <shardwise/shardwise.hpp>

#include <array>

namespace gpt {

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
struct single : mesh<axis<"data", 1>, axis<"model", 1>> {};

inline constexpr index_t batch = 16, positions = 64, bytes = 256;
inline constexpr index_t width = 128, heads = 4, head_size = 32, hidden = 512;

template <class M, class Spec, index_t... N>
using tensor = sharded_tensor<float, extents<N...>, layout<M, Spec>>;
/// What runs through the layers: whole on every device of a group along `model`.
using stream = P<"data", none, none>;

/// Adds a row of its own to each position.
template <class Table>
struct position_rows {
  Table table;
  constexpr auto operator()(const auto& x) const { return x + table; }
};

template <class Bytes, class Positions, class Layers, class Norm, class Head>
struct transformer {
  Bytes read;
  Positions place;
  Layers layers;
  Norm norm;
  Head head;

  /// Scores of the next byte: `[batch, positions]` to `[batch, positions, bytes]`.
  constexpr auto operator()(const auto& text) const {
    const auto h0 = place(read(text));
    const auto h1 = layers[0](h0);
    const auto h2 = layers[1](h1);
    const auto h3 = layers[2](h2);
    const auto h4 = layers[3](h3);
    return head(norm(h4));
  }
};

template <class M>
using norm_of = nn::layer_norm<tensor<M, P<none>, width>>;
template <class M>
using heads_of = nn::attention<tensor<M, P<none, "model", none>, width, heads, head_size>,
                               tensor<M, P<none, "model", none>, width, heads, head_size>,
                               tensor<M, P<none, "model", none>, width, heads, head_size>,
                               tensor<M, P<"model", none, none>, heads, head_size, width>, stream>;
template <class M>
using mlp_of = nn::mlp<
    nn::linear<tensor<M, P<none, "model">, width, hidden>, tensor<M, P<"model">, hidden>>,
    nn::linear<tensor<M, P<"model", none>, hidden, width>, tensor<M, P<none>, width>, stream>>;
template <class M>
using model = transformer<nn::embedding<tensor<M, P<"model", none>, bytes, width>, stream>,
                          position_rows<tensor<M, P<none, none>, positions, width>>,
                          std::array<nn::transformer_block<norm_of<M>, heads_of<M>, mlp_of<M>>, 4>,
                          norm_of<M>, nn::linear<tensor<M, P<none, "model">, width, bytes>>>;
template <class M>
using tokens = sharded_tensor<std::int32_t, extents<batch, positions>, layout<M, P<"data", none>>>;
template <class M>
using number = scalar<float, M>;
template <class M>
using state = optim::adam_state<model<M>>;

struct next_byte_loss {
  constexpr auto operator()(const auto& m, const auto& seen, const auto& next) const {
    return reshard<P<>>(nn::cross_entropy(m(seen), next, across<"model">));
  }
};
inline constexpr optim::training_step learn{next_byte_loss{}, optim::adamw{.weight_decay = 0.01},
                                            1.0};

}  // namespace gpt
