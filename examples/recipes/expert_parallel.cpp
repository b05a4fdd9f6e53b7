// SPDX-License-Identifier: BSL-1.0
// Expert parallel: each device has experts of its own and a group of the words. A gate chooses an
// expert for each word; words go to where their expert is and come back by an all_to_all each, and
// so do their gradients. An expert takes at most `capacity` words of a group; the others skip it.
//
//     words         P<"expert", none, none>     groups, words of a group, width
//     experts       P<"expert", none, none>     experts, width, hidden
//     gate          P<none, none>
//     collectives   two all_to_alls forward, two backward
#include "recipe.hpp"
#include <shardwise/shardwise.hpp>

namespace {

using namespace recipes;

struct pod : mesh<axis<"expert", 4>> {};
struct single : mesh<axis<"expert", 1>> {};

constexpr index_t groups = 4, words = 16, experts = 8, capacity = 4, hidden = 32;

/// The mixture of experts, behind a linear map for all words.
template <class Dense, class Gate, class Up, class Down>
struct mixture {
  Dense dense;
  Gate gate;
  Up up;
  Down down;

  constexpr auto operator()(const auto& words_of_groups) const {
    const auto x = dense(words_of_groups);
    const auto chance = softmax<2>(einsum<"gsd,de->gse">(x, gate));
    // Which expert, and in which of the places that it has for the group: 1 or 0, no gradients.
    const auto chosen = one_hot<experts>(argmax<2>(chance));
    const auto place = cast<std::int32_t>(sum<2>(cumsum<1>(chosen) * chosen)) - 1;
    const auto sent = einsum<"gse,gsc->gsec">(chosen, one_hot<capacity>(place));

    using by_group = P<none, "expert", none, none>;
    using by_expert = P<"expert", none, none, none>;
    const auto theirs = reshard<by_expert>(einsum<"gsec,gsd->egcd">(sent, x));
    const auto h = relu(einsum<"egcd,edh->egch">(theirs, up));
    const auto back = reshard<by_group>(einsum<"egch,ehd->egcd">(h, down));

    const auto weight = unsqueeze<2>(sum<2>(chance * chosen));
    return x + einsum<"gsec,egcd->gsd">(sent, back) * weight;
  }
};

template <class M>
struct expert_parallel {
  using mesh_type = M;
  using input = tensor<M, P<"expert", none, none>, groups, words, width>;
  using model = mixture<nn::linear<tensor<M, P<none, none>, width, width>>,
                        tensor<M, P<none, none>, width, experts>,
                        tensor<M, P<"expert", none, none>, experts, width, hidden>,
                        tensor<M, P<"expert", none, none>, experts, hidden, width>>;
};

constexpr const cost_ledger& cost = step_cost<expert_parallel<pod>>;
static_assert(cost.collectives(collective::all_to_all, "expert") == 2 + 2);
// Each time a device sends three fourths of the places that its group has.
constexpr index_t places = experts * capacity * width * index_t{sizeof(float)};
static_assert(cost.bytes_moved(collective::all_to_all, "expert") == 4 * (places / 4 * 3));
// The loss, and the gradients of the two weights that all have.
static_assert(cost.collectives(collective::all_reduce, "expert") == 1 + 2);
static_assert(cost.collectives() == 4 + 3);

}  // namespace

int main() { return compare<expert_parallel<pod>, expert_parallel<single>>("expert parallel"); }
