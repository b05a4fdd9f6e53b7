// SPDX-License-Identifier: BSL-1.0
// Parts of models: frozen ones, tied ones, dropout without a key, names, other layouts.
#include "support/catch.hpp"
#include <shardwise/nn.hpp>
#include <shardwise/optim.hpp>
#include <shardwise/shardwise.hpp>

#include <cmath>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

using namespace shardwise;

namespace {

struct pod : mesh<axis<"data", 2>, axis<"model", 2>> {};

template <class Spec, index_t... N>
using tensor = sharded_tensor<float, extents<N...>, layout<pod, Spec>>;
using X = tensor<P<"data", none>, 4, 6>;

template <class Read, class Layer, class Shift>
struct net {
  Read read;
  Layer layer;
  Shift shift;
  int steps = 0;

  constexpr auto operator()(const auto& x, const auto&... seed) const {
    return layer(nn::dropout<std::ratio<1, 2>>{}(relu(read(x)), seed...)) + shift.value;
  }
};
using first = nn::linear<tensor<P<none, none>, 6, 8>, tensor<P<none>, 8>>;
using second = nn::linear<tensor<P<none, none>, 8, 6>>;
using shift = nn::frozen<tensor<P<none>, 6>>;
using partly = net<nn::frozen<first>, second, shift>;
using trained = net<first, second, shift>;

constexpr auto loss = [](const auto& m, const auto& x) { return reshard<P<>>(nn::mse(m(x), x)); };

std::vector<float> values(const auto& x) {
  const auto host = to_host(x);
  return {host.elements().begin(), host.elements().end()};
}

// Frozen parts have no gradient and no reduction: only the loss and one weight are reduced.
constexpr auto cost = trace_nests<256, partly, X>(value_and_grad(loss));
static_assert(cost.collectives("data") == 1 + 1);
static_assert(trace_nests<256, trained, X>(value_and_grad(loss)).collectives("data") == 1 + 3);
static_assert(nest_elements<partly> == 6 * 8 + 8 + 8 * 6 + 6);

}  // namespace

TEST_CASE("what is frozen stays, and the rest is trained") {
  const device_pool pool{pod{}};
  auto m = nn::initialise<partly>(pool, random_key{1});
  const auto x = normal<X>(pool, random_key{2});
  std::vector<std::string> names;
  for_each_parameter(m, [&](const std::string& name, const auto&) { names.push_back(name); });
  REQUIRE(names == std::vector<std::string>{"read.weight", "read.bias", "layer.weight", "shift"});

  // Its gradients equal those of the same model without frozen parts.
  const trained whole{m.read.value, m.layer, m.shift};
  const auto [value, gradients] = value_and_grad(loss)(m, x);
  const auto [same, all] = value_and_grad(loss)(whole, x);
  REQUIRE(to_host(value)() == to_host(same)());
  REQUIRE(values(gradients.layer.weight) == values(all.layer.weight));
  REQUIRE(values(all.read.weight) != values(m.read.value.weight));

  constexpr optim::training_step learn{loss, optim::adamw{.weight_decay = 0.1}, 1.0};
  auto state = learn.optimizer.start(m);
  const auto weight = values(m.read.value.weight), bias = values(m.read.value.bias),
             moved = values(m.layer.weight);
  const auto rate = full<scalar<float, pod>>(pool, 0.05F);
  float before = 0, after = 0;
  for (int s = 0; s < 20; ++s) {
    after = to_host(step(pool, [&] { return learn(m, state, rate, x); }))();
    if (s == 0) before = after;
  }
  REQUIRE(after < 0.9F * before);
  REQUIRE(values(m.read.value.weight) == weight);
  REQUIRE(values(m.read.value.bias) == bias);
  REQUIRE(values(m.layer.weight) != moved);
  REQUIRE(values(m.shift.value) == std::vector<float>(6));
}

TEST_CASE("what is frozen is computed in narrow elements, and has no masters") {
  const device_pool pool{pod{}};
  auto m = nn::initialise<partly>(pool, random_key{1});
  const auto x = normal<X>(pool, random_key{2});
  constexpr nn::elements<float, bfloat16> mixed;
  const auto narrow = mixed.compute(m);
  STATIC_REQUIRE(
      std::is_same_v<std::remove_const_t<decltype(narrow)>, with_fractions<bfloat16, partly>>);
  const auto as_narrow = [](const auto& w) { return values(cast<float>(cast<bfloat16>(w))); };
  REQUIRE(values(cast<float>(narrow.read.value.weight)) == as_narrow(m.read.value.weight));
  REQUIRE(values(cast<float>(narrow.layer.weight)) == as_narrow(m.layer.weight));

  constexpr auto masters = optim::with_masters<"data">(optim::sgd{});
  auto state = masters.start(m);
  STATIC_REQUIRE(std::is_same_v<decltype(state.masters.read), decltype(m.read)>);
  STATIC_REQUIRE(
      std::is_same_v<decltype(state.masters.layer.weight), tensor<P<"data", none>, 8, 6>>);
  const auto weight = values(m.read.value.weight), moved = values(m.layer.weight);
  masters(m, state, gradient(loss)(m, x), 0.1F);
  REQUIRE(values(m.read.value.weight) == weight);
  REQUIRE(values(m.layer.weight) != moved);
}

