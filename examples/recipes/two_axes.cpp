// SPDX-License-Identifier: BSL-1.0
// Two axes at once: fully sharded over `data`, tensor parallel over `model`. Each weight is split
// by both, and gathered over `data` alone; each reduction is over the axis that it belongs to.
//
//     batch         P<"data", none>
//     up            P<"data", "model">, used as P<none, "model">
//     down          P<"model", "data">, used as P<"model", none>
//     collectives   gathers and scatters of weights over `data`, a reduction of the stream over
//                   `model`
#include "recipe.hpp"
#include <shardwise/shardwise.hpp>

namespace {

using namespace recipes;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
struct single : mesh<axis<"data", 1>, axis<"model", 1>> {};

template <class Up, class Down>
struct both_split {
  Up up;
  Down down;
  constexpr auto operator()(const auto& x) const {
    const auto h = gelu(einsum<"bi,ih->bh">(x, reshard<P<none, "model">>(up)));
    return reshard<P<"data", none>>(einsum<"bh,ho->bo">(h, reshard<P<"model", none>>(down)));
  }
};
template <class Block>
struct two_blocks {
  Block first, second;
  constexpr auto operator()(const auto& x) const {
    const auto h = x + first(x);
    return h + second(h);
  }
};

template <class M>
struct two_axes {
  using mesh_type = M;
  using input = tensor<M, P<"data", none>, batch, width>;
  using model = two_blocks<both_split<tensor<M, P<"data", "model">, width, 32>,
                                      tensor<M, P<"model", "data">, 32, width>>>;
};

constexpr const ledger& cost = step_cost<two_axes<pod>>;
// Over `model` the sum of each block forward; backward the gradient of what goes into the second.
static_assert(cost.collectives("model") == 2 + 1);
// Over `data` four weights come and their gradients go; and the loss.
static_assert(cost.collectives(collective::all_gather, "data") == 4);
static_assert(cost.collectives(collective::reduce_scatter, "data") == 4);
static_assert(cost.collectives(collective::all_reduce, "data") == 1);
// Eight devices, an eighth of the state on each.
static_assert(8 * state_bytes<two_axes<pod>> == state_bytes<two_axes<single>>);

}  // namespace

int main() { return compare<two_axes<pod>, two_axes<single>>("two axes"); }
