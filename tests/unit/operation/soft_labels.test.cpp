// SPDX-License-Identifier: BSL-1.0
// The cross entropy of probabilities: values and gradients against plain loops, on every layout.
#include "support/catch.hpp"
#include <shardwise/shardwise.hpp>

#include <cmath>
#include <tuple>
#include <vector>

using namespace shardwise;

namespace {

struct pod : mesh<axis<"data", 2>, axis<"model", 3>> {};
constexpr index_t rows = 4, classes = 7;
template <class Spec>
using logits = sharded_tensor<double, extents<rows, classes>, layout<pod, Spec, partial<>, uneven>>;
using whole = P<none, none>;
using split = P<"data", "model">;

constexpr auto entropy = [](const auto& x, const auto& p) {
  return cross_entropy<1>(x, p, across<"data", "model">);
};
constexpr auto total = [](const auto& x, const auto& p) {
  return reshard<P<>>(sum(entropy(x, p)));
};
template <class X, class Y>
constexpr auto cost_of = trace(entropy, abstract<logits<X>>(), abstract<logits<Y>>());
// The maximum, and all sums together.
static_assert(cost_of<split, split>.collectives() == 2);
static_assert(cost_of<split, whole>.collectives() == 2);
static_assert(cost_of<P<"data", none>, whole>.collectives() == 0);
static_assert(cost_of<whole, split>.collectives() == 1);

// Weights whose sums are no 1; some are 0.
double weight(index_t n, index_t c) { return static_cast<double>((3 * n + 2 * c) % 5) / 4; }
std::vector<double> values(const auto& x) {
  const auto host = to_host(x);
  return {host.elements().begin(), host.elements().end()};
}

template <class X, class Y>
void agrees(const device_pool& pool) {
  // Logits that would overflow without their maximum.
  const auto x = normal<logits<X>>(pool, random_key{1}) * 3.0 + 800.0;
  const logits<X> named = x;
  const auto p =
      generate<logits<Y>>(pool, [](const global_index& at) { return weight(at[0], at[1]); });
  const auto host = to_host(named);
  std::vector<double> losses, dx, dp;
  for (index_t n = 0; n < rows; ++n) {
    double sum = 0, mass = 0, loss = 0;
    for (index_t c = 0; c < classes; ++c) sum += std::exp(host(n, c) - 800);
    for (index_t c = 0; c < classes; ++c) mass += weight(n, c);
    for (index_t c = 0; c < classes; ++c) {
      const double log_p = host(n, c) - 800 - std::log(sum);
      loss -= weight(n, c) * log_p;
      dx.push_back(mass * std::exp(log_p) - weight(n, c));
      dp.push_back(-log_p);
    }
    losses.push_back(loss);
  }
  const auto near = [](const std::vector<double>& have, const std::vector<double>& want) {
    REQUIRE(have.size() == want.size());
    for (std::size_t i = 0; i < have.size(); ++i) REQUIRE(have[i] == Approx(want[i]).margin(1e-9));
  };
  near(values(entropy(named, p)), losses);
  const auto [slope, of_p] = gradient<0, 1>(total)(named, p);
  near(values(slope), dx);
  near(values(of_p), dp);

  const any_tensor<double> any_x = named, any_p = p;
  const any_tensor<double> any = entropy(any_x, any_p);
  near(values(any), losses);
  REQUIRE(any.layout() == any_tensor<double>(entropy(named, p)).layout());
  near(values(gradient(total)(any_x, any_p)), dx);
}

}  // namespace

TEST_CASE("probabilities are labels, split as they are") {
  const device_pool pool{pod{}};
  agrees<whole, whole>(pool);
  agrees<split, split>(pool);
  agrees<split, whole>(pool);
  agrees<whole, split>(pool);
  agrees<P<"data", none>, P<"data", none>>(pool);
  agrees<P<none, "model">, P<"data", "model">>(pool);
}

TEST_CASE("probabilities of one class are integer labels") {
  const device_pool pool{pod{}};
  const logits<split> x = normal<logits<split>>(pool, random_key{1});
  using indices = sharded_tensor<std::int32_t, extents<rows>, layout<pod, P<"data">>>;
  const auto labels = generate<indices>(
      pool, [](const global_index& at) { return static_cast<std::int32_t>(2 * at[0] % 7); });
  const auto p = generate<logits<split>>(
      pool, [](const global_index& at) { return at[1] == 2 * at[0] % 7 ? 1.0 : 0.0; });
  const auto soft = values(entropy(x, p)), hard = values(entropy(x, labels));
  for (std::size_t n = 0; n < soft.size(); ++n) REQUIRE(soft[n] == Approx(hard[n]));
  // Along another dimension, and in bfloat16, which is rounded once.
  const auto turned =
      values(cross_entropy<0>(transpose<1, 0>(x), transpose<1, 0>(p), across<"data", "model">));
  for (std::size_t n = 0; n < soft.size(); ++n) REQUIRE(turned[n] == Approx(hard[n]));
  const auto narrow = cast<bfloat16>(x);
  const auto rounded = values(entropy(narrow, cast<bfloat16>(p)));
  const auto wide = values(cast<bfloat16>(entropy(cast<float>(narrow), cast<float>(p))));
  REQUIRE(rounded == wide);
}

TEST_CASE("labels with fractions that are no probabilities are refused") {
  const device_pool pool{pod{}};
  const any_tensor<double> x = zeros<logits<whole>>(pool);
  const any_tensor<double> labels =
      zeros<sharded_tensor<double, extents<rows>, layout<pod, P<none>>>>(pool);
  REQUIRE_THROWS_WITH(cross_entropy<1>(x, labels), contains("operand_rank_differs"));
  const any_tensor<double> few =
      zeros<sharded_tensor<double, extents<rows, 1>, layout<pod, P<none, none>>>>(pool);
  REQUIRE_THROWS_WITH(cross_entropy<1>(x, few), contains("operand_sizes_differ"));
}
