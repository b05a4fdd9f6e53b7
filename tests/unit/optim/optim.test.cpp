// SPDX-License-Identifier: BSL-1.0
// Optimizers: their formulas compared with loops, split models with unsplit ones, and the cost of a
// step.
#include "support/catch.hpp"
#include <shardwise/nn.hpp>
#include <shardwise/optim.hpp>
#include <shardwise/shardwise.hpp>

#include <array>
#include <cmath>
#include <limits>
#include <string>
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
template <class M>
using X = tensor<M, P<"data", none>, 16, 6>;
template <class M>
using Y = tensor<M, P<"data", none>, 16, 4>;
template <class M>
using number = scalar<float, M>;

constexpr auto loss = [](const auto& m, const auto& x, const auto& wanted) {
  return reshard<P<>>(nn::mse(m(x), wanted));
};

// Forward, one reduction over each axis. Backward, one over `data` for each of the four parameters;
// the input has no gradient. The clip reduces one number for the split tensors and none for the
// others.
constexpr auto cost =
    trace_nests<512, model<pod>, optim::adam_state<model<pod>>, number<pod>, X<pod>, Y<pod>>(
        optim::functional_step{optim::training_step{loss, optim::adamw{}, 1.0}});
static_assert(cost.collectives("data") == 1 + 4);
static_assert(cost.collectives("model") == 1 + 1);

template <class M, class Optimizer>
std::vector<float> train(const Optimizer& optimizer, double clip, int steps,
                         std::vector<float>& losses) {
  const device_pool pool{M{}};
  auto m = nn::initialise<model<M>>(pool, random_key{5});
  auto state = optimizer.start(m);
  const auto x = normal<X<M>>(pool, random_key{6});
  const Y<M> wanted = tanh(normal<Y<M>>(pool, random_key{7}));
  const optim::training_step learn{loss, optimizer, clip};
  for (int s = 0; s < steps; ++s) {
    const auto rate = full<number<M>>(pool, 0.05F);
    losses.push_back(to_host(step(pool, [&] { return learn(m, state, rate, x, wanted); }))());
  }
  std::vector<float> out;
  for_each_parameter(m, [&](const auto& w) {
    const auto host = to_host(w);
    out.insert(out.end(), host.elements().begin(), host.elements().end());
  });
  return out;
}

template <class Optimizer>
void agrees(const Optimizer& optimizer, double clip) {
  std::vector<float> split_losses, whole_losses;
  const auto split = train<pod>(optimizer, clip, 8, split_losses);
  const auto whole = train<one>(optimizer, clip, 8, whole_losses);
  REQUIRE(split.size() == whole.size());
  for (std::size_t i = 0; i < split.size(); ++i)
    REQUIRE(split[i] == Approx(whole[i]).epsilon(1e-4).margin(1e-4));
  for (std::size_t i = 0; i < split_losses.size(); ++i)
    REQUIRE(split_losses[i] == Approx(whole_losses[i]).epsilon(1e-5));
  REQUIRE(split_losses.back() < split_losses.front());
}

/// Takes steps on `w` with the gradients `2 w`, and the same in a loop with `next(w, g)`.
template <class Optimizer, class Next>
void follows(const Optimizer& optimizer, const Next& next) {
  const device_pool pool{pod{}};
  using W = tensor<pod, P<"data">, 4>;
  W w = distribute<W>(pool, std::vector<float>{1.0F, -2.0F, 0.5F, 3.0F});
  auto state = optimizer.start(w);
  std::vector<double> wanted{1, -2, 0.5, 3};
  std::vector<Next> each(4, next);
  for (int s = 1; s <= 5; ++s) {
    const W g = w * 2.0F;
    optimizer(w, state, g, 0.1F);
    sync(pool);
    for (std::size_t i = 0; i < 4; ++i) wanted[i] = each[i](wanted[i], 2 * wanted[i], s);
    const auto made = to_host(w);
    for (int i = 0; i < 4; ++i)
      REQUIRE(made(i) == Approx(wanted[static_cast<std::size_t>(i)]).epsilon(1e-5).margin(1e-6));
  }
}

}  // namespace

