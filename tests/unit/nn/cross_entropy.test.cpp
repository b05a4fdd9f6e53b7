// SPDX-License-Identifier: BSL-1.0
// Mean cross entropy with label smoothing, weights of classes and labels that do not count.
#include "support/catch.hpp"
#include "support/refusal.hpp"
#include <shardwise/nn.hpp>
#include <shardwise/shardwise.hpp>

#include <cmath>
#include <vector>

using namespace shardwise;

namespace {

struct pod : mesh<axis<"data", 2>, axis<"model", 3>> {};
constexpr index_t rows = 6, classes = 5;
template <class T, class Spec, index_t... N>
using tensor = sharded_tensor<T, extents<N...>, layout<pod, Spec, partial<>, uneven>>;
template <class Spec>
using logits = tensor<double, Spec, rows, classes>;
using labels = tensor<std::int32_t, P<"data">, rows>;
using weights = tensor<double, P<none>, classes>;
using split_weights = tensor<double, P<"model">, classes>;
constexpr auto both = across<"data", "model">;

std::int32_t label(index_t n) {
  return n % 3 == 2 ? -100 : static_cast<std::int32_t>(2 * n % classes);
}
double weight(index_t c) { return 0.5 + 0.25 * static_cast<double>(c); }

struct plain_loop {
  double part = 0;
  bool weighted = false, ignoring = false;

  /// The mean loss, and its gradient.
  std::pair<double, std::vector<double>> of(const auto& x) const {
    double loss = 0, mass = 0;
    std::vector<double> slope;
    for (index_t n = 0; n < rows; ++n) {
      const bool counts = !ignoring || label(n) != -100;
      const index_t y = label(n) == -100 ? 0 : label(n);
      const double of_label = !counts ? 0 : weighted ? weight(y) : 1;
      mass += of_label;
      double sum = 0, wanted = 0;
      for (index_t c = 0; c < classes; ++c) sum += std::exp(x(n, c));
      const auto target = [&](index_t c) {
        const double even = part / static_cast<double>(classes) + (c == y ? 1 - part : 0);
        return !counts ? 0 : even * (weighted ? weight(c) : 1);
      };
      for (index_t c = 0; c < classes; ++c) wanted += target(c);
      for (index_t c = 0; c < classes; ++c) {
        loss -= target(c) * (x(n, c) - std::log(sum));
        slope.push_back(wanted * std::exp(x(n, c)) / sum - target(c));
      }
    }
    for (double& each : slope) each /= mass;
    return {loss / mass, slope};
  }
};

template <class Loss, class X>
void agrees(const Loss& loss, const X& x, const plain_loop& loop) {
  const auto total = [&](const auto& y) { return reshard<P<>>(loss(y)); };
  const auto [value, slope] = loop.of(to_host(x));
  REQUIRE(to_host(total(x))() == Approx(value));
  const auto host = to_host(gradient(total)(x));
  for (std::size_t i = 0; i < slope.size(); ++i)
    REQUIRE(host.elements()[i] == Approx(slope[i]).margin(1e-12));
}

constexpr auto smooth = [](const auto& x, const auto& y) {
  return nn::cross_entropy(x, y, nn::smoothing{0.1}, across<"model">);
};
constexpr auto weigh = [](const auto& x, const auto& y, const auto& w) {
  return nn::cross_entropy(x, y, w, nn::smoothing{0.1}, both);
};
constexpr auto ignore = [](const auto& x, const auto& y) {
  return nn::cross_entropy_ignoring<-100>(x, y, both);
};
using split = logits<P<"data", "model">>;
// Smoothing reduces no more than the labels alone, and is left pending as they are.
static_assert(trace(smooth, abstract<split>(), abstract<labels>()).collectives() == 2);
static_assert(
    trace(smooth, abstract<logits<P<"data", none>>>(), abstract<labels>()).collectives() == 0);
// Beside these: the sum of weights, and the weights themselves if they are split.
static_assert(
    trace(weigh, abstract<split>(), abstract<labels>(), abstract<weights>()).collectives() == 3);
static_assert(trace(weigh, abstract<split>(), abstract<labels>(), abstract<split_weights>())
                  .collectives() == 5);
static_assert(trace(ignore, abstract<split>(), abstract<labels>()).collectives() == 3);

}  // namespace

