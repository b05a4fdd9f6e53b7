// SPDX-License-Identifier: BSL-1.0
// Steps of several micro-batches and of scaled losses: their results, their communication, and
// skipped steps.
#include "support/catch.hpp"
#include <shardwise/nn.hpp>
#include <shardwise/optim.hpp>
#include <shardwise/shardwise.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <tuple>
#include <vector>

using namespace shardwise;

namespace {

struct pod : mesh<axis<"data", 2>, axis<"model", 2>> {};
struct one : mesh<axis<"data", 1>, axis<"model", 1>> {};

template <class M, class Spec, index_t... N>
using tensor = sharded_tensor<float, extents<N...>, layout<M, Spec>>;
template <class M>
using model =
    nn::mlp<nn::linear<tensor<M, P<none, "model">, 6, 8>, tensor<M, P<"model">, 8>>,
            nn::linear<tensor<M, P<"model", none>, 8, 4>, tensor<M, P<none>, 4>, P<"data", none>>>;
template <class M, index_t Rows>
using X = tensor<M, P<"data", none>, Rows, 6>;
template <class M, index_t Rows>
using Y = tensor<M, P<"data", none>, Rows, 4>;
template <class M>
using number = scalar<float, M>;

constexpr auto loss = [](const auto& m, const auto& x, const auto& wanted) {
  return reshard<P<>>(nn::mse(m(x), wanted));
};
// Left pending, so that it is reduced once for all micro-batches.
constexpr auto pending_loss = [](const auto& m, const auto& x, const auto& wanted) {
  return nn::mse(m(x), wanted);
};

// Four micro-batches communicate like one batch: the loss, and one reduction for each parameter.
template <class M>
using micro_batches = std::array<std::tuple<X<M, 4>, Y<M, 4>>, 4>;
constexpr optim::training_step accumulating{optim::accumulated<"data">(pending_loss), optim::sgd{}};
constexpr optim::training_step at_once{loss, optim::sgd{}};
constexpr auto accumulated_cost =
    trace_nests<2048, model<pod>, optim::sgd_state<model<pod>>, number<pod>, micro_batches<pod>>(
        optim::functional_step{accumulating});
constexpr auto whole_cost =
    trace_nests<512, model<pod>, optim::sgd_state<model<pod>>, number<pod>, X<pod, 16>, Y<pod, 16>>(
        optim::functional_step{at_once});
static_assert(accumulated_cost.collectives("data") == 1 + 4);
static_assert(accumulated_cost.bytes_moved("data") == whole_cost.bytes_moved("data"));

// A scaled loss reduces one more number: the count of infinities in tensors that the model axis
// splits.
constexpr optim::scaled_training_step scaled{loss, optim::sgd{}, optim::loss_scale{.first = 1024}};
constexpr auto scaled_cost =
    trace_nests<1024, model<pod>, decltype(scaled)::state<model<pod>>, number<pod>, X<pod, 16>,
                Y<pod, 16>>(optim::functional_step{scaled});
static_assert(scaled_cost.collectives("data") == whole_cost.collectives("data"));
static_assert(scaled_cost.collectives("model") == whole_cost.collectives("model") + 1);
static_assert(scaled_cost.bytes_moved("model") <= whole_cost.bytes_moved("model") + 8);

template <class Nest>
std::vector<float> values(const Nest& nest) {
  std::vector<float> out;
  for_each_parameter(nest, [&](const leaf_path&, const auto& w) {
    const auto host = to_host(w);
    out.insert(out.end(), host.elements().begin(), host.elements().end());
  });
  return out;
}

struct trained {
  std::vector<float> weights;
  std::vector<float> losses;
};
template <class M, bool InParts>
trained train() {
  const device_pool pool{M{}};
  auto m = nn::initialise<model<M>>(pool, random_key{5});
  const auto x = normal<X<M, 16>>(pool, random_key{6});
  const Y<M, 16> wanted = tanh(normal<Y<M, 16>>(pool, random_key{7}));
  const auto all_x = values(x), all_y = values(wanted);
  auto state = optim::sgd{}.start(m);
  std::vector<std::tuple<X<M, 4>, Y<M, 4>>> parts;
  for (int b = 0; b < 4; ++b)
    parts.emplace_back(distribute<X<M, 4>>(pool, std::vector<float>(all_x.begin() + b * 24,
                                                                    all_x.begin() + b * 24 + 24)),
                       distribute<Y<M, 4>>(pool, std::vector<float>(all_y.begin() + b * 16,
                                                                    all_y.begin() + b * 16 + 16)));
  trained out;
  for (int s = 0; s < 6; ++s) {
    const auto rate = full<number<M>>(pool, 0.05F);
    if constexpr (InParts)
      out.losses.push_back(
          to_host(step(pool, [&] { return accumulating(m, state, rate, parts); }))());
    else
      out.losses.push_back(
          to_host(step(pool, [&] { return at_once(m, state, rate, x, wanted); }))());
  }
  out.weights = values(m);
  return out;
}

}  // namespace

