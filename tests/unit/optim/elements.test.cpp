// SPDX-License-Identifier: BSL-1.0
// Mixed precision: conversions, the element types of reductions, masters.
#include "support/catch.hpp"
#include <shardwise/nn.hpp>
#include <shardwise/optim.hpp>
#include <shardwise/shardwise.hpp>

#include <cmath>
#include <type_traits>
#include <vector>

using namespace shardwise;

namespace {

struct pod : mesh<axis<"data", 2>, axis<"model", 2>> {};
struct one : mesh<axis<"data", 1>, axis<"model", 1>> {};

template <class M, class T, class Spec, index_t... N>
using tensor = sharded_tensor<T, extents<N...>, layout<M, Spec>>;

template <class M, class T>
using model = nn::mlp<
    nn::linear<tensor<M, T, P<none, "model">, 6, 8>, tensor<M, T, P<"model">, 8>>,
    nn::linear<tensor<M, T, P<"model", none>, 8, 4>, tensor<M, T, P<none>, 4>, P<"data", none>>>;
template <class M>
using X = tensor<M, float, P<"data", none>, 16, 6>;
template <class M>
using Y = tensor<M, float, P<"data", none>, 16, 4>;
using number = scalar<float, pod>;

// A model whose element type is a template argument.
template <class Mesh, class T>
struct named {
  tensor<Mesh, T, P<"data">, 4> weight;
  tensor<Mesh, std::int32_t, P<none>, 4> order;
  int layers = 3;
};
static_assert(std::is_same_v<with_fractions<bfloat16, model<pod, float>>, model<pod, bfloat16>>);
static_assert(std::is_same_v<with_fractions<bfloat16, named<pod, float>>, named<pod, bfloat16>>);
static_assert(std::is_same_v<with_fractions<float, std::vector<named<pod, float16>>>,
                             std::vector<named<pod, float>>>);

constexpr nn::elements<float, bfloat16> mixed;

template <class Policy>
struct loss_in {
  Policy policy;
  constexpr auto operator()(const auto& m, const auto& x, const auto& wanted) const {
    return reshard<P<>>(nn::mse(policy.output(policy.compute(m)(policy.compute(x))), wanted));
  }
};
template <class Policy>
constexpr auto cost_in =
    trace_nests<512, model<pod, float>, X<pod>, Y<pod>>(gradient(loss_in<Policy>{}));

// The loss and one reduction for each parameter, in bytes of its element type.
template <class Policy>
constexpr auto gradient_bytes = cost_in<Policy>.bytes_moved("data");
using wide_policy = nn::elements<float, bfloat16>;
using narrow_policy = nn::elements<float, bfloat16, bfloat16>;
static_assert(cost_in<wide_policy>.collectives("data") == 4);
static_assert(cost_in<narrow_policy>.collectives("data") == 4);
static_assert(gradient_bytes<wide_policy> == 2 * gradient_bytes<narrow_policy>);

// A pending gradient passes through the conversion.
constexpr auto left = [](const auto& w, const auto& x) {
  constexpr auto squares = [](const auto& v, const auto& in) {
    return sum(cast<float>(square(einsum<"bi,io->bo">(mixed.compute(in), mixed.compute(v)))));
  };
  const auto dw = gradient(squares, left_pending<"data">)(w, x);
  using given = std::remove_const_t<decltype(dw)>;
  static_assert(
      std::is_same_v<typename given::layout_type, layout<pod, P<none, "model">, partial<"data">>>);
  static_assert(std::is_same_v<typename given::value_type, float>);
  return reshard<P<"data", "model">>(dw);
};
constexpr auto of_left =
    trace<128>(left, abstract<tensor<pod, float, P<none, "model">, 6, 8>>(), abstract<X<pod>>());
static_assert(of_left.collectives() == 1 && of_left.collectives(collective::reduce_scatter) == 1);

// Masters are split if a dimension allows it, and parameters are gathered in their own element
// type.
using narrow_model = model<pod, bfloat16>;
using split_masters = decltype(optim::with_masters<"data">(optim::adamw{}));
using split_copy = split_masters::copy<narrow_model>;
static_assert(
    std::is_same_v<decltype(split_copy::up.weight), tensor<pod, float, P<"data", "model">, 6, 8>>);
static_assert(std::is_same_v<decltype(split_copy::down.bias), tensor<pod, float, P<"data">, 4>>);
static_assert(
    std::is_same_v<decltype(split_copy::down.weight),
                   sharded_tensor<float, extents<8, 4>, layout<pod, P<"model,data", none>>>>);

// They accept gradients that are pending over the axes that split them, and no others.
using pending_up =
    sharded_tensor<float, extents<6, 8>, layout<pod, P<none, "model">, partial<"data">>>;
using whole_up = tensor<pod, float, P<none, "model">, 6, 8>;
// An update returns nothing, an error something.
template <class Learn, class W, class G>
constexpr bool takes_one = std::is_void_v<
    std::invoke_result_t<const Learn&, W&, typename Learn::template state<W>&, const G&, float>>;
static_assert(takes_one<optim::masters<optim::sgd, "data">, whole_up, pending_up>);
static_assert(takes_one<optim::masters<optim::sgd, "data">, whole_up, whole_up>);
static_assert(takes_one<optim::masters<optim::sgd>, whole_up, whole_up>);
static_assert(!takes_one<optim::masters<optim::sgd, "model">, whole_up, pending_up>);
static_assert(!takes_one<optim::masters<optim::sgd>, whole_up, pending_up>);
static_assert(!takes_one<optim::sgd, whole_up, pending_up>);
static_assert(!takes_one<optim::adamw, whole_up, pending_up>);
static_assert(!takes_one<optim::lion, whole_up, pending_up>);

constexpr auto update = [](auto m, auto state, const auto& gradients, const auto& rate) {
  optim::with_masters<"data">(optim::adamw{})(m, state, gradients, rate);
  return std::tuple{m, state};
};
constexpr auto update_cost =
    trace_nests<512, narrow_model, split_masters::state<narrow_model>, narrow_model, number>(
        update);
static_assert(update_cost.collectives() == 4);
static_assert(update_cost.collectives(collective::all_gather, "data") == 4);

}  // namespace

