// SPDX-License-Identifier: BSL-1.0
// Accumulation under mixed-precision policies, and with keys of random numbers.
#include "support/catch.hpp"
#include "support/values.hpp"
#include <shardwise/nn.hpp>
#include <shardwise/optim.hpp>
#include <shardwise/shardwise.hpp>

#include <array>
#include <cmath>
#include <functional>
#include <ratio>
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
using X = tensor<M, P<"data", none>, 4, 6>;
template <class M>
using Y = tensor<M, P<"data", none>, 4, 4>;
template <class M>
using micro_batch = std::tuple<X<M>, Y<M>>;
template <class M>
using number = scalar<float, M>;

// Left pending, so that the loss is also reduced once for all micro-batches.
constexpr auto loss = [](const auto& m, const auto& x, const auto& wanted) {
  return nn::mse(m(x), wanted);
};
template <class Policy>
struct loss_in {
  Policy policy;
  constexpr auto operator()(const auto& m, const auto& x, const auto& wanted) const {
    return nn::mse(policy.output(policy.compute(m)(policy.compute(x))), wanted);
  }
};
using wide_policy = nn::elements<float, bfloat16>;
using narrow_policy = nn::elements<float, bfloat16, bfloat16>;

template <class Loss>
constexpr auto cost_of = trace_nests<2048, model<pod>, optim::sgd_state<model<pod>>, number<pod>,
                                     std::array<micro_batch<pod>, 4>>(optim::functional_step{
    optim::training_step{Loss{}, optim::sgd{}}});
constexpr auto in_parts = [](const auto& of) { return optim::accumulated<"data">(of); };
constexpr auto plain_cost = cost_of<decltype(in_parts(loss))>;
constexpr auto wide_cost = cost_of<decltype(in_parts(loss_in<wide_policy>{}))>;
constexpr auto narrow_cost = cost_of<decltype(in_parts(loss_in<narrow_policy>{}))>;
constexpr auto narrowly_reduced_cost =
    cost_of<decltype(optim::accumulated<"data">(loss_in<narrow_policy>{}, narrow_policy{}))>;

// One reduction for the loss and for each parameter, independently of the element type in which the
// policy reduces.
static_assert(plain_cost.collectives("data") == 1 + 4);
static_assert(wide_cost.collectives("data") == 1 + 4);
static_assert(narrow_cost.collectives("data") == 1 + 4);
static_assert(narrowly_reduced_cost.collectives("data") == 1 + 4);
static_assert(wide_cost.bytes_moved("data") == plain_cost.bytes_moved("data"));
static_assert(narrow_cost.bytes_moved("data") == plain_cost.bytes_moved("data"));
// The loss stays a float.
constexpr index_t loss_bytes =
    trace(([](const auto& x) { return reshard<P<>>(sum(x)); }), abstract<X<pod>>())
        .bytes_moved("data");
static_assert(2 * (narrowly_reduced_cost.bytes_moved("data") - loss_bytes) ==
              plain_cost.bytes_moved("data") - loss_bytes);

// Gradients that are not converted are reduced at the end.
constexpr auto of_scaled = [](const auto& w, const auto& x) {
  constexpr auto squares = [](const auto& v, const auto& in) {
    return sum(square(einsum<"bi,io->bo">(in, finish_gradient(v * abs(v)))));
  };
  return gradient(squares, left_pending<"data">)(w, x);
};
constexpr auto scaled_cost =
    trace<128>(of_scaled, abstract<tensor<pod, P<none, "model">, 6, 8>>(), abstract<X<pod>>());
static_assert(scaled_cost.collectives("data") == 1);

template <class M>
std::vector<micro_batch<M>> make_batches(const device_pool& pool, std::uint64_t count) {
  std::vector<micro_batch<M>> all;
  for (std::uint64_t k = 0; k < count; ++k)
    all.emplace_back(normal<X<M>>(pool, random_key{6}.split(k)),
                     Y<M>(tanh(normal<Y<M>>(pool, random_key{7}.split(k)))));
  return all;
}

// Drops hidden elements. The key comes last.
constexpr auto dropping = [](const auto& m, const auto& x, const auto& wanted,
                             const auto&... seed) {
  return nn::mse(m.down(nn::dropout<std::ratio<1, 2>>{}(relu(m.up(x)), seed...)), wanted);
};

}  // namespace

