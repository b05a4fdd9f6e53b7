// SPDX-License-Identifier: BSL-1.0
// Sequence parallel: tensor parallel whose stream is split by positions where no weight is, so that
// no device keeps all of it or normalises all of it. A half of a layer gathers the positions when
// it begins and scatters them when it ends: what moves is what tensor parallel moves.
//
//     stream        P<none, "model", none>
//     weights       as tensor parallel
//     collectives   of each half of a layer an all_gather and a reduce_scatter, in each direction
#include "recipe.hpp"
#include <shardwise/shardwise.hpp>

namespace {

using namespace recipes;

struct pod : mesh<axis<"model", 4>> {};
struct single : mesh<axis<"model", 1>> {};

using stream = P<none, "model", none>;

/// A layer of a transformer whose halves meet all positions.
template <class Norm, class Attention, class Mlp>
struct gathering_layer {
  Norm attention_norm;
  Attention attention;
  Norm mlp_norm;
  Mlp mlp;
  constexpr auto operator()(const auto& x) const {
    using whole = P<none, none, none>;
    const auto h = x + attention(reshard<whole>(attention_norm(x)));
    return h + mlp(reshard<whole>(mlp_norm(h)));
  }
};

template <class M>
struct sequence_parallel {
  using mesh_type = M;
  using input = tensor<M, stream, batch, positions, width>;

  using norm = nn::layer_norm<tensor<M, P<none>, width>>;
  using in = tensor<M, P<none, "model", none>, width, 4, 4>;
  using out = tensor<M, P<"model", none, none>, 4, 4, width>;
  using up = nn::linear<tensor<M, P<none, "model">, width, 32>, tensor<M, P<"model">, 32>>;
  using down =
      nn::linear<tensor<M, P<"model", none>, 32, width>, tensor<M, P<none>, width>, stream>;
  using model = gathering_layer<norm, nn::attention<in, in, in, out, stream>, nn::mlp<up, down>>;
};

constexpr const ledger& cost = step_cost<sequence_parallel<pod>>;
// Two halves, two directions.
static_assert(cost.collectives(collective::all_gather, "model") == 4);
static_assert(cost.collectives(collective::reduce_scatter, "model") == 4);
// Each brings three fourths of the stream: together what the four all_reduces of tensor parallel
// do.
constexpr index_t streamed = batch * positions * width * index_t{sizeof(float)};
static_assert(cost.bytes_moved(collective::all_gather, "model") == 4 * (streamed / 4 * 3));
static_assert(cost.bytes_moved(collective::reduce_scatter, "model") == 4 * (streamed / 4 * 3));
// What is not split meets a part of the positions: its gradients are sums over the axis, as is the
// loss. Two norms of two tensors, and the bias of the second layer.
static_assert(cost.collectives(collective::all_reduce, "model") == 1 + 2 * 2 + 1);

}  // namespace

int main() {
  return compare<sequence_parallel<pod>, sequence_parallel<single>>("sequence parallel");
}
