// SPDX-License-Identifier: BSL-1.0
// Tensor parallel, as in Megatron-LM: attention is split by heads, the two layers behind it by the
// columns of the first and the rows of the second. So each half of a layer of a transformer ends
// in one pending sum over `model`, and the gradient of what went into it is one too.
//
//     query, key, value, up   split by columns: heads, hidden
//     out, down               split by rows, over the same axis
//     collectives             in each layer two all_reduces of the stream forward, two backward
#include "recipe.hpp"
#include <shardwise/shardwise.hpp>

namespace {

using namespace recipes;

struct pod : mesh<axis<"model", 4>> {};
struct single : mesh<axis<"model", 1>> {};

using stream = P<none, none, none>;

template <class Layer>
struct two_layers {
  Layer first, second;
  constexpr auto operator()(const auto& x) const {
    const auto h = first(x);
    return second(h);
  }
};

template <class M>
struct tensor_parallel {
  using mesh_type = M;
  using input = tensor<M, stream, batch, positions, width>;

  using norm = nn::layer_norm<tensor<M, P<none>, width>>;
  using in = tensor<M, P<none, "model", none>, width, 4, 4>;
  using out = tensor<M, P<"model", none, none>, 4, 4, width>;
  using up = nn::linear<tensor<M, P<none, "model">, width, 32>, tensor<M, P<"model">, 32>>;
  using down =
      nn::linear<tensor<M, P<"model", none>, 32, width>, tensor<M, P<none>, width>, stream>;
  using layer =
      nn::transformer_block<norm, nn::attention<in, in, in, out, stream>, nn::mlp<up, down>>;
  using model = two_layers<layer>;
};

constexpr const cost_ledger& cost = step_cost<tensor_parallel<pod>>;
// Two sums of the size of the stream for each layer in each direction: a pending gradient is
// reduced before it passes a norm.
constexpr index_t all_reduced(index_t bytes) { return 2 * bytes / 4 * 3; }
constexpr index_t floats = sizeof(float), streamed = batch * positions * width * floats;
static_assert(cost.collectives() == cost.collectives(collective::all_reduce, "model"));
static_assert(cost.collectives() == 2 * (2 + 2));
static_assert(cost.bytes_moved("model") == 2 * (2 + 2) * all_reduced(streamed));

}  // namespace

int main() { return compare<tensor_parallel<pod>, tensor_parallel<single>>("tensor parallel"); }