TEST_CASE("a nest is converted, and gradients come back in its elements") {
  const device_pool pool{pod{}};
  const named<pod, float> kept{distribute<tensor<pod, float, P<"data">, 4>>(
                                   pool, std::vector<float>{1.0F, 1.001F, -3.14159F, 1e-3F}),
                               ones<tensor<pod, std::int32_t, P<none>, 4>>(pool), 5};
  const auto used = mixed.compute(kept);
  STATIC_REQUIRE(std::is_same_v<std::remove_const_t<decltype(used)>, named<pod, bfloat16>>);
  REQUIRE(used.layers == 5);
  REQUIRE(to_host(used.order)(3) == 1);
  const auto host = to_host(kept.weight);
  for (int i = 0; i < 4; ++i)
    REQUIRE(static_cast<float>(to_host(used.weight)(i)) ==
            static_cast<float>(static_cast<bfloat16>(host(i))));
  const auto slope = gradient([](const auto& m) {
    return reshard<P<>>(sum(cast<float>(square(mixed.compute(m).weight))));
  })(kept);
  STATIC_REQUIRE(std::is_same_v<std::remove_cvref_t<decltype(slope.weight)>,
                                tensor<pod, float, P<"data">, 4>>);
  for (int i = 0; i < 4; ++i)
    REQUIRE(to_host(slope.weight)(i) == 2 * static_cast<float>(static_cast<bfloat16>(host(i))));
}

namespace {

template <class M>
std::vector<float> slopes(bool narrow) {
  const device_pool pool{M{}};
  const auto m = nn::initialise<model<M, float>>(pool, random_key{5});
  const auto x = normal<X<M>>(pool, random_key{6});
  const Y<M> wanted = tanh(normal<Y<M>>(pool, random_key{7}));
  const auto made = narrow ? gradient(loss_in<narrow_policy>{})(m, x, wanted)
                           : gradient(loss_in<wide_policy>{})(m, x, wanted);
  std::vector<float> out;
  for_each_parameter(made, [&](const leaf_path&, const auto& w) {
    const auto host = to_host(w);
    out.insert(out.end(), host.elements().begin(), host.elements().end());
  });
  return out;
}

}  // namespace

