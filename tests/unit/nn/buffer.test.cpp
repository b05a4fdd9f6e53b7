// SPDX-License-Identifier: BSL-1.0
// Buffers: what a mixed-precision policy and optimizers do with them.
#include "support/catch.hpp"
#include <shardwise/nn.hpp>
#include <shardwise/optim.hpp>
#include <shardwise/shardwise.hpp>

#include <cmath>
#include <type_traits>
#include <vector>

using namespace shardwise;

namespace {

struct pod : mesh<axis<"data", 2>> {};
struct one : mesh<axis<"data", 1>> {};

template <class M, class Spec, index_t... N>
using tensor = sharded_tensor<float, extents<N...>, layout<M, Spec>>;
template <class M>
using X = tensor<M, P<"data", none>, 8, 6>;
template <class M>
using channels = tensor<M, P<none>, 4>;

template <class Layer, class Norm>
struct net {
  Layer layer;
  Norm norm;

  constexpr auto operator()(const auto& x, nn::momentum moves) const {
    return norm(layer(x), moves);
  }
  constexpr auto operator()(const auto& x) const { return norm(layer(x)); }
};
template <class M>
using model = net<nn::linear<tensor<M, P<none, none>, 6, 4>>,
                  nn::batch_norm<channels<M>, channels<M>, nn::running_moments<channels<M>>,
                                 across_axes<"data">>>;

constexpr nn::elements<float, bfloat16> mixed;
using narrow = with_fractions<bfloat16, model<pod>>;
static_assert(std::is_same_v<decltype(narrow::norm.scale)::value_type, bfloat16>);
static_assert(std::is_same_v<decltype(narrow::norm.running), decltype(model<pod>::norm.running)>);

// A rate at which moments of bfloat16 would not move: each step is below their last digit.
constexpr nn::momentum slow{0.002};
constexpr auto loss = [](const auto& m, const auto& x) {
  const auto [y, running] = mixed.compute(m)(mixed.compute(x), slow);
  return std::pair{reshard<P<>>(mean(square(mixed.output(y) - 1.0F))), running};
};

template <class M>
std::vector<float> trained() {
  const device_pool pool{M{}};
  auto m = nn::initialise<model<M>>(pool, random_key{1});
  m.layer.weight = m.layer.weight * 3.0F;
  const auto x = normal<X<M>>(pool, random_key{2});
  static constexpr optim::sgd learn;
  auto state = learn.start(m);
  auto train = step([](auto& net_now, auto& kept, const auto& in) {
    const auto [results, slopes] = value_and_grad(loss)(net_now, in);
    learn(net_now, kept, slopes, 0.0F);
    net_now.norm.running.value = results.second;
    return results.first;
  });
  for (int i = 0; i < 50; ++i) (void)train(m, state, x);
  REQUIRE(train.programs() == 1);

  // The moments of the batch, as the policy computes it.
  const auto y = to_host(cast<float>(mixed.compute(m.layer)(mixed.compute(x))));
  std::vector<float> all;
  for (index_t c = 0; c < 4; ++c) {
    double center = 0, squares = 0;
    for (index_t i = 0; i < 8; ++i) center += y(i, c) / 8.0;
    for (index_t i = 0; i < 8; ++i) squares += std::pow(y(i, c) - center, 2) / 7.0;
    const double part = 1 - std::pow(1 - slow.rate, 50);
    all.push_back(to_host(m.norm.running.value.mean)(c));
    all.push_back(to_host(m.norm.running.value.variance)(c));
    REQUIRE(all[all.size() - 2] == Approx(part * center).margin(1e-4));
    REQUIRE(all.back() == Approx(1 + part * (squares - 1)).epsilon(1e-4));
  }
  // Evaluation in narrow elements reads them as they are.
  const auto z = to_host(mixed.output(mixed.compute(m)(mixed.compute(x))));
  REQUIRE(z(3, 1) == Approx((y(3, 1) - all[2]) / std::sqrt(all[3] + 1e-5)).epsilon(0.01));
  return all;
}

}  // namespace

TEST_CASE("running moments keep their elements under a policy, and move") {
  const auto many = trained<pod>(), alone = trained<one>();
  for (std::size_t i = 0; i < many.size(); ++i) REQUIRE(many[i] == Approx(alone[i]).margin(1e-4));
}

TEST_CASE("buffers have no masters, and are not converted with a nest") {
  const device_pool pool{pod{}};
  const auto m = cast_nest<bfloat16>(nn::initialise<model<pod>>(pool, random_key{1}));
  STATIC_REQUIRE(std::is_same_v<decltype(m.norm.running), decltype(model<pod>::norm.running)>);
  const auto state = optim::with_masters<"data">(optim::sgd{}).start(m);
  STATIC_REQUIRE(
      std::is_same_v<decltype(state.masters.norm.running), decltype(model<pod>::norm.running)>);
}
