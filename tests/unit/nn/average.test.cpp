// SPDX-License-Identifier: BSL-1.0
// Two nests together: traversals, and the moving average of weights.
#include "support/catch.hpp"
#include <shardwise/nn.hpp>
#include <shardwise/optim.hpp>
#include <shardwise/shardwise.hpp>

#include <string>
#include <tuple>
#include <vector>

using namespace shardwise;

namespace {

struct pod : mesh<axis<"data", 2>, axis<"model", 2>> {};
template <class T, class Spec, index_t... N>
using tensor = sharded_tensor<T, extents<N...>, layout<pod, Spec>>;

template <class Below, class Layers, class Seen, class Steps>
struct net {
  Below below;
  Layers layers;
  Seen seen;
  Steps steps;
};
template <class T>
using layer = nn::linear<tensor<T, P<none, "model">, 6, 4>, tensor<T, P<"model">, 4>>;
template <class T>
using model = net<nn::frozen<tensor<T, P<none>, 3>>, std::vector<layer<T>>,
                  nn::buffer<tensor<float, P<none>, 3>>, tensor<std::int32_t, P<none>, 1>>;

template <class T>
model<T> made(const device_pool& pool, std::uint64_t seed) {
  const auto any = [&]<class X>(std::uint64_t k) {
    using wide = sharded_tensor<float, typename X::extents_type, typename X::layout_type>;
    return X(internal::narrowed<typename X::value_type>(normal<wide>(pool, random_key{seed + k})));
  };
  const auto one = [&](std::uint64_t k) {
    return layer<T>{any.template operator()<decltype(layer<T>::weight)>(k),
                    any.template operator()<decltype(layer<T>::bias)>(k + 1)};
  };
  return {{any.template operator()<tensor<T, P<none>, 3>>(1)},
          {one(2), one(4)},
          {any.template operator()<tensor<float, P<none>, 3>>(6)},
          full<tensor<std::int32_t, P<none>, 1>>(pool, static_cast<std::int32_t>(seed))};
}
std::vector<float> values(const auto& x) {
  const auto host = to_host(cast<float>(x));
  return {host.elements().begin(), host.elements().end()};
}
void require_moved(const auto& mean, const std::vector<float>& before, const auto& now,
                   float rate) {
  const auto at = values(mean), towards = values(now);
  for (std::size_t i = 0; i < at.size(); ++i)
    REQUIRE(at[i] == Approx(before[i] + rate * (towards[i] - before[i])).margin(1e-6));
}

// An average that is split further takes what it needs of the weights: nothing is communicated.
using W = tensor<float, P<none, "model">, 6, 4>;
using split = nn::linear<tensor<float, P<"data", "model">, 6, 4>>;
constexpr auto moved = [](auto average, const auto& m, const auto& rate) {
  nn::move_towards(average, m, rate);
  return average;
};
static_assert(trace_nests<64, split, nn::linear<W>, scalar<float, pod>>(moved).collectives() == 0);

}  // namespace

TEST_CASE("two nests are visited together, by name") {
  const device_pool pool{pod{}};
  auto a = made<float>(pool, 1);
  const auto b = made<bfloat16>(pool, 20);
  std::vector<std::string> names;
  for_each_parameter(a, b, [&](const leaf_path& name, auto& x, const auto& y) {
    names.emplace_back(name.data(), name.size());
    x = internal::narrowed<typename std::remove_cvref_t<decltype(x)>::value_type>(y);
  });
  REQUIRE(names == std::vector<std::string>{"below", "layers.0.weight", "layers.0.bias",
                                            "layers.1.weight", "layers.1.bias", "seen", "steps"});
  REQUIRE(values(a.layers[1].weight) == values(b.layers[1].weight));
  REQUIRE(values(a.below.value) == values(b.below.value));

  // What a gradient leaves out is skipped, also of three nests.
  const auto zero = zeros_like(a);
  int count = 0;
  for_each_parameter(a, zero, [&](const leaf_path&, const auto&, const auto&) { ++count; });
  REQUIRE(count == 5);
  for_each_parameter(zero, a, b,
                     [&](const leaf_path&, const auto&, const auto&, const auto&) { ++count; });
  REQUIRE(count == 10);
  // A pattern is a pattern.
  REQUIRE(for_each_parameter(a, "layers.*.bias", [](const leaf_path&, const auto&) {}) == 2);
  // A function that takes the tensors only is called without their name.
  for_each_parameter(a, [&](const auto&) { ++count; });
  REQUIRE(count == 17);
  REQUIRE(for_each_parameter(a, "layers.*.bias", [&](auto& w) { w = zeros_like(w); }) == 2);
  REQUIRE(values(a.layers[1].bias) == std::vector<float>(values(b.layers[1].bias).size()));
  for_each_parameter(a, b, [&](auto& x, const auto& y) {
    x = internal::narrowed<typename std::remove_cvref_t<decltype(x)>::value_type>(y);
  });
  REQUIRE(values(a.layers[1].bias) == values(b.layers[1].bias));
  for_each_parameter(zero, a, b, [&](const auto&, const auto&, const auto&) { ++count; });
  REQUIRE(count == 22);
  a.layers.pop_back();
  REQUIRE_THROWS_WITH(for_each_parameter(a, b, [](const leaf_path&, const auto&, const auto&) {}),
                      contains("as many tensors in each range"));
}

