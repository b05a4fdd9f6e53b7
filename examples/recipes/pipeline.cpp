// SPDX-License-Identifier: BSL-1.0
// Pipeline: the layers of a model are cut into stages, and the stage is a dimension of all that
// they hold, split over devices, as in GSPMD. In each tick every stage works on the part of the
// batch that it has, and hands it on to the next; a batch of m parts takes m + stages - 1 ticks.
//
//     weights       P<"stage", none, none>     stage, in, out
//     activations   P<"stage", none, none>     stage, rows of a part, width
//     collectives   a collective_permute after each tick, in each direction; one sum at the end,
//                   since the last stage alone has the results
#include "recipe.hpp"
#include <shardwise/shardwise.hpp>

namespace {

using namespace recipes;

struct pod : mesh<axis<"stage", 4>> {};
struct single : mesh<axis<"stage", 1>> {};

constexpr index_t stages = 4, parts = 6, rows = 4, ticks = parts + stages - 1;

/// The layers of a model, as its stages.
template <class Weight, class Bias>
struct pipelined {
  Weight weight;
  Bias bias;

  constexpr auto operator()(const auto& batch_in_parts) const {
    return go_on<0>(batch_in_parts, 0.0F);
  }

 private:
  /// From tick `Tick` on: what came from the stage before, and what has left the last stage.
  template <index_t Tick>
  constexpr auto go_on(const auto& given, const auto& came, const auto&... done) const {
    if constexpr (Tick == ticks) {
      return reshard<P<none, none, none>>(stack<0>(done...));
    } else {
      const auto in = enter<Tick>(given, came);
      const auto out = in + tanh(einsum<"sbi,sio->sbo">(in, weight) + bias);
      if constexpr (Tick + 1 < stages)
        return go_on<Tick + 1>(given, handed_on(out), done...);
      else
        return go_on<Tick + 1>(given, handed_on(out), done..., left_last(out));
    }
  }
  /// The first stage gets the next part of the batch.
  template <index_t Tick>
  constexpr auto enter(const auto& given, const auto& came) const {
    if constexpr (Tick < parts)
      return where(equal(iota_like<0>(bias), 0), index_at<0, Tick>(given), came);
    else
      return came;
  }
  static constexpr auto handed_on(const auto& out) {
    const auto mine = enable_manual_sharding(out);
    return disable_manual_sharding<P<"stage", none, none>>(
        shift<"stage", 1, shift_end::zeros>(mine));
  }
  /// What the last stage has: a sum over the stages of which all terms but one are 0.
  constexpr auto left_last(const auto& out) const {
    return sum<0>(where(equal(iota_like<0>(bias), stages - 1), out, 0.0F));
  }
};

/// The same model on one device: one layer after the other.
template <class Weight, class Bias>
struct in_turn {
  Weight weight;
  Bias bias;

  constexpr auto operator()(const auto& x) const { return go_on<0>(x); }

 private:
  template <index_t Stage>
  constexpr auto go_on(const auto& x) const {
    if constexpr (Stage == stages) {
      return x;
    } else {
      const auto y = einsum<"mbi,io->mbo">(x, index_at<0, Stage>(weight));
      return go_on<Stage + 1>(x + tanh(y + index_at<0, Stage>(bias)));
    }
  }
};

template <class M, template <class...> class Model>
struct pipeline {
  using mesh_type = M;
  using input = tensor<M, P<none, none, none>, parts, rows, width>;
  using model = Model<tensor<M, P<"stage", none, none>, stages, width, width>,
                      tensor<M, P<"stage", none, none>, stages, 1, width>>;
};

constexpr const cost_ledger& cost = step_cost<pipeline<pod, pipelined>>;
// Between two ticks; what is handed on after the last one nobody needs.
static_assert(cost.collectives(collective::collective_permute, "stage") == 2 * (ticks - 1));
static_assert(cost.collectives(collective::all_reduce, "stage") == 1);
static_assert(cost.collectives() == 2 * (ticks - 1) + 1);
constexpr index_t handed = rows * width * index_t{sizeof(float)};
static_assert(cost.bytes_moved(collective::collective_permute, "stage") ==
              2 * (ticks - 1) * handed);
// A fourth of the state on each device.
static_assert(4 * state_bytes<pipeline<pod, pipelined>> == state_bytes<pipeline<single, in_turn>>);

}  // namespace

int main() { return compare<pipeline<pod, pipelined>, pipeline<single, in_turn>>("pipeline"); }