TEST_CASE("micro-batches are one batch, up to the order of their sums") {
  const trained whole = train<one, false>(), split = train<pod, true>(), alone = train<one, true>();
  REQUIRE(whole.losses.back() < whole.losses.front());
  for (std::size_t i = 0; i < whole.losses.size(); ++i) {
    REQUIRE(split.losses[i] == Approx(whole.losses[i]).epsilon(1e-5));
    REQUIRE(alone.losses[i] == Approx(whole.losses[i]).epsilon(1e-5));
  }
  for (std::size_t i = 0; i < whole.weights.size(); ++i) {
    REQUIRE(split.weights[i] == Approx(whole.weights[i]).epsilon(1e-4).margin(1e-5));
    REQUIRE(alone.weights[i] == Approx(whole.weights[i]).epsilon(1e-4).margin(1e-5));
  }
}

TEST_CASE("gradients are accumulated over steps, and reduced at the end") {
  const device_pool pool{pod{}};
  const auto m = nn::initialise<model<pod>>(pool, random_key{5});
  const auto slope = gradient(pending_loss, left_pending<"data">);
  const auto batch = [&](std::uint64_t k) {
    return std::tuple{normal<X<pod, 4>>(pool, random_key{k}),
                      normal<Y<pod, 4>>(pool, random_key{k + 100})};
  };
  const auto of = [&](const auto& f, std::uint64_t k) {
    const auto [x, y] = batch(k);
    return f(m, x, y);
  };
  auto sum = of(slope, 0);
  sync(pool);
  pool.reset_counters();
  for (std::uint64_t k = 1; k < 3; ++k) {
    detail::add_nest(sum, of(slope, k));
    sync(pool);
  }
  REQUIRE(pool.counters().collectives("data") == 0);
  const auto made = optim::reduced<model<pod>>(sum, 1.0 / 3);
  const auto got = values(made);
  REQUIRE(pool.counters().collectives("data") == 4);
  std::vector<float> wanted(got.size());
  for (std::uint64_t k = 0; k < 3; ++k) {
    const auto each = values(of(gradient(loss), k));
    for (std::size_t i = 0; i < each.size(); ++i) wanted[i] += each[i] / 3;
  }
  for (std::size_t i = 0; i < got.size(); ++i)
    REQUIRE(got[i] == Approx(wanted[i]).epsilon(1e-4).margin(1e-6));
  std::vector<std::tuple<X<pod, 4>, Y<pod, 4>>> nothing;
  auto trained = m;
  auto state = optim::sgd{}.start(m);
  REQUIRE_THROWS_WITH(accumulating(trained, state, full<number<pod>>(pool, 0.1F), nothing),
                      Catch::Contains("one micro-batch or more"));
}