TEST_CASE("an average moves towards the weights, in its own elements") {
  const device_pool pool{pod{}};
  const auto m = made<bfloat16>(pool, 20);
  auto average = cast_nest<float>(made<bfloat16>(pool, 1));
  const auto weight = values(average.layers[0].weight), seen = values(average.seen.value),
             below = values(average.below.value);
  nn::move_towards(average, m, 0.001F);
  require_moved(average.layers[0].weight, weight, m.layers[0].weight, 0.001F);
  require_moved(average.seen.value, seen, m.seen.value, 0.001F);
  REQUIRE(values(average.below.value) == below);
  REQUIRE(to_host(average.steps)(0) == 20);
  nn::move_towards(average, m, 1);
  REQUIRE(values(average.layers[1].bias) == values(m.layers[1].bias));
}

TEST_CASE("a compiled step moves an average in place, at the rate of the call") {
  const device_pool pool{pod{}};
  auto m = made<float>(pool, 1);
  auto average = m;  // shares the weights until it moves
  const auto first = values(m.layers[0].weight);
  auto train = step([](auto& now, auto& mean, const auto& rate) {
    for_each_parameter(now, "layers.*", [](const leaf_path&, auto& w) {
      using X = std::remove_cvref_t<decltype(w)>;
      if constexpr (std::is_same_v<typename X::value_type, float>) w = w * 2.0F;
    });
    nn::move_towards(mean, now, rate);
  });
  auto wanted = first;
  float scale = 1;
  for (float rate : {0.5F, 0.25F, 0.0F}) {
    train(m, average, rate);
    scale *= 2;
    for (std::size_t i = 0; i < wanted.size(); ++i)
      wanted[i] += rate * (first[i] * scale - wanted[i]);
  }
  REQUIRE(train.programs() == 1);
  const auto mean = values(average.layers[0].weight);
  for (std::size_t i = 0; i < wanted.size(); ++i) REQUIRE(mean[i] == Approx(wanted[i]));
  // A rate that is a tensor.
  nn::move_towards(average, m, full<scalar<float, pod>>(pool, 1.0F));
  REQUIRE(values(average.layers[0].weight) == values(m.layers[0].weight));
}

TEST_CASE("tensors whose layouts are values are averaged too") {
  const device_pool pool{pod{}};
  const any_tensor<float> x = iota<tensor<float, P<"data">, 4>>(pool);
  const any_tensor<float> whole = iota<tensor<float, P<none>, 4>>(pool);
  std::vector<any_tensor<float>> average{x * 0.0F}, now{x};
  nn::move_towards(average, now, 0.5F);
  REQUIRE(values(average[0]) == std::vector<float>{0, 0.5F, 1, 1.5F});
  std::vector<any_tensor<float>> other{whole};
  REQUIRE_THROWS_WITH(nn::move_towards(other, now, 0.5F), contains("tensor_type_differs"));
  other[0] = iota<tensor<float, P<none>, 1>>(pool);
  REQUIRE_THROWS_WITH(nn::move_towards(average, other, 0.5F), contains("operand_sizes_differ"));
}