TEMPLATE_TEST_CASE("labels are smoothed, weighted and ignored", "", (P<"data", "model">),
                   (P<"data", none>), (P<none, "model">), (P<none, none>)) {
  const device_pool pool{pod{}};
  const auto x = normal<logits<TestType>>(pool, random_key{1});
  const auto all = generate<labels>(
      pool, [](const global_index& at) { return label(at[0]) == -100 ? 0 : label(at[0]); });
  const auto some = generate<labels>(pool, [](const global_index& at) { return label(at[0]); });
  const auto w = generate<weights>(pool, [](const global_index& at) { return weight(at[0]); });
  const auto parts =
      generate<split_weights>(pool, [](const global_index& at) { return weight(at[0]); });
  agrees([&](const auto& y) { return nn::cross_entropy(y, all, both); }, x, {});
  agrees([&](const auto& y) { return nn::cross_entropy(y, all, nn::smoothing{0.1}, both); }, x,
         {0.1});
  agrees([&](const auto& y) { return nn::cross_entropy(y, all, w, both); }, x, {0, true});
  agrees([&](const auto& y) { return nn::cross_entropy(y, all, parts, nn::smoothing{0.2}, both); },
         x, {0.2, true});
  agrees([&](const auto& y) { return nn::cross_entropy_ignoring<-100>(y, some, both); }, x,
         {0, false, true});
  agrees(
      [&](const auto& y) {
        return nn::cross_entropy_ignoring<-100>(y, some, both, nn::smoothing{0.1}, w);
      },
      x, {0.1, true, true});
}

TEST_CASE("probabilities are smoothed like labels") {
  const device_pool pool{pod{}};
  const auto x = normal<split>(pool, random_key{1});
  const auto y = generate<labels>(
      pool, [](const global_index& at) { return static_cast<std::int32_t>(at[0] % classes); });
  const auto p = generate<split>(
      pool, [](const global_index& at) { return at[1] == at[0] % classes ? 1.0 : 0.0; });
  const auto value = [](const auto& loss) { return to_host(reshard<P<>>(loss))(); };
  REQUIRE(value(nn::cross_entropy(x, p, both)) == Approx(value(nn::cross_entropy(x, y, both))));
  REQUIRE(value(nn::cross_entropy(x, p, nn::smoothing{0.3}, both)) ==
          Approx(value(nn::cross_entropy(x, y, nn::smoothing{0.3}, both))));
  // The mean of weighted probabilities is over all of them.
  const auto w = generate<weights>(pool, [](const global_index& at) { return weight(at[0]); });
  double mass = 0;
  for (index_t n = 0; n < rows; ++n) mass += weight(n % classes);
  REQUIRE(value(nn::cross_entropy(x, p, w, both)) ==
          Approx(value(nn::cross_entropy(x, y, w, both)) * mass / rows));
}

TEST_CASE("narrow logits are rounded once") {
  const device_pool pool{pod{}};
  using narrow = tensor<bfloat16, P<"data", none>, rows, classes>;
  const narrow x = cast<bfloat16>(normal<logits<P<"data", none>>>(pool, random_key{1}));
  const auto y = generate<labels>(pool, [](const global_index& at) { return label(at[0]); });
  const auto loss = reshard<P<>>(nn::cross_entropy_ignoring<-100>(x, y, both));
  const auto wide = reshard<P<>>(nn::cross_entropy_ignoring<-100>(cast<float>(x), y, both));
  REQUIRE(static_cast<float>(to_host(loss)()) == Approx(to_host(wide)()).epsilon(0.01));
}

TEST_CASE("a probability is a number from 0 to 1") {
  using L = logits<P<"data", none>>;
  const device_pool pool{pod{}};
  const auto x = ones<L>(pool);
  const auto y = zeros<labels>(pool);
  const any_tensor<double> any_x = x;
  const any_tensor<std::int32_t> any_y = y;
  const random_key key{1};
  const auto wrong = violation::number_is_out_of_range;
  for (const double part : {1.5, -1.0, std::nan("")}) {
    CHECK(refusal([&] { return nn::cross_entropy(x, y, nn::smoothing{part}); }) == wrong);
    CHECK(refusal([&] { return nn::cross_entropy(any_x, any_y, nn::smoothing{part}); }) == wrong);
    CHECK(refusal([&] { return dropout(x, key, part); }) == wrong);
    CHECK(refusal([&] { return dropout(any_x, key, part); }) == wrong);
  }
  CHECK(refusal([&] { return nn::dropout<std::ratio<3, 2>>{}(x, key); }) == wrong);
  for (const double part : {0.0, 0.5, 1.0})
    CHECK(refusal([&] { return dropout(x, key, part); }) == violation::nothing);
}

TEST_CASE("a label that is beyond the range of labels ignores none") {
  const device_pool pool{pod{}};
  using rows = sharded_tensor<double, extents<2, 160>, layout<pod, P<none, none>>>;
  using bytes = sharded_tensor<std::uint8_t, extents<2>, layout<pod, P<none>>>;
  const auto x = normal<rows>(pool, random_key{1});
  const auto y = distribute<bytes>(pool, std::vector<std::uint8_t>{156, 3});  // -100 modulo 256
  REQUIRE(to_host(nn::cross_entropy_ignoring<-100>(x, y))() ==
          Approx(to_host(nn::cross_entropy(x, y))()));
  REQUIRE(to_host(nn::cross_entropy_ignoring<156>(x, y))() ==
          Approx(to_host(nn::cross_entropy(slice_in_dim<0, 1, 2>(x), slice_in_dim<0, 1, 2>(y)))()));
}