TEST_CASE("a dropout without a key drops nothing") {
  const device_pool pool{pod{}};
  const auto m = nn::initialise<partly>(pool, random_key{1});
  const auto x = normal<X>(pool, random_key{2});
  REQUIRE(values(m(x)) == values(m.layer(relu(m.read(x))) + m.shift.value));
  REQUIRE(values(m(x, random_key{1})) != values(m(x)));
  REQUIRE(values(m(x, random_key{1})) == values(m(x, random_key{1})));
}

TEST_CASE("a table that is read at both ends has the gradient of both") {
  using table = nn::embedding<tensor<P<"model", none>, 10, 4>, P<"data", none, none>>;
  using ids = sharded_tensor<std::int32_t, extents<2, 3>, layout<pod, P<"data", none>>>;
  const device_pool pool{pod{}};
  const auto read = nn::initialise<table>(pool, random_key{1});
  const auto seen = generate<ids>(pool, [](const global_index& at) {
    return static_cast<std::int32_t>((3 * at[0] + at[1]) % 10);
  });
  const auto total = [](const auto& first_table, const auto& last_table, const auto& text) {
    return reshard<P<>>(sum(square(last_table.scores(first_table(text)))));
  };
  const auto [one, two] = gradient<0, 1>(total)(read, read, seen);
  const auto both =
      gradient([&](const auto& m, const auto& text) { return total(m, m, text); })(read, seen);
  const auto a = values(one.table), b = values(two.table), c = values(both.table);
  float largest = 0;
  for (std::size_t i = 0; i < c.size(); ++i) {
    REQUIRE(c[i] == Approx(a[i] + b[i]).margin(1e-6));
    largest = std::max({largest, std::abs(a[i]), std::abs(b[i])});
  }
  REQUIRE(largest > 0);
  static_assert(std::is_same_v<typename decltype(read.scores(read(seen)))::layout_type::spec_type,
                               P<"data", none, "model">>);
}

namespace {

template <class Spec>
using table_of = nn::embedding<tensor<Spec, 10, 4>>;
// With three dimensions, as the contraction that it was: the result, the cost, the gradient.
constexpr auto scored = [](const auto& m, const auto& x) { return m.scores(x); };
constexpr auto contracted = [](const auto& m, const auto& x) {
  return einsum<"bsd,vd->bsv">(x, m.table);
};
template <class Spec>
constexpr bool costs_the_same = [] {
  using H = tensor<P<"data", none, none>, 4, 3, 4>;
  constexpr auto slope = [](const auto& f) {
    return gradient<0, 1>(
        [=](const auto& m, const auto& x) { return reshard<P<>>(sum(square(f(m, x)))); });
  };
  return trace_nests<64, table_of<Spec>, H>(scored) ==
             trace_nests<64, table_of<Spec>, H>(contracted) &&
         trace_nests<192, table_of<Spec>, H>(slope(scored)) ==
             trace_nests<192, table_of<Spec>, H>(slope(contracted));
}();
static_assert(costs_the_same<P<none, none>> && costs_the_same<P<"model", none>>);

/// Compares the scores of rows with loops, and with the layout that they must have.
template <class Wanted, class Spec, class H>
void compare_scores(const device_pool& pool) {
  const auto read = nn::initialise<table_of<Spec>>(pool, random_key{1});
  const auto x = normal<H>(pool, random_key{2});
  const auto y = read.scores(x);
  static_assert(std::is_same_v<typename decltype(y)::layout_type::spec_type, Wanted>);
  const auto rows = values(x), table = values(read.table), made = values(y);
  REQUIRE(y.extents().ssize() == x.extents().ssize());
  REQUIRE(made.size() == rows.size() / 4 * 10);
  const nn::embedding<any_tensor<float>> by_value{read.table};
  REQUIRE(values(by_value.scores(any_tensor<float>(x))) == made);
  for (std::size_t r = 0; r < rows.size() / 4; ++r)
    for (std::size_t v = 0; v < 10; ++v) {
      float sum = 0;
      for (std::size_t d = 0; d < 4; ++d) sum += rows[r * 4 + d] * table[v * 4 + d];
      REQUIRE(made[r * 10 + v] == Approx(sum).margin(1e-6));
    }
}

}  // namespace

