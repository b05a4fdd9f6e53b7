// SPDX-License-Identifier: BSL-1.0
// Spatially split convolution: an image that is too large for one device is split by rows. A window
// of three rows at the edge of a part needs a row that the neighbour has: that halo is all that
// moves between layers, however large the image is.
//
//     images        P<none, none, "height", none>     batch, channels, rows, columns
//     filters       not split
//     collectives   a halo_exchange for each convolution and for the gradient of each activation;
//                   an all_reduce for the gradient of each filter and bias
#include "recipe.hpp"
#include <shardwise/shardwise.hpp>

namespace {

using namespace recipes;

struct pod : mesh<axis<"height", 4>> {};
struct single : mesh<axis<"height", 1>> {};

constexpr index_t images = 2, channels = 4, rows = 16, columns = 12;

template <class First, class Second>
struct two_convolutions {
  First first;
  Second second;
  constexpr auto operator()(const auto& x) const { return x + second(tanh(first(x))); }
};

template <class M>
struct spatial {
  using mesh_type = M;
  using input = tensor<M, P<none, none, "height", none>, images, channels, rows, columns>;
  template <index_t In, index_t Out>
  using layer =
      nn::convolution<tensor<M, P<none, none, none, none>, Out, In, 3, 3>, tensor<M, P<none>, Out>,
                      nn::with<paddings<1, 1>>, nn::as_computed, across_axes<"height">>;
  using model = two_convolutions<layer<channels, 8>, layer<8, channels>>;
};

constexpr const cost_ledger& cost = step_cost<spatial<pod>>;
// Both inputs forward, the gradient of the second result backward: nobody asks for that of the
// images. Each brings two rows, one from either side.
static_assert(cost.collectives(collective::halo_exchange, "height") == 2 + 1);
constexpr index_t halo(index_t features) {
  return 2 * columns * features * images * index_t{sizeof(float)};
}
static_assert(cost.bytes_moved(collective::halo_exchange, "height") ==
              halo(channels) + halo(8) + halo(channels));
// The loss, and the gradients of two filters and two biases.
static_assert(cost.collectives(collective::all_reduce, "height") == 1 + 4);
static_assert(cost.collectives() == 3 + 5);

}  // namespace

int main() { return compare<spatial<pod>, spatial<single>>("spatial"); }