TEST_CASE("split training is whole training") {
  agrees(optim::sgd{.momentum = 0.8}, 0);
  agrees(optim::adamw{}, 0.5);
}

TEST_CASE("Adam takes parameters of narrow fractions") {
  const device_pool pool{pod{}};
  using W = sharded_tensor<bfloat16, extents<4>, layout<pod, P<"data">>>;
  W w = cast<bfloat16>(ones<tensor<pod, P<"data">, 4>>(pool));
  const W g = w * 0.001F;
  auto state = optim::adam{}.start(w);
  for (int s = 0; s < 3; ++s) optim::adam{}(w, state, g, 0.125F);
  for (const bfloat16 x : to_host(w).elements())
    REQUIRE(static_cast<float>(x) == Approx(1 - 3 * 0.125).epsilon(0.02));
}

TEST_CASE("a model with an empty vector of layers has gradients") {
  using W = tensor<pod, P<"data">, 4>;
  struct stack {
    std::vector<W> layers;
    W out;
  };
  const device_pool pool{pod{}};
  const stack model{{}, ones<W>(pool)};
  const auto made = gradient([](const auto& m) { return reshard<P<>>(sum(square(m.out))); })(model);
  REQUIRE(made.layers.empty());
  for (const float x : to_host(made.out).elements()) REQUIRE(x == 2.0F);
}

TEST_CASE("each optimizer follows its formula") {
  struct momentum {
    double m = 0;
    bool ahead = false;
    double operator()(double w, double g, int) {
      g += 0.1 * w;
      m = 0.9 * m + g;
      return w - 0.1 * (ahead ? g + 0.9 * m : m);
    }
  };
  follows(optim::sgd{.weight_decay = 0.1}, momentum{});
  follows(optim::sgd{.weight_decay = 0.1, .nesterov = true}, momentum{0, true});
  struct moments {
    double coupled, decoupled;
    double m = 0, v = 0;
    double operator()(double w, double g, int s) {
      g += coupled * w;
      m = 0.9 * m + 0.1 * g;
      v = 0.999 * v + 0.001 * g * g;
      w -= 0.1 * decoupled * w;
      return w -
             0.1 * m / (1 - std::pow(0.9, s)) / (std::sqrt(v / (1 - std::pow(0.999, s))) + 1e-8);
    }
  };
  follows(optim::adam{.weight_decay = 0.1}, moments{0.1, 0});
  follows(optim::adamw{.weight_decay = 0.1}, moments{0, 0.1});
  // Without a first moment, and with one that is corrected by much.
  struct rates {
    double beta1, beta2;
    double m = 0, v = 0;
    double operator()(double w, double g, int s) {
      m = beta1 * m + (1 - beta1) * g;
      v = beta2 * v + (1 - beta2) * g * g;
      return w -
             0.1 * m / (1 - std::pow(beta1, s)) / (std::sqrt(v / (1 - std::pow(beta2, s))) + 1e-8);
    }
  };
  follows(optim::adam{.beta1 = 0}, rates{0, 0.999});
  follows(optim::adam{.beta1 = 0.01, .beta2 = 0.1}, rates{0.01, 0.1});
  struct signs {
    double m = 0;
    double operator()(double w, double g, int) {
      const double u = 0.9 * m + 0.1 * g;
      m = 0.99 * m + 0.01 * g;
      return w - 0.1 * (0.1 * w) - 0.1 * (u > 0 ? 1 : u < 0 ? -1 : 0);
    }
  };
  follows(optim::lion{.weight_decay = 0.1}, signs{});
}

