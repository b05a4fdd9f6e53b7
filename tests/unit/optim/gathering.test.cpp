// SPDX-License-Identifier: BSL-1.0
// Accumulation of a fully sharded model, gathered and reduced once for all micro-batches.
#include "support/catch.hpp"
#include "support/values.hpp"
#include <shardwise/nn.hpp>
#include <shardwise/optim.hpp>
#include <shardwise/shardwise.hpp>

#include <array>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

using namespace shardwise;

namespace {

struct pod : mesh<axis<"data", 2>, axis<"model", 2>> {};
template <class Spec, index_t... N>
using tensor = sharded_tensor<float, extents<N...>, layout<pod, Spec>>;
using rows = P<"data", none>;
using working =
    nn::mlp<nn::linear<tensor<P<none, "model">, 6, 8>, tensor<P<"model">, 8>>,
            nn::frozen<nn::linear<tensor<P<"model", none>, 8, 4>, tensor<P<none>, 4>, rows>>>;
using trained = nn::mlp<nn::linear<tensor<P<none, "model">, 6, 8>, tensor<P<"model">, 8>>,
                        nn::linear<tensor<P<"model", none>, 8, 4>, tensor<P<none>, 4>, rows>>;
struct sharded : nn::plan<nn::fully_sharded<"*", "data">> {};
using stored = nn::planned<trained, sharded>;
static_assert(nest_bytes<stored> * 2 == nest_bytes<trained>);
using X = tensor<rows, 4, 6>;
using Y = tensor<rows, 4, 4>;
constexpr std::size_t count = 3;
using batches = std::array<std::tuple<X, Y>, count>;

constexpr auto loss = [](const auto& m, const auto& x, const auto& wanted) {
  return nn::mse(m(x), wanted);
};
template <class Working>
constexpr auto in_each = [](const auto& m, const auto& x, const auto& wanted) {
  return loss(nn::distribute_module<Working>(m), x, wanted);
};
template <class Working>
constexpr auto once = optim::accumulated<"data">(optim::gathering<Working>(loss));
template <class Loss, class Model>
constexpr cost_ledger cost_of =
    trace_nests<2048, Model, optim::sgd_state<Model>, scalar<float, pod>, batches>(
        optim::functional_step{optim::training_step{Loss{}, optim::sgd{}}});

constexpr cost_ledger cost_each =
    cost_of<decltype(optim::accumulated<"data">(in_each<trained>)), stored>;
constexpr cost_ledger cost_once = cost_of<std::remove_const_t<decltype(once<trained>)>, stored>;
constexpr cost_ledger cost_whole = cost_of<decltype(optim::accumulated<"data">(loss)), trained>;
// Four weights: a gather for each and a reduction of its gradient, once or for each micro-batch.
static_assert(cost_once.collectives(collective::all_gather, "data") == 4);
static_assert(cost_once.collectives(collective::reduce_scatter, "data") == 4);
static_assert(cost_each.collectives(collective::all_gather, "data") == 4 * count);
static_assert(cost_each.collectives(collective::reduce_scatter, "data") == 4 * count);
// A reduce-scatter and a gather are an all-reduce: no more bytes than with replicated weights.
static_assert(cost_once.bytes_moved("data") == cost_whole.bytes_moved("data"));
static_assert(cost_once.collectives("model") == cost_each.collectives("model"));

std::vector<std::tuple<X, Y>> make_batches(const device_pool& pool) {
  std::vector<std::tuple<X, Y>> all;
  for (std::uint64_t k = 0; k < count; ++k)
    all.emplace_back(normal<X>(pool, random_key{6}.split(k)),
                     normal<Y>(pool, random_key{7}.split(k)));
  return all;
}

/// The loss and the model after a step of an accumulated loss.
template <class Loss, class Model>
std::pair<float, Model> after_a_step(const Loss& of, Model m,
                                     const std::vector<std::tuple<X, Y>>& all) {
  const optim::training_step learn{of, optim::sgd{}};
  auto state = learn.optimizer.start(m);
  auto value = learn(m, state, 0.1F, all);
  return {to_host(value)(), m};
}

}  // namespace

TEST_CASE("a fully sharded model is gathered once, and learns what the replicated one learns") {
  const device_pool pool{pod{}};
  const auto m = nn::initialise<trained>(pool, random_key{5});
  const stored kept = nn::distribute_module<sharded>(m);
  const auto all = make_batches(pool);
  const auto wanted = after_a_step(optim::accumulated<"data">(loss), m, all);
  const auto each = after_a_step(optim::accumulated<"data">(in_each<trained>), kept, all);
  const auto made = after_a_step(once<trained>, kept, all);
  REQUIRE(made.first == Approx(wanted.first));
  REQUIRE(each.first == Approx(wanted.first));
  require_close(values_of_nest<float>(made.second), values_of_nest<float>(wanted.second), 1e-5);
  require_close(values_of_nest<float>(each.second), values_of_nest<float>(wanted.second), 1e-5);
  REQUIRE(values_of_nest<float>(made.second) != values_of_nest<float>(kept));
  // Without accumulation it is a loss like others.
  const auto& [x, y] = all.front();
  REQUIRE(to_host(reshard<P<>>(optim::gathering<trained>(loss)(kept, x, y)))() ==
          Approx(to_host(reshard<P<>>(loss(m, x, y)))()));
}

TEST_CASE("what is frozen in a gathered model stays") {
  const device_pool pool{pod{}};
  using frozen_stored = nn::planned<working, sharded>;
  const auto m = nn::initialise<working>(pool, random_key{5});
  const frozen_stored kept = nn::distribute_module<sharded>(m);
  const auto all = make_batches(pool);
  const auto made = after_a_step(once<working>, kept, all);
  const auto wanted = after_a_step(optim::accumulated<"data">(loss), m, all);
  require_close(values_of_nest<float>(made.second), values_of_nest<float>(wanted.second), 1e-5);
  require_close(values_of_nest<float>(made.second.down.value), values_of_nest<float>(m.down.value),
                1e-5);
  constexpr cost_ledger frozen_cost =
      cost_of<std::remove_const_t<decltype(once<working>)>, frozen_stored>;
  STATIC_REQUIRE(frozen_cost.collectives(collective::all_gather, "data") == 4);
  STATIC_REQUIRE(frozen_cost.collectives(collective::reduce_scatter, "data") == 2);
}
