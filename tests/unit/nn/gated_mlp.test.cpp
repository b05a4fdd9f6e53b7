// SPDX-License-Identifier: BSL-1.0
// `nn::gated_mlp`: its values against loops, its communication, its gradients, and layouts that are
// values.
#include "support/catch.hpp"
#include "support/values.hpp"
#include <shardwise/nn.hpp>
#include <shardwise/shardwise.hpp>

#include <cmath>
#include <cstddef>
#include <vector>

using namespace shardwise;

namespace {

constexpr index_t rows = 4, width = 6, hidden = 8;

struct pod : mesh<axis<"data", 2>, axis<"model", 2>> {};
template <class Spec, index_t... N>
using tensor = sharded_tensor<float, extents<N...>, layout<pod, Spec>>;
using X = tensor<P<"data", none>, rows, width>;
using columns = nn::linear<tensor<P<none, "model">, width, hidden>>;
using split = nn::gated_mlp<
    columns, columns,
    nn::linear<tensor<P<"model", none>, hidden, width>, nn::no_bias, P<"data", none>>>;

constexpr auto call = [](const auto& m, const auto& x) { return m(x); };
constexpr auto loss = [](const auto& m, const auto& x) { return reshard<P<>>(nn::mse(m(x), x)); };

// Only the sum of the third layer is reduced.
constexpr cost_ledger cost = trace_nests<64, split, X>(call);
static_assert(cost.collectives() == 1);
static_assert(cost.collectives(collective::all_reduce, "model") == 1);

std::vector<float> product(const std::vector<float>& a, const std::vector<float>& b, index_t inner,
                           index_t outer) {
  std::vector<float> out;
  for (index_t r = 0; r < rows; ++r)
    for (index_t c = 0; c < outer; ++c) {
      float sum = 0;
      for (index_t k = 0; k < inner; ++k)
        sum +=
            a[static_cast<std::size_t>(r * inner + k)] * b[static_cast<std::size_t>(k * outer + c)];
      out.push_back(sum);
    }
  return out;
}

}  // namespace

TEST_CASE("a gated mlp multiplies what it passes on by the activation of its gate") {
  const device_pool pool{pod{}};
  const auto m = nn::initialise<split>(pool, random_key{1});
  const X x = normal<X>(pool, random_key{2});
  const std::vector<float> gates = product(values(x), values(m.gate.weight), width, hidden);
  std::vector<float> passed = product(values(x), values(m.up.weight), width, hidden);
  for (std::size_t i = 0; i < passed.size(); ++i) passed[i] *= gates[i] / (1 + std::exp(-gates[i]));
  const std::vector<float> wanted = product(passed, values(m.down.weight), hidden, width);
  require_close(values(m(x)), wanted, 1e-5);
  pool.reset_counters();
  (void)values(m(x));
  CHECK(pool.counters().collectives() == cost.collectives());
}

TEST_CASE("a gated mlp has the same values and gradients under every layout") {
  using whole_columns = nn::linear<tensor<P<none, none>, width, hidden>>;
  using whole = nn::gated_mlp<whole_columns, whole_columns,
                              nn::linear<tensor<P<none, none>, hidden, width>, nn::no_bias>>;
  const device_pool pool{pod{}};
  const auto m = nn::initialise<split>(pool, random_key{1});
  const X x = normal<X>(pool, random_key{2});
  const auto same = nn::distribute_module<whole>(m);
  require_close(values(same(x)), values(m(x)), 1e-5);
  const auto of_split = gradient(loss)(m, x);
  const auto of_whole = gradient(loss)(same, x);
  require_close(values(of_whole.gate.weight), values(of_split.gate.weight), 1e-5);
  require_close(values(of_whole.up.weight), values(of_split.up.weight), 1e-5);
  require_close(values(of_whole.down.weight), values(of_split.down.weight), 1e-5);
}

TEST_CASE("a gated mlp takes tensors whose layouts are values, and another activation") {
  using any = any_tensor<float>;
  const device_pool pool{pod{}};
  const auto m = nn::initialise<split>(pool, random_key{1});
  const X x = normal<X>(pool, random_key{2});
  const nn::gated_mlp<nn::linear<any>, nn::linear<any>,
                      nn::linear<any, nn::no_bias, P<"data", none>>>
      free{{any(m.gate.weight)}, {any(m.up.weight)}, {any(m.down.weight)}};
  CHECK(values(free(any(x))) == values(m(x)));
  const nn::gated_mlp<columns, columns, decltype(m.down), nn::with_gelu> other{m.gate, m.up,
                                                                               m.down};
  require_close(values(other(x)), values(m.down(gelu(m.gate(x)) * m.up(x))), 1e-6);
}
