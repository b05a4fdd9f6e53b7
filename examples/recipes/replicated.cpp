// SPDX-License-Identifier: BSL-1.0
// Replicated: every device holds everything and computes everything. Nothing moves and nothing is
// gained; every other recipe is this one with some entry of a spec filled in.
//
//     weights and batch   P<none, ...>
//     collectives         none
#include "recipe.hpp"
#include <shardwise/shardwise.hpp>

namespace {

using namespace recipes;

struct pod : mesh<axis<"data", 4>> {};
struct single : mesh<axis<"data", 1>> {};

template <class M>
struct replicated {
  using mesh_type = M;
  using input = tensor<M, P<none, none>, batch, width>;
  using model = nn::mlp<nn::linear<tensor<M, P<none, none>, width, 32>, tensor<M, P<none>, 32>>,
                        nn::linear<tensor<M, P<none, none>, 32, width>, tensor<M, P<none>, width>>>;
};

constexpr const ledger& cost = step_cost<replicated<pod>>;
static_assert(cost.collectives() == 0 && cost.bytes_moved() == 0);
// Four devices hold four times and compute four times what one does.
static_assert(state_bytes<replicated<pod>> == state_bytes<replicated<single>>);
static_assert(cost.flops() == step_cost<replicated<single>>.flops());

}  // namespace

int main() { return compare<replicated<pod>, replicated<single>>("replicated"); }