TEST_CASE("Adam corrects the bias of moments in double with as many digits as they have") {
  const device_pool pool{pod{}};
  using W = sharded_tensor<double, extents<4>, layout<pod, P<"data">>>;
  W w = zeros<W>(pool);
  const optim::adam learn{};
  auto state = learn.start(w);
  std::vector<double> wanted(4), first(4), second(4);
  for (int s = 1; s <= 5; ++s) {
    const W g = iota<W>(pool) - s;
    learn(w, state, g, 0.1);
    sync(pool);
    const auto made = to_host(w);
    for (std::size_t i = 0; i < 4; ++i) {
      const double slope = static_cast<double>(i) - s;
      first[i] = 0.9 * first[i] + 0.1 * slope;
      second[i] = 0.999 * second[i] + 0.001 * slope * slope;
      wanted[i] -= 0.1 * first[i] / (1 - std::pow(0.9, s)) /
                   (std::sqrt(second[i] / (1 - std::pow(0.999, s))) + 1e-8);
      REQUIRE(made.elements()[i] == Approx(wanted[i]).epsilon(1e-12).margin(1e-12));
    }
  }
}

TEST_CASE("Lion takes parameters that are their own gradients") {
  const device_pool pool{pod{}};
  any_tensor<float> w = ones<tensor<pod, P<"data">, 4>>(pool);
  const optim::lion learn{};
  auto state = learn.start(w);
  learn(w, state, w, 0.5F);
  REQUIRE(to_host(w).elements()[3] == 0.5F);
  REQUIRE(to_host(state.momentum).elements()[3] == Approx(0.01));
}

TEST_CASE(
    "options of optimizers are in their ranges, and nothing changes before they are checked") {
  const device_pool pool{pod{}};
  using W = tensor<pod, P<"data">, 4>;
  constexpr double inf = std::numeric_limits<double>::infinity(),
                   nan = std::numeric_limits<double>::quiet_NaN();
  const W g = full<W>(pool, 2.0F);
  const auto is_refused = [&](const auto& optimizer, const std::string& words) {
    W w = ones<W>(pool);
    auto state = optimizer.start(w);
    REQUIRE_THROWS_WITH(optimizer(w, state, g, 0.1F),
                        Catch::Contains("number_is_out_of_range") && Catch::Contains(words));
    REQUIRE(to_host(w)(3) == 1.0F);
    if constexpr (requires { state.steps; }) REQUIRE(to_host(state.steps)() == 0);
  };
  for (const double beta : {1.0, 1.5, -0.5, nan}) {
    is_refused(optim::adam{.beta1 = beta}, "beta1 of an optimizer");
    is_refused(optim::adamw{.beta2 = beta}, "beta2 of an optimizer");
    is_refused(optim::amsgrad{.beta2 = beta}, "beta2 of an optimizer");
    is_refused(optim::lamb{.beta1 = beta}, "beta1 of an optimizer");
    is_refused(optim::lion{.beta1 = beta}, "beta1 of an optimizer");
    is_refused(optim::lion{.beta2 = beta}, "beta2 of an optimizer");
    is_refused(optim::rmsprop{.decay = beta}, "the decay of an optimizer");
  }
  for (const double number : {-1.0, inf, nan}) {
    is_refused(optim::adam{.epsilon = number}, "epsilon of an optimizer");
    is_refused(optim::lamb{.weight_decay = number}, "a weight decay");
    is_refused(optim::lion{.weight_decay = number}, "a weight decay");
    is_refused(optim::sgd{.momentum = number}, "the momentum of an optimizer");
    is_refused(optim::sgd{.weight_decay = number}, "a weight decay");
    is_refused(optim::rmsprop{.epsilon = number}, "epsilon of an optimizer");
    is_refused(optim::rmsprop{.momentum = number}, "the momentum of an optimizer");
    is_refused(optim::rmsprop{.weight_decay = number}, "a weight decay");
    is_refused(optim::adagrad{.epsilon = number}, "epsilon of an optimizer");
    is_refused(optim::adagrad{.initial = number}, "an initial sum of squares");
    is_refused(optim::adagrad{.weight_decay = number}, "a weight decay");
    is_refused(optim::adafactor{.decay = number}, "the decay of Adafactor");
    is_refused(optim::adafactor{.epsilon = number}, "epsilon of an optimizer");
    is_refused(optim::adafactor{.least_scale = number}, "a least scale");
    is_refused(optim::adafactor{.weight_decay = number}, "a weight decay");
  }
  for (const double number : {0.0, -1.0, nan})
    is_refused(optim::adafactor{.threshold = number}, "the threshold of Adafactor");

  const auto clipped = Catch::Contains("to which gradients are clipped is not negative");
  for (const double most : {-1.0, nan}) {
    W steep = g;
    REQUIRE_THROWS_WITH(optim::clip_by_global_norm(steep, most), clipped);
    REQUIRE(to_host(steep)(3) == 2.0F);
  }
  constexpr auto total = [](const auto& w) { return reshard<P<>>(sum(w)); };
  const optim::training_step learn{total, optim::sgd{}, nan};
  const optim::scaled_training_step scaled{total, optim::sgd{}, optim::loss_scale{}, nan};
  W w = ones<W>(pool);
  auto state = learn.optimizer.start(w);
  REQUIRE_THROWS_WITH(learn(w, state, 0.1F), clipped);
  auto scaled_state = scaled.start(w);
  REQUIRE_THROWS_WITH(scaled(w, scaled_state, 0.1F), clipped);
  const auto no_scale = [&](const optim::loss_scale& scaling, const char* words) {
    REQUIRE_THROWS_WITH(scaling.start(w), Catch::Contains(words));
  };
  for (const double first : {0.0, -1.0, 1e39, nan})
    no_scale({.first = first}, "the first loss scale is a positive float");
  for (const double growth : {0.5, inf, nan})
    no_scale({.growth = growth}, "grows by a factor of at least 1");
  for (const double backoff : {0.0, 2.0, nan})
    no_scale({.backoff = backoff}, "falls by a factor above 0");
  no_scale({.least = 4, .most = 2}, "the lowest loss scale");
  no_scale({.most = nan}, "the lowest loss scale");
}