TEST_CASE("split mixed training computes the gradients of one device") {
  const auto whole = slopes<one>(false);
  const auto wide = slopes<pod>(false);
  const auto narrow = slopes<pod>(true);
  REQUIRE(whole.size() == wide.size());
  float largest = 0;
  for (const float each : whole) largest = std::max(largest, std::abs(each));
  // bfloat16 has 8 significant bits: terms are rounded to them, and so are four levels of sums.
  for (std::size_t i = 0; i < whole.size(); ++i) {
    REQUIRE(std::abs(wide[i] - whole[i]) < 0.03F * largest);
    REQUIRE(std::abs(narrow[i] - whole[i]) < 0.03F * largest);
    // The reduction in bfloat16 rounds the wide sums first.
    REQUIRE(static_cast<float>(static_cast<bfloat16>(wide[i])) == narrow[i]);
  }
}

TEST_CASE("masters add up what their parameters would lose") {
  const device_pool pool{pod{}};
  using W = tensor<pod, bfloat16, P<none, "model">, 4, 8>;
  const auto run = [&](const auto& learn) {
    W w = cast<bfloat16>(ones<tensor<pod, float, P<none, "model">, 4, 8>>(pool));
    auto state = learn.start(w);
    const W g = cast<bfloat16>(full<tensor<pod, float, P<none, "model">, 4, 8>>(pool, 0.5F));
    for (int s = 0; s < 40; ++s) learn(w, state, g, 0.001F);
    std::vector<float> out;
    for (const bfloat16 x : to_host(w).elements()) out.push_back(static_cast<float>(x));
    return out;
  };
  float master = 1, momentum = 0;
  for (int s = 0; s < 40; ++s) {
    momentum = momentum * 0.5F + 0.5F;
    master -= momentum * 0.001F;
  }
  const optim::sgd plain{.momentum = 0.5};
  for (const float x : run(optim::with_masters(plain)))
    REQUIRE(x == static_cast<float>(static_cast<bfloat16>(master)));
  for (const float x : run(optim::with_masters<"data">(plain)))
    REQUIRE(x == static_cast<float>(static_cast<bfloat16>(master)));
  // Without masters the steps are smaller than half of the last digit, so nothing changes.
  for (const float x : run(plain)) REQUIRE(x == 1.0F);
}

TEST_CASE("gradients that are left pending are scattered to split masters") {
  const device_pool pool{pod{}};
  using W = tensor<pod, bfloat16, P<none, "model">, 8, 8>;
  const auto x = normal<tensor<pod, float, P<"data", none>, 16, 8>>(pool, random_key{1});
  const auto train = [&](auto learn, auto request) {
    W w = cast<bfloat16>(normal<tensor<pod, float, P<none, "model">, 8, 8>>(pool, random_key{2}));
    auto state = learn.start(w);
    const auto squares = [](const auto& v, const auto& in) {
      return sum(cast<float>(square(einsum<"bi,io->bo">(cast<bfloat16>(in), v))));
    };
    for (int s = 0; s < 3; ++s) learn(w, state, gradient(squares, request)(w, x), 0.01F);
    pool.reset_counters();
    const auto host = to_host(w);
    return std::vector<float>(host.elements().begin(), host.elements().end());
  };
  const auto whole = train(optim::with_masters(optim::sgd{}), left_pending<>);
  const auto split = train(optim::with_masters<"data">(optim::sgd{}), left_pending<"data">);
  const auto counted = pool.counters();
  REQUIRE(counted.collectives(collective::reduce_scatter, "data") == 3);
  REQUIRE(counted.collectives(collective::all_reduce, "data") == 0);
  REQUIRE(whole.size() == split.size());
  for (std::size_t i = 0; i < whole.size(); ++i)
    REQUIRE(split[i] == Approx(whole[i]).epsilon(0.02).margin(0.02));
}
