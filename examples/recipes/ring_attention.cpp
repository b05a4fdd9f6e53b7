// SPDX-License-Identifier: BSL-1.0
// Ring attention: the positions of a sequence are split, and no device ever has all keys. Keys and
// values go round the ring of devices; each device meets its queries with the block that it has,
// and adds up what it has met under the greatest score so far.
//
//     stream        P<none, "ring", none>
//     weights       not split
//     collectives   of keys and of values a collective_permute for each further device, in each
//                   direction; an all_reduce for the gradient of each weight
#include "recipe.hpp"
#include <shardwise/shardwise.hpp>

namespace {

using namespace recipes;

struct pod : mesh<axis<"ring", 4>> {};
struct single : mesh<axis<"ring", 1>> {};

constexpr index_t sequences = 4, length = 16, heads = 2, size = 8;
constexpr float scale = 0.35355339F;  // 1 / sqrt(size)
constexpr float unseen = -1e9F;       // the score of a key that a query does not meet

/// Causal attention of what one device has: `[batch, heads, positions, size]`, device by device.
template <index_t Devices>
struct round_the_ring {
  constexpr auto operator()(const auto& q, const auto& k, const auto& v) const {
    const auto scores = visible<0>(q, k);
    const auto most = stop_gradient(max<3>(scores, keep_dims));
    const auto terms = exp(scores - most);
    return go_on<1>(q, k, v, most, sum<3>(terms, keep_dims), einsum<"bhqk,bhke->bhqe">(terms, v));
  }

 private:
  /// `total` and `weights` are the sums over the blocks before `Block`, relative to the maximum
  /// `most`.
  template <index_t Block>
  static constexpr auto go_on(const auto& q, const auto& last_k, const auto& last_v,
                              const auto& most, const auto& weights, const auto& total) {
    if constexpr (Block == Devices) {
      return total / weights;
    } else {
      const auto k = shift<"ring", 1>(last_k), v = shift<"ring", 1>(last_v);
      const auto scores = visible<Block>(q, k);
      const auto more = stop_gradient(maximum(most, max<3>(scores, keep_dims)));
      const auto shrunk = exp(most - more);
      const auto terms = exp(scores - more);
      return go_on<Block + 1>(q, k, v, more, weights * shrunk + sum<3>(terms, keep_dims),
                              total * shrunk + einsum<"bhqk,bhke->bhqe">(terms, v));
    }
  }
  /// The scores of the keys that come from `Block` devices before; later positions are not met.
  template <index_t Block>
  static constexpr auto visible(const auto& q, const auto& k) {
    constexpr index_t positions_each = length / Devices;
    const auto scores = einsum<"bhqe,bhke->bhqk">(q, k) * scale;
    const auto here = axis_index<"ring">(q);
    const auto from = remainder(here + (Devices - Block), Devices);
    return where(iota_like<2>(scores) + here * positions_each >=
                     iota_like<3>(scores) + from * positions_each,
                 scores, unseen);
  }
};

template <class Norm, class In, class Out>
struct ring_layer {
  Norm norm;
  In query, key, value;
  Out out;

  constexpr auto operator()(const auto& x) const {
    const auto h = norm(x);
    const auto mine = [&](const auto& weight) {
      return enable_manual_sharding(einsum<"bsd,dhe->bhse">(h, weight));
    };
    using mesh_type = mesh_of<std::remove_cvref_t<decltype(x)>>;
    constexpr round_the_ring<mesh_type::devices> attend;
    const auto met = disable_manual_sharding<P<none, none, "ring", none>>(
        attend(mine(query), mine(key), mine(value)));
    return x + einsum<"bhse,hed->bsd">(met, out);
  }
};

template <class M>
struct ring_attention {
  using mesh_type = M;
  using input = tensor<M, P<none, "ring", none>, sequences, length, width>;
  using model = ring_layer<nn::layer_norm<tensor<M, P<none>, width>>,
                           tensor<M, P<none, none, none>, width, heads, size>,
                           tensor<M, P<none, none, none>, heads, size, width>>;
};

constexpr const cost_ledger& cost = step_cost<ring_attention<pod>>;
// Keys and values, three further devices, two directions.
static_assert(cost.collectives(collective::collective_permute, "ring") == 2 * 3 * 2);
constexpr index_t block = sequences * heads * (length / 4) * size * index_t{sizeof(float)};
static_assert(cost.bytes_moved(collective::collective_permute, "ring") == 2 * 3 * 2 * block);
// The loss, and the gradients of six weights.
static_assert(cost.collectives(collective::all_reduce, "ring") == 1 + 6);
static_assert(cost.collectives() == 12 + 7);

}  // namespace

int main() { return compare<ring_attention<pod>, ring_attention<single>>("ring attention"); }
