// SPDX-License-Identifier: BSL-1.0
// Rates, scales and limits beside parameters of any floating-point elements.
#include "support/catch.hpp"
#include <shardwise/nn.hpp>
#include <shardwise/optim.hpp>
#include <shardwise/shardwise.hpp>

#include <cmath>
#include <tuple>
#include <type_traits>

using namespace shardwise;

namespace {

struct pod : mesh<axis<"data", 2>, axis<"model", 2>> {};
template <class T, class Spec, index_t... N>
using tensor = sharded_tensor<T, extents<N...>, layout<pod, Spec>>;

/// A model whose parameters have several element types.
template <class Weight, class Scale, class Shift>
struct of_three {
  Weight weight;
  Scale scale;
  Shift shift;
};
using mixed_model = of_three<tensor<bfloat16, P<none, "model">, 4, 4>, tensor<float, P<"model">, 4>,
                             tensor<double, P<none>, 4>>;
using X = tensor<float, P<"data", none>, 8, 4>;

constexpr auto loss = [](const auto& m, const auto& x) {
  const auto product = cast<float>(einsum<"bi,io->bo">(cast<bfloat16>(x), m.weight));
  return reshard<P<>>(mean(square(product * m.scale))) +
         reshard<P<>>(cast<float>(mean(square(m.shift))));
};
mixed_model start(const device_pool& pool) {
  return {cast<bfloat16>(normal<tensor<float, P<none, "model">, 4, 4>>(pool, random_key{1})),
          ones<tensor<float, P<"model">, 4>>(pool), ones<tensor<double, P<none>, 4>>(pool)};
}

/// Takes two steps with a rate of 1/8, which all elements have, and returns all parameters.
template <class Step, class Optimizer, class Rate>
std::vector<double> trained(Step&& learn, const Optimizer& optimizer, const Rate& rate) {
  const device_pool pool{pod{}};
  mixed_model m = start(pool);
  auto state = optimizer.start(m);
  const auto x = normal<X>(pool, random_key{2});
  for (int s = 0; s < 2; ++s) {
    if constexpr (std::is_arithmetic_v<Rate>)
      (void)learn(m, state, rate, x);
    else
      (void)learn(m, state, rate(pool), x);
  }
  std::vector<double> out;
  for_each_parameter(m, [&](const leaf_path&, const auto& w) {
    const auto host = to_host(w);
    for (const auto each : host.elements()) out.push_back(static_cast<double>(each));
  });
  return out;
}
template <class T>
constexpr auto scalar_of =
    [](const device_pool& pool) { return full<scalar<T, pod>>(pool, T(0.125F)); };

template <class Optimizer>
void takes_any_rate(const Optimizer& optimizer) {
  const optim::training_step learn{loss, optimizer, 0.5};
  const auto wanted = trained(learn, optimizer, 0.125F);
  REQUIRE(trained(learn, optimizer, 0.125) == wanted);
  REQUIRE(trained(learn, optimizer, scalar_of<float>) == wanted);
  REQUIRE(trained(learn, optimizer, scalar_of<double>) == wanted);
  REQUIRE(trained(learn, optimizer, scalar_of<bfloat16>) == wanted);
  REQUIRE(trained(step(learn), optimizer, 0.125F) == wanted);
  REQUIRE(trained(step(learn), optimizer, 0.125) == wanted);
  REQUIRE(trained(step(learn), optimizer, scalar_of<float16>) == wanted);
}

// A rate of the elements of the parameters costs no instruction, another one its conversion.
using W = tensor<float, P<"data">, 8>;
template <class T>
constexpr auto cost_of_rate = [](const auto& optimizer) {
  const auto update = [optimizer](auto w, auto state, const auto& g, const auto& rate) {
    optimizer(w, state, g, rate);
    return std::tuple{w, state};
  };
  using state = typename std::remove_cvref_t<decltype(optimizer)>::template state<W>;
  return trace_nests<128, W, state, W, scalar<T, pod>>(update).flops();
};
static_assert(cost_of_rate<double>(optim::sgd{}) == cost_of_rate<float>(optim::sgd{}) + 1);
static_assert(cost_of_rate<double>(optim::adamw{}) == cost_of_rate<float>(optim::adamw{}) + 1);
static_assert(cost_of_rate<bfloat16>(optim::lion{}) == cost_of_rate<float>(optim::lion{}) + 1);

}  // namespace