TEST_CASE("the norm of split gradients, and what is clipped by it") {
  const device_pool pool{pod{}};
  std::tuple gradients{full<tensor<pod, P<"data", "model">, 4, 4>>(pool, 2.0F),
                       full<tensor<pod, P<none>, 6>>(pool, 1.0F),
                       full<tensor<pod, P<"model">, 6>>(pool, 3.0F)};
  const double norm = std::sqrt(16 * 4 + 6 * 1 + 6 * 9);
  REQUIRE(to_host(optim::clip_by_global_norm(gradients, 2.0))() == Approx(norm));
  REQUIRE(to_host(std::get<0>(gradients))(1, 1) == Approx(2.0 * 2.0 / norm));
  REQUIRE(to_host(optim::clip_by_global_norm(gradients, 5.0))() == Approx(2.0));
  REQUIRE(to_host(std::get<2>(gradients))(4) == Approx(3.0 * 2.0 / norm));

  // Of one type, whose sums are pending over different axes.
  using any = any_tensor<float>;
  std::tuple values{any(full<tensor<pod, P<"data", "model">, 4, 4>>(pool, 2.0F)),
                    any(full<tensor<pod, P<none>, 6>>(pool, 1.0F)),
                    any(full<tensor<pod, P<"model">, 6>>(pool, 3.0F))};
  REQUIRE(to_host(optim::clip_by_global_norm(values, 2.0)).elements()[0] == Approx(norm));
  REQUIRE(to_host(std::get<2>(values)).elements()[4] == Approx(3.0 * 2.0 / norm));
}

