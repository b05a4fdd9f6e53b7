// SPDX-License-Identifier: BSL-1.0
// Losses of large and of infinite logits, with gradients, on one device and on several.
#include "support/catch.hpp"
#include <shardwise/nn.hpp>
#include <shardwise/shardwise.hpp>

#include <cmath>
#include <limits>
#include <vector>

using namespace shardwise;

namespace {

constexpr float infinite = std::numeric_limits<float>::infinity();
struct one : mesh<axis<"x", 1>> {};
struct four : mesh<axis<"x", 4>> {};
template <class Mesh, class Spec, index_t... N>
using tensor = sharded_tensor<float, extents<N...>, layout<Mesh, Spec>>;

std::vector<float> values(const auto& x) {
  const auto host = to_host(x);
  return {host.elements().begin(), host.elements().end()};
}
void near(const std::vector<float>& have, const std::vector<double>& want) {
  REQUIRE(have.size() == want.size());
  for (std::size_t i = 0; i < have.size(); ++i) {
    INFO(i);
    if (std::isinf(want[i]))
      REQUIRE(have[i] == static_cast<float>(want[i]));
    else
      REQUIRE(have[i] == Approx(want[i]).epsilon(1e-6).margin(1e-30));
  }
}

constexpr auto entropy = [](const auto& x, const auto& y) {
  return reshard<P<>>(nn::binary_cross_entropy(x, y));
};

// Logits that are right, undecided, wrong by far, and infinite.
template <class Mesh>
void binary() {
  using X = tensor<Mesh, P<"x">, 8>;
  const device_pool pool{Mesh{}};
  const std::vector<float> logits{20, -20, 0, 0, 100, -infinite, infinite, 2};
  const std::vector<float> wanted{1, 0, 1, 0.25F, 0, 0, 1, 0.25F};
  const auto x = distribute<X>(pool, logits), y = distribute<X>(pool, wanted);
  const double right = std::log1p(std::exp(-20.0)), two = std::log1p(std::exp(2.0)) - 0.5;
  const std::vector<double> losses{right, right, std::log(2), std::log(2), 100, 0, 0, two};
  double mean = 0;
  for (const double loss : losses) mean += loss / 8;
  near({to_host(entropy(x, y))()}, {mean});
  const double slope = 1 / (1 + std::exp(20.0));
  const std::vector<double> slopes{
      -slope / 8, slope / 8, -0.5 / 8, 0.25 / 8,
      1.0 / 8,    0,         0,        (1 / (1 + std::exp(-2.0)) - 0.25) / 8};
  near(values(gradient(entropy)(x, y)), slopes);
  // Each alone, so that a large one does not hide the small ones.
  for (std::size_t i = 0; i < losses.size(); ++i) {
    const auto of = full<X>(pool, logits[i]), to = full<X>(pool, wanted[i]);
    near({to_host(entropy(of, to))()}, {losses[i]});
    near({to_host(entropy(any_tensor<float>(of), any_tensor<float>(to)))()}, {losses[i]});
  }
  near(values(gradient(entropy)(any_tensor<float>(x), any_tensor<float>(y))), slopes);
  // A wrong infinite logit has an infinite loss.
  near({to_host(entropy(full<X>(pool, -infinite), full<X>(pool, 1.0F)))()}, {infinite});
}

constexpr auto of_probabilities = [](const auto& x, const auto& p) {
  return reshard<P<>>(sum(cross_entropy<1>(x, p, across<"x">)));
};
constexpr auto of_weighted = [](const auto& x, const auto& labels, const auto& weights) {
  return reshard<P<>>(nn::cross_entropy(x, labels, weights, across<"x">));
};

// Classes that are masked out, and not wanted.
template <class Mesh>
void masked_classes() {
  using X = tensor<Mesh, P<none, "x">, 2, 4>;
  const device_pool pool{Mesh{}};
  const auto x =
      distribute<X>(pool, std::vector<float>{0, 1, -infinite, 2, -infinite, -infinite, 3, 3});
  const auto p = distribute<X>(pool, std::vector<float>{0.5F, 0, 0, 0.5F, 0, 0, 0.25F, 0.75F});
  const double all = std::log(1 + std::exp(1.0) + std::exp(2.0));
  const double loss = all - 1 + std::log(2);
  near({to_host(of_probabilities(x, p))()}, {loss});
  near({to_host(of_probabilities(any_tensor<float>(x), any_tensor<float>(p)))()}, {loss});
  const std::vector<double> slopes{
      std::exp(-all) - 0.5, std::exp(1 - all), 0, std::exp(2 - all) - 0.5, 0, 0, 0.25, -0.25};
  near(values(gradient(of_probabilities)(x, p)), slopes);
  near(values(gradient(of_probabilities)(any_tensor<float>(x), any_tensor<float>(p))), slopes);

  // A label whose class has no weight.
  const auto labels = distribute<sharded_tensor<std::int32_t, extents<2>, layout<Mesh, P<none>>>>(
      pool, std::vector<std::int32_t>{2, 3});
  const auto weights = distribute<tensor<Mesh, P<"x">, 4>>(pool, std::vector<float>{1, 1, 0, 2});
  near({to_host(of_weighted(x, labels, weights))()}, {std::log(2)});
  near(values(gradient(of_weighted)(x, labels, weights)), {0, 0, 0, 0, 0, 0, 0.5, -0.5});
}

}  // namespace

TEST_CASE(
    "a binary cross entropy is accurate where it is small, and right logits may be infinite") {
  binary<one>();
  binary<four>();
}

TEST_CASE("classes without probability do not count, whatever their logits") {
  masked_classes<one>();
  masked_classes<four>();
}
