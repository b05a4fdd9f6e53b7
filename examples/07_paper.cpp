// SPDX-License-Identifier: BSL-1.0
// A layout plan for one layer of a 405-billion-parameter transformer on 16,384 chips. The compiler
// checks that it is valid, how many bytes it moves, and that it fits into memory.
#include <shardwise/paper.hpp>

#include <iostream>

using namespace shardwise;

struct cluster : mesh<axis<"data", 128>, axis<"sequence", 16>, axis<"model", 8>> {};
static_assert(cluster::devices == 16'384);

constexpr index_t batch = 2048, length = 8192, width = 16'384, hidden = 53'248, layers = 126;

// Activations b s d; weights as they are stored: split over all axes, without replicas.
using activations = sharded_tensor<float, extents<batch, length, width>,
                                   layout<cluster, P<"data", by("sequence", "model"), none>>>;
using up = sharded_tensor<float, extents<width, hidden>,
                          layout<cluster, P<by("data", "sequence"), "model">>>;
using down = sharded_tensor<float, extents<hidden, width>,
                            layout<cluster, P<"model", by("data", "sequence")>>>;

// The feed-forward block: all communication is written as `reshard`.
constexpr auto feed_forward = [](const auto& x, const auto& w_up, const auto& w_down) {
  auto whole = reshard<P<"data", "sequence", none>>(x);
  auto h = gelu(einsum<"bsd,dh->bsh">(whole, reshard<P<none, "model">>(w_up)));
  auto terms = einsum<"bsh,hd->bsd">(h, reshard<P<"model", none>>(w_down));
  return x + reshard<P<"data", by("sequence", "model"), none>>(terms);
};

constexpr auto cost =
    trace(feed_forward, abstract<activations>(), abstract<up>(), abstract<down>());
static_assert(cost.collectives() == 4);
static_assert(cost.collectives(collective::all_gather) == 3);
static_assert(cost.collectives(collective::reduce_scatter, "model") == 1);
static_assert(cost.peak_bytes_per_device() <= 4_GiB, "a layer must fit beside the rest");

// The bytes of all layers on one chip: 1/16,384 of the weights.
constexpr auto bytes_of = [](auto weight) {
  return bytes_per_device(weight.mesh(), desc_of(weight));
};
constexpr index_t stored = layers * (bytes_of(abstract<up>()) + bytes_of(abstract<down>()));
static_assert(stored <= 64_MiB);

int main() {
  const auto mebibytes = [](index_t bytes) { return static_cast<double>(bytes) / double(1_MiB); };
  std::cout << type_name<cluster>() << "\n  x     " << type_name<activations>() << "\n  up    "
            << type_name<up>() << "\n  down  " << type_name<down>() << '\n';
  std::cout << "One feed-forward block on one chip: " << static_cast<double>(cost.flops()) * 1e-12
            << " TFLOP, peak " << mebibytes(cost.peak_bytes_per_device()) << " MiB\n";
  for (const axis_desc& axis : cluster::value.axes)
    std::cout << "  over " << axis.label << ": " << cost.collectives(axis.label) << " collectives, "
              << mebibytes(cost.bytes_moved(axis.label)) << " MiB received\n";
  std::cout << "Feed-forward weights of all " << layers
            << " blocks on one chip: " << mebibytes(stored) << " MiB\n";
}
