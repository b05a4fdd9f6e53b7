// SPDX-License-Identifier: BSL-1.0
#pragma once

// Small models, whose training steps are exported.
#include <shardwise/nn.hpp>
#include <shardwise/shardwise.hpp>

namespace exported::nets {

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 2>> {};

template <class Spec, index_t... N>
using tensor = sharded_tensor<float, extents<N...>, layout<pod, Spec>>;
using rows = P<"data", none>;
using stream = P<"data", none, none>;
using images = P<"data", none, none, none>;

using mlp = nn::mlp<nn::linear<tensor<P<none, "model">, 6, 8>, tensor<P<"model">, 8>>,
                    nn::linear<tensor<P<"model", none>, 8, 4>, tensor<P<none>, 4>, rows>>;

using norm = nn::layer_norm<tensor<P<none>, 8>>;
using into = tensor<P<none, "model", none>, 8, 4, 2>;
using merge = tensor<P<"model", none, none>, 4, 2, 8>;
using block = nn::transformer_block<
    norm, nn::attention<into, into, into, merge, stream>,
    nn::mlp<nn::linear<tensor<P<none, "model">, 8, 16>, tensor<P<"model">, 16>>,
            nn::linear<tensor<P<"model", none>, 16, 8>, tensor<P<none>, 8>, stream>>>;
struct reader {
  nn::embedding<tensor<P<"model", none>, 10, 8>, stream> read;
  block layer;
  nn::linear<tensor<P<none, "model">, 8, 10>> head;

  constexpr auto operator()(const auto& text) const {
    const auto h0 = read(text);
    const auto h1 = layer(h0);
    return head(h1);
  }
};

struct looker {
  nn::convolution<tensor<P<none, none, none, none>, 4, 2, 3, 3>, tensor<P<none>, 4>,
                  nn::with<paddings<1, 1>>>
      first;
  nn::linear<tensor<P<none, none>, 4, 3>, tensor<P<none>, 3>> head;

  constexpr auto operator()(const auto& x) const {
    const auto pooled = max_pool<windows<2, 2>>(relu(first(x)));
    return head(mean<2, 3>(average_pool<windows<2, 2>>(pooled)));
  }
};

constexpr auto squared_error = [](const auto& m, const auto& x, const auto& wanted) {
  return reshard<P<>>(nn::mse(m(x), wanted));
};

}  // namespace exported::nets