TEST_CASE("the scores of an embedding are of rows of any rank") {
  const device_pool pool{pod{}};
  using rows = P<"model", none>;
  using whole = P<none, none>;
  compare_scores<P<none>, whole, tensor<P<none>, 4>>(pool);
  compare_scores<P<"model">, rows, tensor<P<none>, 4>>(pool);
  compare_scores<P<"data", none>, whole, tensor<P<"data", none>, 6, 4>>(pool);
  compare_scores<P<"data", "model">, rows, tensor<P<"data", none>, 6, 4>>(pool);
  compare_scores<P<"data", none, none>, whole, tensor<P<"data", none, none>, 2, 3, 4>>(pool);
  compare_scores<P<"data", none, "model">, rows, tensor<P<"data", none, none>, 2, 3, 4>>(pool);

  const auto read = nn::initialise<table_of<rows>>(pool, random_key{1});
  const auto x = normal<tensor<P<"data", none, none>, 4, 3, 4>>(pool, random_key{2});
  const auto slopes = [&](const auto& f) {
    const auto total = [&](const auto& m) { return reshard<P<>>(sum(square(f(m, x)))); };
    return values(gradient(total)(read).table);
  };
  REQUIRE(slopes(scored) == slopes(contracted));
}

TEST_CASE("tensors are found by patterns of their names") {
  const device_pool pool{pod{}};
  auto m = nn::initialise<trained>(pool, random_key{1});
  const auto ones_in = [](const leaf_path&, auto& x) { x = x * 0.0F + 1.0F; };
  REQUIRE(for_each_parameter(m, "*.weight", ones_in) == 2);
  REQUIRE(values(m.layer.weight) == std::vector<float>(48, 1.0F));
  REQUIRE(for_each_parameter(m, "read.*", ones_in) == 2);
  REQUIRE(values(m.read.bias) == std::vector<float>(8, 1.0F));
  REQUIRE(for_each_parameter(m, "weight", ones_in) == 0);
}

namespace {

// The same layers unsplit, as they compute (column-wise, then row-wise), and as they are stored.
template <class Up, class Down>
using pair_of =
    std::array<nn::mlp<nn::linear<Up>, nn::linear<Down, nn::no_bias, P<"data", none>>>, 2>;
using whole_pair = pair_of<tensor<P<none, none>, 6, 8>, tensor<P<none, none>, 8, 6>>;
using split_pair = pair_of<tensor<P<none, "model">, 6, 8>, tensor<P<"model", none>, 8, 6>>;
using stored_pair = pair_of<tensor<P<"data", "model">, 6, 8>, tensor<P<"model", "data">, 8, 6>>;

constexpr auto run_pair = [](const auto& layers, const auto& x) {
  return reshard<P<>>(nn::mse(layers[1](layers[0](x)), x));
};
constexpr auto run_stored = [](const auto& layers, const auto& x) {
  return run_pair(nn::distribute_module<split_pair>(layers), x);
};
// Each weight is gathered, its gradient is reduce-scattered, and the loss is reduced.
constexpr auto stored_cost = trace_nests<256, stored_pair, X>(value_and_grad(run_stored));
static_assert(stored_cost.collectives("data") == 4 + 4 + 1);
static_assert(nest_bytes<stored_pair> * 2 == nest_bytes<split_pair>);

}  // namespace

TEST_CASE("a model under other layouts computes the same, and so does its gradient") {
  const device_pool pool{pod{}};
  const auto whole = nn::initialise<whole_pair>(pool, random_key{1});
  const auto x = normal<X>(pool, random_key{2});
  const auto split = nn::distribute_module<split_pair>(whole);
  static_assert(std::is_same_v<std::remove_const_t<decltype(split)>, split_pair>);
  const stored_pair stored = nn::distribute_module<stored_pair>(split);
  const auto [wanted, gradients] = value_and_grad(run_pair)(whole, x);
  const auto [value, scattered] = value_and_grad(run_stored)(stored, x);
  REQUIRE(to_host(run_pair(split, x))() == Approx(to_host(wanted)()));
  REQUIRE(to_host(value)() == Approx(to_host(wanted)()));
  for (std::size_t l = 0; l < 2; ++l) {
    const auto a = values(gradients[l].up.weight), b = values(scattered[l].up.weight);
    for (std::size_t i = 0; i < a.size(); ++i) REQUIRE(a[i] == Approx(b[i]).margin(1e-6));
  }
}

namespace {

using text = tensor<P<"data", none, none>, 4, 6, 8>;
using scaled = nn::rms_norm<tensor<P<none>, 8>>;
using scaled_in_parts = nn::between<scaled, P<"data", "model", none>, P<"data", none, none>>;
constexpr auto call = [](const auto& m, const auto& x) { return m(x); };
// Positions are sliced without communication, and gathered afterwards.
static_assert(trace_nests<64, scaled, text>(call).collectives() == 0);
static_assert(trace_nests<64, scaled_in_parts, text>(call).collectives("model") == 1);

}  // namespace

TEST_CASE("a module between two layouts computes the same") {
  const device_pool pool{pod{}};
  const auto m = nn::initialise<scaled_in_parts>(pool, random_key{1});
  const auto x = normal<text>(pool, random_key{2});
  const auto y = m(x);
  static_assert(std::is_same_v<decltype(y)::layout_type, text::layout_type>);
  REQUIRE(values(y) == values(m.inner(x)));
  for_each_parameter(m, [](std::string_view name, const auto&) { REQUIRE(name == "scale"); });
}