TEST_CASE("means over many micro-batches do not lose the digits of narrow elements") {
  const device_pool pool{pod{}};
  using W = sharded_tensor<bfloat16, extents<4>, layout<pod, P<none>>>;
  using batch = sharded_tensor<bfloat16, extents<2, 4>, layout<pod, P<"data", none>>>;
  const W w = cast<bfloat16>(full<tensor<pod, P<none>, 4>>(pool, 1.0F));
  const batch x = cast<bfloat16>(full<tensor<pod, P<"data", none>, 2, 4>>(pool, 1.0F));
  constexpr auto products = [](const auto& v, const auto& in) { return sum(v * in); };
  // 300 terms of 2: their sum would stop at 512 in bfloat16.
  const std::vector<batch> batches(300, x);
  const auto [value, slope] =
      optim::accumulated<"data">(products).value_and_gradients(std::identity{}, w, batches);
  REQUIRE(static_cast<float>(to_host(value)()) == 8.0F);
  for (int i = 0; i < 4; ++i) REQUIRE(static_cast<float>(to_host(slope)(i)) == 2.0F);
}

TEST_CASE("a scaled loss trains the same bits, and a step that overflows is skipped") {
  const device_pool pool{pod{}};
  const optim::loss_scale scaling{.first = 1024, .interval = 3, .most = 4096};
  const optim::scaled_training_step learn{loss, optim::adamw{}, scaling, 1.0};
  const optim::training_step plain{loss, optim::adamw{}, 1.0};
  auto m = nn::initialise<model<pod>>(pool, random_key{5});
  auto n = m;
  auto state = learn.start(m);
  auto plain_state = plain.optimizer.start(n);
  const auto x = normal<X<pod, 16>>(pool, random_key{6});
  const Y<pod, 16> wanted = tanh(normal<Y<pod, 16>>(pool, random_key{7}));
  // One element overflows, on one device.
  std::vector<float> spoiled = values(x);
  spoiled[90] = std::numeric_limits<float>::infinity();
  const auto bad = distribute<X<pod, 16>>(pool, spoiled);
  const auto rate = full<number<pod>>(pool, 0.05F);
  const auto scale = [&] { return to_host(state.scale.scale)(); };

  const std::array<bool, 9> is_bad{false, false, true, false, false, false, false, true, true};
  const std::array<float, 9> scales{1024, 1024, 512, 512, 512, 1024, 1024, 512, 256};
  float skipped = 0;
  for (std::size_t s = 0; s < is_bad.size(); ++s) {
    const auto before = values(m);
    const auto kept_before = values(state.optimizer);
    const auto now = step(pool, [&] { return learn(m, state, rate, is_bad[s] ? bad : x, wanted); });
    REQUIRE(to_host(state.scale.overflowed)() == (is_bad[s] ? 1.0F : 0.0F));
    REQUIRE(scale() == scales[s]);
    if (is_bad[s]) {
      REQUIRE(to_host(state.scale.skipped)() == ++skipped);
      REQUIRE(values(m) == before);
      REQUIRE(values(state.optimizer) == kept_before);
    } else {
      const auto same = step(pool, [&] { return plain(n, plain_state, rate, x, wanted); });
      REQUIRE(to_host(now)() == to_host(same)());
      REQUIRE(values(m) == values(n));
      REQUIRE(values(m) != before);
    }
  }
}

TEST_CASE("a scale that stays, and gradients that only a scale brings into the range of float16") {
  const device_pool pool{pod{}};
  using W = sharded_tensor<float16, extents<4>, layout<pod, P<"data">>>;
  // Gradients of 1e-9 are 0 in float16.
  constexpr auto tiny = [](const auto& w) {
    return reshard<P<>>(sum(cast<float>(w * 0.25F)) * 1e-8F);
  };
  const auto train = [&](double by) {
    W w = cast<float16>(full<tensor<pod, P<"data">, 4>>(pool, 1.0F));
    const optim::loss_scale scaling{.first = by, .is_dynamic = false};
    const optim::scaled_training_step learn{tiny, optim::with_masters(optim::sgd{.momentum = 0}),
                                            scaling};
    auto state = learn.start(w);
    for (int s = 0; s < 3; ++s) (void)learn(w, state, 1e7F);
    REQUIRE(to_host(state.scale.scale)() == static_cast<float>(by));
    REQUIRE(to_host(state.scale.good_steps)() == 3.0F);
    return to_host(state.optimizer.masters)(2);
  };
  REQUIRE(train(1) == 1.0F);
  REQUIRE(train(65536) == Approx(1 - 3 * 0.25e-8 * 1e7).epsilon(1e-3));
}
