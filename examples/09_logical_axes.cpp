// SPDX-License-Identifier: BSL-1.0
// A transformer block whose tensors have named dimensions. Rules state once which mesh axes split
// the names; another strategy is another set of rules, and the block does not change.
#include <shardwise/shardwise.hpp>

#include <algorithm>
#include <cmath>
#include <iostream>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};

using batch = dim<"batch", 8>;
using length = dim<"length", 4>;
using embed = dim<"embed", 16>;
using heads = dim<"heads", 4>;
using head = dim<"head", 8>;  // the width of one head
using hidden = dim<"hidden", 64>;
constexpr float scale = 0.35355339F;  // 1 / sqrt(the width of one head)

// Megatron: the weights of heads and hidden units are split, and never moved.
struct tensor_parallel {
  struct stored
      : axis_rules<pod, maps<"batch", "data">, maps<"heads", "model">, maps<"hidden", "model">,
                   maps<"length", none>, maps<"embed", none>, maps<"head", none>> {};
  using computed = stored;
};
// Fully sharded: every weight is stored in eighths, and gathered where it is used.
struct fully_sharded {
  struct stored : axis_rules<pod, maps<"batch", by("data", "model")>,
                             maps<"embed", by("data", "model"), none>, maps<"length", none>,
                             maps<"heads", none>, maps<"hidden", none>, maps<"head", none>> {};
  struct computed : axis_rules<pod, maps<"batch", by("data", "model")>, maps<"embed", none>,
                               maps<"length", none>, maps<"heads", none>, maps<"hidden", none>,
                               maps<"head", none>> {};
};

template <class Strategy>
struct block {
  template <class... Dims>
  using stored = named_tensor<typename Strategy::stored, float, Dims...>;
  template <class... Dims>
  using spec = named_spec<typename Strategy::computed, Dims...>;

  using activations = stored<batch, length, embed>;
  using into_heads = stored<embed, heads, head>;
  using out_of_heads = stored<heads, head, embed>;
  using up = stored<embed, hidden>;
  using down = stored<hidden, embed>;

  static constexpr auto run = [](const auto& x, const auto& wq, const auto& wk, const auto& wv,
                                 const auto& wo, const auto& w_up, const auto& w_down) {
    const auto seen = [&](const auto& w) {
      return einsum<"ble,ehd->blhd">(x, reshard<spec<embed, heads, head>>(w));
    };
    const auto weights = softmax<3>(einsum<"blhd,bmhd->bhlm">(seen(wq), seen(wk)) * scale);
    const auto mixed = einsum<"bhlm,bmhd->blhd">(weights, seen(wv));
    const auto attended = einsum<"blhd,hde->ble">(mixed, reshard<spec<heads, head, embed>>(wo));
    const auto y = x + reshard<spec<batch, length, embed>>(attended);
    const auto h = gelu(einsum<"ble,eh->blh">(y, reshard<spec<embed, hidden>>(w_up)));
    const auto out = einsum<"blh,he->ble">(h, reshard<spec<hidden, embed>>(w_down));
    return y + reshard<spec<batch, length, embed>>(out);
  };

  static constexpr auto cost =
      trace(run, abstract<activations>(), abstract<into_heads>(), abstract<into_heads>(),
            abstract<into_heads>(), abstract<out_of_heads>(), abstract<up>(), abstract<down>());
};

// The cost of each set of rules, known at compile time: two reductions for the first, six gathered
// weights for the second.
static_assert(block<tensor_parallel>::cost.collectives() == 2);
static_assert(block<tensor_parallel>::cost.collectives(collective::all_reduce) == 2);
static_assert(block<fully_sharded>::cost.collectives(collective::all_gather) == 6);

template <class Strategy>
auto computed(device_pool& pool) {
  using b = block<Strategy>;
  std::cout << "  x      " << type_name<typename b::activations>() << "\n  heads  "
            << type_name<typename b::into_heads>() << "\n  up     " << type_name<typename b::up>()
            << "\n  " << b::cost.collectives() << " collectives, " << b::cost.bytes_moved()
            << " bytes received by a device\n";
  return to_host(b::run(normal<typename b::activations>(pool, random_key{1}),
                        normal<typename b::into_heads>(pool, random_key{2}),
                        normal<typename b::into_heads>(pool, random_key{3}),
                        normal<typename b::into_heads>(pool, random_key{4}),
                        normal<typename b::out_of_heads>(pool, random_key{5}),
                        normal<typename b::up>(pool, random_key{6}),
                        normal<typename b::down>(pool, random_key{7})));
}

int main() {
  device_pool pool{pod{}};
  std::cout << "tensor parallel\n";
  const auto one = computed<tensor_parallel>(pool);
  std::cout << "fully sharded\n";
  const auto other = computed<fully_sharded>(pool);  // the only line that differs

  float largest = 0;
  float difference = 0;
  for (index_t i = 0; i < one.size(); ++i) {
    largest = std::max(largest, std::abs(one.data()[i]));
    difference = std::max(difference, std::abs(one.data()[i] - other.data()[i]));
  }
  std::cout << "largest difference: " << difference << " of " << largest << "\n\n";

  // Prints why a dimension got its axes.
  std::cout << "a weight, fully sharded:\n" << explain<fully_sharded::stored, embed, hidden>();
  std::cout << "a batch, fully sharded:\n" << explain<fully_sharded::stored, batch, embed>();
  return difference < 1e-4F * largest ? 0 : 1;
}
