// SPDX-License-Identifier: BSL-1.0
// Data parallel: the batch is split, the weights are not. Every device computes the gradients of
// its part of the batch, which are pending sums over `data`; reducing them is all that moves.
//
//     batch         P<"data", none>
//     weights       P<none, none>
//     collectives   an all_reduce for each weight, and one for the loss
#include "recipe.hpp"
#include <shardwise/shardwise.hpp>

namespace {

using namespace recipes;

struct pod : mesh<axis<"data", 4>> {};
struct single : mesh<axis<"data", 1>> {};

template <class M>
struct data_parallel {
  using mesh_type = M;
  using input = tensor<M, P<"data", none>, batch, width>;
  using model = nn::mlp<nn::linear<tensor<M, P<none, none>, width, 32>, tensor<M, P<none>, 32>>,
                        nn::linear<tensor<M, P<none, none>, 32, width>, tensor<M, P<none>, width>>>;
};

constexpr const cost_ledger& cost = step_cost<data_parallel<pod>>;
static_assert(cost.collectives() == 1 + 4);
static_assert(cost.collectives(collective::all_reduce, "data") == 1 + 4);
// An all_reduce brings (n - 1) / n of what it reduces twice: once to add it, once as the result.
// The loss is one number and cannot be divided by four.
constexpr index_t gradients = nest_bytes<data_parallel<pod>::model>, loss = sizeof(float);
static_assert(cost.bytes_moved("data") == 2 * gradients / 4 * 3 + 2 * loss * 3);
// Each holds the whole state.
static_assert(state_bytes<data_parallel<pod>> == state_bytes<data_parallel<single>>);

}  // namespace

int main() { return compare<data_parallel<pod>, data_parallel<single>>("data parallel"); }
