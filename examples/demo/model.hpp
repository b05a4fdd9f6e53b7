// SPDX-License-Identifier: BSL-1.0
// The demo's model: a transformer that reads bytes and says which comes next. Its mesh has two
// axes: `data` splits the batch, `model` the heads, the hidden layers and the classes. Their sizes
// are known when the program runs; who holds what, and what has to move, the compiler knows before.
#pragma once

#include "sizes.hpp"
#include <shardwise/nn.hpp>
#include <shardwise/optim.hpp>
#include <shardwise/shardwise.hpp>

#include <array>

namespace demo {

using namespace shardwise;

struct pod : mesh<axis<"data", dyn>, axis<"model", dyn>> {
  using mesh::mesh;
};

template <class Spec, index_t... N>
using tensor = sharded_tensor<float, extents<N...>, layout<pod, Spec>>;
/// What runs through the layers: whole on every device of a group along `model`.
using stream = P<"data", none, none>;

/// Adds a row of its own to each position.
template <class Table>
struct position_rows {
  Table table;
  constexpr auto operator()(const auto& x) const { return x + table; }
  /// Adds the rows of the positions from `first` on.
  template <class X>
  constexpr auto operator()(const X& x, const auto& first) const {
    return x + dynamic_slice<0, X::extents_type::value[1]>(table, first);
  }
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
    const auto h5 = layers[4](h4);
    return head(norm(h5));
  }
  /// Returns the scores of the positions that follow those in each layer's cache.
  constexpr auto operator()(const auto& text, auto& caches) const {
    const auto h0 = place(read(text), caches[0].filled);
    const auto h1 = layers[0](h0, caches[0]);
    const auto h2 = layers[1](h1, caches[1]);
    const auto h3 = layers[2](h2, caches[2]);
    const auto h4 = layers[3](h3, caches[3]);
    const auto h5 = layers[4](h4, caches[4]);
    return head(norm(h5));
  }
};

using norm = nn::layer_norm<tensor<P<none>, width>>;
using projection = tensor<P<none, "model", none>, width, heads, head_size>;
using attention = nn::attention<projection, projection, projection,
                                tensor<P<"model", none, none>, heads, head_size, width>, stream>;
using mlp =
    nn::mlp<nn::linear<tensor<P<none, "model">, width, hidden>, tensor<P<"model">, hidden>>,
            nn::linear<tensor<P<"model", none>, hidden, width>, tensor<P<none>, width>, stream>>;
using layer = nn::transformer_block<norm, attention, mlp>;
using model =
    transformer<nn::embedding<tensor<P<"model", none>, bytes, width>, stream>,
                position_rows<tensor<P<none, none>, positions, width>>, std::array<layer, 5>, norm,
                nn::linear<tensor<P<none, "model">, width, bytes>>>;
using state = optim::adam_state<model>;
using tokens =
    sharded_tensor<std::int32_t, extents<batch, positions>, layout<pod, P<"data", none>>>;
using number = scalar<float, pod>;
/// The key-value caches of all layers.
using caches = std::array<nn::cache_for<layer, tensor<stream, batch, 1, width>, positions>, 5>;
/// The prompt that the model reads before it writes: half of its positions.
using prompt =
    sharded_tensor<std::int32_t, extents<batch, positions / 2>, layout<pod, P<"data", none>>>;

struct next_byte_loss {
  constexpr auto operator()(const auto& m, const auto& seen, const auto& next) const {
    return reshard<P<>>(nn::cross_entropy(m(seen), next, across<"model">));
  }
};
/// A step of training: the loss, its gradients, their norm at most 1, then Adam.
inline constexpr optim::training_step learn{next_byte_loss{},
                                            optim::adamw{.beta2 = 0.99, .weight_decay = 0.01}, 1.0};

}  // namespace demo