TEST_CASE(
    "the norm of narrow elements is computed in float, and empty or unlike nests are refused") {
  using H = sharded_tensor<float16, extents<4>, layout<pod, P<"data">>>;
  const device_pool pool{pod{}};
  std::vector<H> narrow{full<H>(pool, 300.0F), full<H>(pool, 400.0F)};
  REQUIRE(to_host(optim::global_norm(narrow)).value() == Approx(1000.0));
  REQUIRE(to_host(optim::clip_by_global_norm(narrow, 100.0)).value() == Approx(1000.0));
  REQUIRE(static_cast<float>(to_host(narrow[1])(0)) == Approx(40.0).epsilon(1e-2));
  std::vector<H> nothing;
  REQUIRE_THROWS_WITH(optim::global_norm(nothing), Catch::Contains("a range of tensors is empty"));
  using V = tensor<pod, P<"data">, 4>;
  REQUIRE_THROWS_WITH(optim::adam{}.start(std::vector<V>{}),
                      Catch::Contains("a range of tensors is empty"));
  std::vector<V> parameters{ones<V>(pool)};
  auto state = optim::adam{}.start(parameters);
  const std::vector<V> gradients{ones<V>(pool), ones<V>(pool)};
  REQUIRE_THROWS_WITH(optim::adam{}(parameters, state, gradients, full<number<pod>>(pool, 0.1F)),
                      Catch::Contains("as many tensors in each range"));
}

TEST_CASE("schedules") {
  constexpr optim::warmup_cosine wave{.peak = 2, .warmup = 4, .steps = 14, .least = 1};
  REQUIRE(wave(0) == Approx(0.5));
  REQUIRE(wave(3) == Approx(2.0));
  REQUIRE(wave(4) == Approx(2.0));
  REQUIRE(wave(9) == Approx(1.5));
  REQUIRE(wave(14) == Approx(1.0));
  REQUIRE(wave(100) == Approx(1.0));
  // The rate is the lowest from the end on, also if it has not stopped rising.
  REQUIRE(optim::warmup_cosine{.peak = 1, .warmup = 100, .steps = 50}(60) == 0);
  STATIC_REQUIRE(optim::linear{.first = 1, .last = 0, .steps = 4}(1) == 0.75);
  STATIC_REQUIRE(optim::linear{.first = 1, .last = 0, .steps = 4}(9) == 0);
  STATIC_REQUIRE(optim::linear{.first = 1, .last = 0, .steps = 0}(3) == 0);
  STATIC_REQUIRE(optim::decay_by_steps{.first = 1, .factor = 0.5, .period = 10}(25) == 0.25);
  STATIC_REQUIRE(optim::decay_by_steps{.first = 3, .factor = 0.5}(7) == 3.0 / 128);
  STATIC_REQUIRE(optim::decay_by_steps{.first = 1, .factor = 2}(1000) > 1e301);
  // The time of a rate does not grow with the step: this one would take an hour.
  STATIC_REQUIRE(optim::decay_by_steps{.first = 1, .factor = -1}(1'000'000'000'001) == -1);
  STATIC_REQUIRE(optim::decay_by_steps{.first = 1, .factor = 0.5}(1'000'000'000'000) == 0);
  STATIC_REQUIRE(optim::constant{.rate = 0.5}(7) == 0.5);
  constexpr optim::exponential halves{.first = 2, .factor = 0.5, .period = 10, .least = 0.3};
  REQUIRE(halves(0) == 2);
  REQUIRE(halves(5) == Approx(std::sqrt(2.0)));
  REQUIRE(halves(10) == Approx(1.0));
  REQUIRE(halves(100) == 0.3);
  constexpr optim::polynomial squares{.first = 3, .last = 1, .power = 2, .steps = 4};
  REQUIRE(squares(0) == 3);
  REQUIRE(squares(1) == Approx(1 + 2 * 0.75 * 0.75));
  REQUIRE(squares(4) == 1);
  REQUIRE(squares(9) == 1);
  REQUIRE(optim::polynomial{.first = 3, .last = 1, .steps = 0}(0) == 1);
}

