// SPDX-License-Identifier: BSL-1.0
// Running means of narrow elements: their coefficients are numbers of float, which would be 1 as
// numbers of bfloat16.
#include "support/catch.hpp"
#include <shardwise/optim.hpp>
#include <shardwise/shardwise.hpp>

#include <vector>

using namespace shardwise;

namespace {

struct one : mesh<axis<"x", 1>> {};
struct four : mesh<axis<"x", 4>> {};
template <class Mesh>
using weights = sharded_tensor<bfloat16, extents<4>, layout<Mesh, P<"x">>>;

float rounded(float x) { return static_cast<float>(static_cast<bfloat16>(x)); }

// Checks a running mean or sum after some steps against one that is rounded once a step.
template <class Mesh, class Learn>
void keeps(const Learn& learn, const auto& of, double part, double weight, bool squared = false) {
  const device_pool pool{Mesh{}};
  weights<Mesh> w = ones<weights<Mesh>>(pool);
  auto state = learn.start(w);
  float want = 0;
  for (const float g : {3.0F, 0.5F, -1.0F, 0.0F, 0.0F}) {
    learn(w, state, full<weights<Mesh>>(pool, g), 0.0F);
    const float now = squared ? g * g : g;
    want = rounded(want * static_cast<float>(part) + now * static_cast<float>(weight));
    for (const auto have : to_host(of(state)).elements()) REQUIRE(static_cast<float>(have) == want);
  }
}
template <class Mesh>
void keep_all() {
  const auto first = [](const auto& state) { return state.first; };
  const auto second = [](const auto& state) { return state.second; };
  const auto momentum = [](const auto& state) { return state.momentum; };
  const auto squares = [](const auto& state) { return state.squares; };
  keeps<Mesh>(optim::adam{}, first, 0.9, 1 - 0.9);
  keeps<Mesh>(optim::adam{.beta2 = 0.997}, second, 0.997, 1 - 0.997, true);
  keeps<Mesh>(optim::adamw{.beta1 = 0.95}, first, 0.95, 1 - 0.95);
  keeps<Mesh>(optim::amsgrad{}, first, 0.9, 1 - 0.9);
  keeps<Mesh>(optim::lamb{}, first, 0.9, 1 - 0.9);
  keeps<Mesh>(optim::lion{}, momentum, 0.99, 1 - 0.99);
  keeps<Mesh>(optim::rmsprop{}, squares, 0.99, 1 - 0.99, true);
  keeps<Mesh>(optim::sgd{}, momentum, 0.9, 1);
}

}  // namespace

TEST_CASE("moments of narrow elements are kept by parts that are numbers of float") {
  keep_all<one>();
  keep_all<four>();
}