TEST_CASE("gradients of a narrow policy are accumulated in float, and reduced once") {
  const device_pool pool{pod{}};
  const auto m = nn::initialise<model<pod>>(pool, random_key{5});
  const auto batches = make_batches<pod>(pool, 4);
  const auto run = [&](const auto& mean) {
    pool.reset_counters();
    const auto [value, slope] = mean.value_and_gradients(std::identity{}, m, batches);
    const auto made = values_of_nest<float>(slope);
    (void)to_host(value);
    REQUIRE(pool.counters().collectives("data") == 1 + 4);
    return made;
  };
  const auto exact = run(in_parts(loss));
  const auto wide = run(in_parts(loss_in<wide_policy>{}));
  const auto narrow = run(in_parts(loss_in<narrow_policy>{}));
  const auto moved_narrow =
      run(optim::accumulated<"data">(loss_in<narrow_policy>{}, narrow_policy{}));
  // Gradients are not rounded before they are added.
  REQUIRE(narrow == wide);
  float largest = 0;
  for (const float each : exact) largest = std::max(largest, std::abs(each));
  bool is_rounded = false;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    REQUIRE(std::abs(wide[i] - exact[i]) < 0.03F * largest);
    REQUIRE(std::abs(moved_narrow[i] - wide[i]) < 0.01F * largest);
    is_rounded = is_rounded || moved_narrow[i] != wide[i];
    REQUIRE(moved_narrow[i] == static_cast<float>(static_cast<bfloat16>(moved_narrow[i])));
  }
  REQUIRE(is_rounded);
}

TEST_CASE("each micro-batch has a key of its own") {
  const device_pool pool{pod{}};
  const auto m = nn::initialise<model<pod>>(pool, random_key{5});
  const random_key seed{11};
  const auto mean = in_parts(dropping);
  const auto run = [&](const auto& batches, const auto&... key) {
    const auto [value, slope] = mean.value_and_gradients(std::identity{}, m, batches, key...);
    auto all = values_of_nest<float>(slope);
    all.push_back(to_host(value)());
    return all;
  };
  auto batches = make_batches<pod>(pool, 3);
  const auto made = run(batches, seed);
  REQUIRE(run(batches, seed) == made);
  REQUIRE(run(batches, random_key{12}) != made);
  REQUIRE(run(batches) != made);

  // The same bits as the gradients of each micro-batch, with its key, added in order.
  const auto of_one = [&](std::uint64_t n) {
    const auto& [x, y] = batches[n];
    return value_and_grad(dropping, left_pending<"data">)(m, x, y, seed.split(n));
  };
  auto [value, sum] = of_one(0);
  for (std::uint64_t n = 1; n < 3; ++n) {
    const auto [more, slope] = of_one(n);
    internal::put(value, value + more);
    detail::add_nest(sum, slope);
  }
  auto wanted = values_of_nest<float>(optim::reduced<model<pod>>(sum, 1.0 / 3));
  wanted.push_back(to_host(reshard<P<>>(value * (1.0F / 3)))());
  REQUIRE(made == wanted);

  // One micro-batch is the whole batch, with the first key.
  batches.erase(batches.begin() + 1, batches.end());
  const auto [x, y] = batches.front();
  const auto [whole_value, whole] = value_and_grad(
      [](const auto&... of) { return reshard<P<>>(dropping(of...)); })(m, x, y, seed.split(0));
  auto whole_bits = values_of_nest<float>(whole);
  whole_bits.push_back(to_host(whole_value)());
  REQUIRE(run(batches, seed) == whole_bits);
  // The same elements twice are two micro-batches with different keys.
  batches.push_back(batches.front());
  REQUIRE(run(batches, seed) != whole_bits);

  // An integer is no key, and the same for every micro-batch.
  const auto bits = full<scalar<std::int64_t, pod>>(pool, 11);
  const auto twice = run(batches, bits);
  REQUIRE(twice == run(batches, any_tensor<std::int64_t>(bits)));
  batches.pop_back();
  REQUIRE(twice == run(batches, bits));
}

TEST_CASE("a compiled step takes micro-batches and a key") {
  const device_pool pool{pod{}};
  const optim::training_step learn{in_parts(dropping), optim::sgd{}};
  auto m = nn::initialise<model<pod>>(pool, random_key{5});
  auto n = m;
  auto state = learn.optimizer.start(m), same_state = learn.optimizer.start(n);
  const auto batches = make_batches<pod>(pool, 2);
  auto train = step(learn);
  std::vector<float> losses;
  for (std::uint64_t s = 0; s < 3; ++s) {
    const random_key seed = random_key{3}.fold_in(s);
    const auto now = train(m, state, 0.05F, batches, seed);
    const auto rate = full<number<pod>>(pool, 0.05F);
    const auto same = step(pool, [&] { return learn(n, same_state, rate, batches, seed); });
    REQUIRE(values_of_nest<float>(now) == values_of_nest<float>(same));
    REQUIRE(values_of_nest<float>(m) == values_of_nest<float>(n));
    losses.push_back(to_host(now)());
  }
  REQUIRE(train.programs() == 1);
  REQUIRE(losses[0] != losses[1]);
}

TEST_CASE("the elements that are dropped do not depend on the mesh") {
  const auto run = [](auto place) {
    using M = decltype(place);
    const device_pool pool{M{}};
    const auto m = nn::initialise<model<M>>(pool, random_key{5});
    return values_of_nest<float>(
        in_parts(dropping)
            .value_and_gradients(std::identity{}, m, make_batches<M>(pool, 3), random_key{2})
            .second);
  };
  const auto split = run(pod{}), whole = run(one{});
  for (std::size_t i = 0; i < whole.size(); ++i)
    REQUIRE(split[i] == Approx(whole[i]).epsilon(1e-4).margin(1e-6));
}