TEST_CASE("a rate of any elements trains parameters of any elements") {
  takes_any_rate(optim::sgd{.weight_decay = 0.25});
  takes_any_rate(optim::sgd{.momentum = 0.5, .nesterov = true});
  takes_any_rate(optim::adamw{});
  takes_any_rate(optim::lion{.weight_decay = 0.25});
  takes_any_rate(optim::lamb{});
  takes_any_rate(optim::adafactor{.weight_decay = 0.25});
  takes_any_rate(optim::with_masters<"data">(optim::adam{}));
}

TEST_CASE("a step keeps its program for all values of a schedule") {
  const device_pool pool{pod{}};
  mixed_model m = start(pool);
  auto state = optim::sgd{}.start(m);
  const auto x = normal<X>(pool, random_key{2});
  auto learn = step(optim::training_step{loss, optim::sgd{}});
  constexpr optim::linear schedule{.first = 0.1, .last = 0, .steps = 4};
  float first = 0, last = 0;
  for (int i = 0; i < 4; ++i) {
    last = to_host(learn(m, state, schedule(i), x))();
    if (i == 0) first = last;
  }
  REQUIRE(last < first);
  REQUIRE(learn.programs() == 1);
}

TEST_CASE("the norm of unlike elements, and gradients that are clipped by it") {
  const device_pool pool{pod{}};
  std::tuple gradients{cast<bfloat16>(full<tensor<float, P<"data", none>, 4, 4>>(pool, 2.0F)),
                       full<tensor<float, P<"model">, 6>>(pool, 1.0F),
                       full<tensor<double, P<"data">, 6>>(pool, 3.0)};
  using nest = decltype(gradients);
  const nest made{std::get<0>(gradients), std::get<1>(gradients), std::get<2>(gradients)};
  nest clipped = made;
  const double norm = std::sqrt(16 * 4 + 6 * 1 + 6 * 9);
  const auto was = optim::clip_by_global_norm(clipped, norm / 2);
  STATIC_REQUIRE(std::is_same_v<typename std::remove_cvref_t<decltype(was)>::value_type, double>);
  REQUIRE(to_host(was)() == Approx(norm));
  REQUIRE(static_cast<float>(to_host(std::get<0>(clipped))(1, 1)) == 1.0F);
  REQUIRE(to_host(std::get<1>(clipped))(5) == Approx(0.5));
  REQUIRE(to_host(std::get<2>(clipped))(5) == Approx(1.5));
}

TEST_CASE("a loss of doubles is scaled, and so are gradients of several element types") {
  const device_pool pool{pod{}};
  constexpr auto sums = [](const auto& m) {
    return reshard<P<>>(sum(cast<double>(m.scale))) + reshard<P<>>(sum(m.shift) * 2.0);
  };
  struct model {
    tensor<float, P<"model">, 4> scale;
    tensor<double, P<none>, 4> shift;
  };
  model m{ones<tensor<float, P<"model">, 4>>(pool), ones<tensor<double, P<none>, 4>>(pool)};
  const optim::scaled_training_step learn{sums, optim::sgd{.momentum = 0},
                                          optim::loss_scale{.first = 1024}, 1e6};
  auto state = learn.start(m);
  REQUIRE(to_host(learn(m, state, 0.25))() == 12.0);
  REQUIRE(to_host(m.scale)(3) == 0.75F);
  REQUIRE(to_host(m.shift)(3) == 0.5);
}
