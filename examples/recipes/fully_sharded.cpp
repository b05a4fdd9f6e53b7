// SPDX-License-Identifier: BSL-1.0
// Fully sharded data parallel, or ZeRO-3: the batch is split over `data`, and so is every weight,
// with its gradient and the state of its optimizer. A weight is whole only while it is used.
//
//     batch         P<"data", none>
//     weights       P<"data", none>
//     collectives   each weight is gathered, and its gradient scattered
#include "recipe.hpp"
#include <shardwise/shardwise.hpp>

namespace {

using namespace recipes;

struct pod : mesh<axis<"data", 4>> {};
struct single : mesh<axis<"data", 1>> {};

/// A linear map whose tensors are gathered for it.
template <class Weight, class Bias>
struct gathered_linear {
  Weight weight;
  Bias bias;
  constexpr auto operator()(const auto& x) const {
    return einsum<"bi,io->bo">(x, reshard<P<none, none>>(weight)) + reshard<P<none>>(bias);
  }
};

template <class M>
struct fully_sharded {
  using mesh_type = M;
  using input = tensor<M, P<"data", none>, batch, width>;
  using model =
      nn::mlp<gathered_linear<tensor<M, P<"data", none>, width, 32>, tensor<M, P<"data">, 32>>,
              gathered_linear<tensor<M, P<"data", none>, 32, width>, tensor<M, P<"data">, width>>>;
};

constexpr const ledger& cost = step_cost<fully_sharded<pod>>;
static_assert(cost.collectives(collective::reduce_scatter, "data") == 4);
static_assert(cost.collectives(collective::all_reduce, "data") == 1);  // the loss
static_assert(cost.collectives(collective::all_gather, "data") == 4);
// Each device holds a fourth of the state.
static_assert(4 * state_bytes<fully_sharded<pod>> == state_bytes<fully_sharded<single>>);

}  // namespace

int main() { return compare<fully_sharded<pod>, fully_sharded<single>>("fully sharded"); }