TEST_CASE("schedules that restart, rise and fall, or follow one another") {
  constexpr optim::cosine_restarts same{.peak = 2, .period = 4, .least = 1};
  for (int round = 0; round < 3; ++round) {
    REQUIRE(same(4 * round) == Approx(2.0));
    REQUIRE(same(4 * round + 2) == Approx(1.5));
    REQUIRE(same(4 * round + 3) == Approx(1 + (1 + std::cos(3 * std::acos(-1.0) / 4)) / 2));
  }
  constexpr optim::cosine_restarts longer{.peak = 2, .period = 4, .growth = 2};
  REQUIRE(longer(4) == Approx(2.0));
  REQUIRE(longer(8) == Approx(1.0));
  // Lengths beyond all steps.
  constexpr index_t limit = std::numeric_limits<index_t>::max();
  REQUIRE(optim::cosine_restarts{.peak = 2, .period = 4, .growth = limit / 2}(100) == 2.0);
  REQUIRE(std::isfinite(longer(limit)));
  REQUIRE(longer(12) == Approx(2.0));
  REQUIRE(longer(20) == Approx(1.0));

  // As torch.optim.lr_scheduler.OneCycleLR: the peak is at step 0.3 * 100 - 1.
  constexpr optim::one_cycle cycle{.peak = 0.5, .steps = 100};
  REQUIRE(cycle(0) == Approx(0.02));
  REQUIRE(cycle(29) == Approx(0.5));
  REQUIRE(cycle(28) < cycle(29));
  REQUIRE(cycle(64) == Approx((0.5 + 2e-6) / 2));
  REQUIRE(cycle(99) == Approx(2e-6));
  REQUIRE(cycle(1000) == Approx(2e-6));

  constexpr optim::joined whole{optim::linear{.first = 0, .last = 1, .steps = 10}, 10,
                                optim::joined{optim::constant{1}, 5, optim::linear{1, 0, 4}}};
  STATIC_REQUIRE(whole(5) == 0.5);
  STATIC_REQUIRE(whole(10) == 1);
  STATIC_REQUIRE(whole(14) == 1);
  STATIC_REQUIRE(whole(16) == 0.75);
  STATIC_REQUIRE(whole(30) == 0);
}

TEST_CASE("parameters are treated by their names") {
  const device_pool pool{pod{}};
  struct parameters {
    tensor<pod, P<"data", none>, 4, 2> weight;
    tensor<pod, P<none>, 2> bias;
    tensor<pod, P<"data">, 4> frozen;
  };
  const auto start = [&] {
    return parameters{ones<tensor<pod, P<"data", none>, 4, 2>>(pool),
                      ones<tensor<pod, P<none>, 2>>(pool), ones<tensor<pod, P<"data">, 4>>(pool)};
  };
  const auto train = [&](const auto& optimizer) {
    parameters w = start();
    auto state = optimizer.start(w);
    const parameters g = start();
    optimizer(w, state, g, 0.125F);
    return std::array{to_host(w.weight)(3, 1), to_host(w.bias)(1), to_host(w.frozen)(3)};
  };
  constexpr optim::treatment_rule rule = [](text_view name, int rank) {
    optim::treatment how = optim::decay_matrices(name, rank);
    if (name_matches(name, "froz*")) how.rate = 0;
    if (name == "bias") how.rate = 2;
    return how;
  };
  // Matrices decay, vectors do not; biases have twice the rate, and frozen parameters do not
  // change.
  const auto descended = train(optim::sgd{.momentum = 0, .weight_decay = 0.5, .treat = rule});
  REQUIRE(descended == std::array{1 - 0.125F * 1.5F, 1 - 0.25F, 1.0F});
  const auto signs = train(optim::lion{.weight_decay = 0.5, .treat = rule});
  REQUIRE(signs == std::array{1 - 0.125F * 0.5F - 0.125F, 1 - 0.25F, 1.0F});
  const auto moments = train(optim::adamw{.weight_decay = 0.5, .treat = rule});
  REQUIRE(moments[0] == Approx(1 - 0.125 * 0.5 - 0.125).epsilon(1e-5));
  REQUIRE(moments[1] == Approx(1 - 0.25).epsilon(1e-5));
  REQUIRE(moments[2] == 1.0F);
  const auto masters = train(optim::with_masters(optim::adam{.weight_decay = 0.5, .treat = rule}));
  REQUIRE(masters[2] == 1.0F);
  REQUIRE(masters[1] == Approx(1 - 0.25).epsilon(1e-5));
}
