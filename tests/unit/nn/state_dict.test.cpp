// SPDX-License-Identifier: BSL-1.0
// The tensors of nests by name: views, and loading from one nest into another.
#include "support/catch.hpp"
#include "support/owners.hpp"
#include <shardwise/io.hpp>
#include <shardwise/nn.hpp>
#include <shardwise/optim.hpp>
#include <shardwise/shardwise.hpp>

#include <cstdio>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

using namespace shardwise;
using Catch::Contains;

namespace {

struct pod : mesh<axis<"data", 2>, axis<"model", 3>> {};
struct other : mesh<axis<"x", 4>> {};

template <class M, class Spec, class T, index_t... N>
using tensor = sharded_tensor<T, extents<N...>, layout<M, Spec, partial<>, uneven>>;

template <class Weight, class Bias, class Steps>
struct net {
  std::vector<nn::linear<Weight, Bias>> layers;
  std::optional<Steps> steps;
  any_tensor<float> scale;
  int version = 0;
};
using rows = net<tensor<pod, P<"data", "model">, float, 5, 7>, tensor<pod, P<"model">, bfloat16, 7>,
                 tensor<pod, P<none>, std::int64_t, dyn>>;
using columns = net<tensor<pod, P<none, by("data", "model")>, float, 5, 7>,
                    tensor<pod, P<none>, bfloat16, 7>, tensor<pod, P<"data">, std::int64_t, dyn>>;
using elsewhere =
    net<tensor<other, P<cyclic("x"), none>, float, 5, 7>, tensor<other, P<"x">, bfloat16, 7>,
        tensor<other, P<none>, std::int64_t, dyn>>;

template <class Net>
Net made(const device_pool& pool, float factor, index_t steps = 3) {
  using layer = typename decltype(Net::layers)::value_type;
  using W = decltype(layer::weight);
  using B = decltype(layer::bias);
  using S = typename decltype(Net::steps)::value_type;
  using M = typename W::mesh_type;
  const auto narrow = [&](float by) {
    return B(cast<bfloat16>(iota<sharded_tensor<float, extents<7>, typename B::layout_type>>(pool) *
                            by));
  };
  const auto count = [&](const global_index& at) {
    return static_cast<std::int64_t>(static_cast<float>(at[0] + 1) * factor);
  };
  const W w = iota<W>(pool);
  return {{{w * factor, narrow(factor)}, {w - factor, narrow(2 * factor)}},
          generate<S>(pool, count, steps),
          any_tensor<float>(iota<tensor<M, P<none>, float, 6>>(pool) * factor),
          1};
}

void require_equal(const auto& a, const auto& b) {
  const auto left = state_dict(a), right = state_dict(b);
  REQUIRE(left.size() == 6);
  REQUIRE(right.size() == 6);
  for (std::size_t i = 0; i < left.size(); ++i) {
    REQUIRE(left[i].name() == right[i].name());
    REQUIRE(left[i].bytes() == right[i].bytes());
  }
}

}  // namespace

TEST_CASE("a state has the tensors of a nest, in their order, under their names") {
  const device_pool pool{pod{}};
  rows m = made<rows>(pool, 2);
  const auto names_of = [](const const_state_view& state) {
    std::vector<std::string> names;
    for (const const_state_entry& each : state) names.push_back(each.name());
    return names;
  };
  const state_view state = state_dict(m);
  REQUIRE(names_of(state) == std::vector<std::string>{"layers.0.weight", "layers.0.bias",
                                                      "layers.1.weight", "layers.1.bias", "steps",
                                                      "scale"});
  REQUIRE(names_of(state_dict(m, "model").matching("*.bias")) ==
          std::vector<std::string>{"model.layers.0.bias", "model.layers.1.bias"});
  REQUIRE(names_of(state_dict(m.layers[0].bias)) == std::vector<std::string>{""});
  REQUIRE(names_of(state_dict(m.layers[0].bias, "b")) == std::vector<std::string>{"b"});
  REQUIRE(state.find("layers.2.bias") == nullptr);
  REQUIRE(state[0].name() == "layers.0.weight");
  REQUIRE_THROWS_WITH(state["layers.2.bias"],
                      Contains("state_names_differ") && Contains("'layers.2.bias'"));
  REQUIRE(to_text(state["layers.0.bias"].tensor().type) == "bf16");
  REQUIRE(state["steps"].tensor().extents == extents_desc{3});
  REQUIRE(to_host(state["layers.1.weight"].as<float>()) == to_host(m.layers[1].weight));
  REQUIRE_THROWS_WITH(state["steps"].as<float>(), Contains("i64, not f32"));

  // The state of a const nest can only be read.
  static_assert(std::is_same_v<decltype(state_dict(std::as_const(m))), const_state_view>);
  static_assert(!std::is_convertible_v<const_state_view, state_view>);
  static_assert(!std::is_constructible_v<state_entry, std::string, const any_tensor<float>&>);

  // A view refers to the tensors of the model.
  m.layers[0].weight = m.layers[1].weight;
  REQUIRE(state["layers.0.weight"].bytes() == state["layers.1.weight"].bytes());

  m.steps.reset();
  REQUIRE(state_dict(m).size() == 5);
}

TEST_CASE("what is assigned keeps its layout, from whatever pool the value comes") {
  const device_pool pool{pod{}};
  const device_pool others{other{}};
  rows m = made<rows>(pool, 2);
  const auto& weight = m.layers[0].weight;
  const auto value = iota<tensor<pod, P<none, "data">, float, 5, 7>>(pool);
  state_dict(m)["layers.0.weight"].assign(value * 3.0F);
  REQUIRE(to_host(weight)(4, 6) == 34 * 3.0F);
  REQUIRE(weight.share()->tensor().layout == std::decay_t<decltype(weight)>::layout_type::value);
  state_dict(m)["layers.0.weight"].assign(iota<tensor<other, P<"x", none>, float, 5, 7>>(others));
  REQUIRE(to_host(weight)(4, 6) == 34);
  REQUIRE(weight.share()->home() == pool.state());
  state_dict(m)["scale"].assign(iota<tensor<other, P<"x">, float, 6>>(others));
  REQUIRE(to_host(m.scale)(5) == 5);
  REQUIRE(m.scale.layout() == layout<pod, P<none>, partial<>, uneven>::value);

  REQUIRE_THROWS_WITH(
      state_dict(m)["layers.0.weight"].assign(m.scale),
      Contains("stored_tensor_differs") && Contains("'layers.0.weight' is f32[5, 7], not f32[6]"));
  REQUIRE_THROWS_WITH(state_dict(m)["layers.0.bias"].assign(m.layers[0].weight),
                      Contains("bf16[7]"));
  using terms = sharded_tensor<float, extents<6>, layout<other, P<none>, partial<"x">>>;
  REQUIRE_THROWS_WITH(state_dict(m)["scale"].assign(zeros<terms>(others)),
                      Contains("partial_value_is_read"));
  REQUIRE(to_host(m.scale)(5) == 5);
}

TEST_CASE("a state is loaded under other layouts, on another mesh") {
  const device_pool pool{pod{}};
  const device_pool others{other{}};
  const rows wanted = made<rows>(pool, 2);
  columns here = made<columns>(pool, 5);
  REQUIRE(load_state_dict(here, state_dict(wanted)).empty());
  require_equal(here, wanted);
  elsewhere there = made<elsewhere>(others, 5);
  REQUIRE(load_state_dict(there, state_dict(here)).empty());
  require_equal(there, wanted);
  REQUIRE(there.layers[0].weight.share()->home() == others.state());

  // Pending values with the same layout are not copied.
  rows same = made<rows>(pool, 7);
  load_state_dict(same, state_dict(wanted));
  REQUIRE(same.layers[0].weight.share() == wanted.layers[0].weight.share());
  load_state_dict(same, state_dict(same));
  require_equal(same, wanted);
}

TEST_CASE("names that differ are listed, and nothing changes") {
  const device_pool pool{pod{}};
  rows m = made<rows>(pool, 2);
  const rows unchanged = m;
  rows more = made<rows>(pool, 3);
  more.layers.push_back(more.layers[0]);
  more.steps.reset();
  REQUIRE_THROWS_WITH(load_state_dict(m, state_dict(more)),
                      Contains("state_names_differ") && Contains("missing: 'steps'") &&
                          Contains("unexpected: 'layers.2.weight', 'layers.2.bias'"));
  require_equal(m, unchanged);
  const state_difference apart = load_state_dict(m, state_dict(more), state_names::common);
  REQUIRE(apart.missing == std::vector<std::string>{"steps"});
  REQUIRE(apart.unexpected == std::vector<std::string>{"layers.2.weight", "layers.2.bias"});
  REQUIRE(to_host(m.layers[1].weight) == to_host(more.layers[1].weight));
  REQUIRE(to_host(*m.steps) == to_host(*unchanged.steps));

  // Extents are checked before the first tensor is assigned.
  const rows longer = made<rows>(pool, 5, 4);
  const rows before = m;
  REQUIRE_THROWS_WITH(load_state_dict(m, state_dict(longer)),
                      Contains("'steps' is i64[3], not i64[4]"));
  require_equal(m, before);
}

TEST_CASE("parts of a state are loaded, saved, and joined") {
  const device_pool pool{pod{}};
  STATIC_REQUIRE(
      std::is_same_v<decltype(std::declval<const state_view&>()[0]), const state_entry&>);
  STATIC_REQUIRE(std::is_same_v<decltype(std::declval<state_view>()[0]), state_entry>);
  rows m = made<rows>(pool, 2);
  const rows from = made<rows>(pool, 3), before = m;
  load_state_dict(state_dict(m).matching("layers.1.*"), state_dict(from).matching("layers.1.*"));
  REQUIRE(to_host(m.layers[1].weight) == to_host(from.layers[1].weight));
  REQUIRE(to_host(m.layers[0].weight) == to_host(before.layers[0].weight));

  // A model and the state of its optimizer in one file, of which a part is read.
  auto moments = optim::adam{}.start(m.layers);
  const std::string path =
      (std::filesystem::temp_directory_path() / "shardwise-state.safetensors").string();
  const state_view all = state_dict(m, "model").append(state_dict(moments, "optim"));
  save_safetensors(path, all);
  const safetensors_file file(path);
  REQUIRE(file.header().tensors.size() == all.size());
  REQUIRE(all.size() == 6 + state_dict(moments).size());
  for (const const_state_entry& each : const_state_view(all))
    REQUIRE(file.header().find(each.name()) != nullptr);
  rows read = made<rows>(pool, 7);
  load_safetensors(file, state_dict(read, "model").matching("*.bias"));
  REQUIRE(to_host(read.layers[1].bias) == to_host(m.layers[1].bias));
  REQUIRE(to_host(read.scale) == to_host(made<rows>(pool, 7).scale));
  std::remove(path.c_str());
  REQUIRE_THROWS_WITH(state_dict(m).append(state_dict(read)),
                      Contains("state_names_differ") && Contains("in both states"));
}

TEST_CASE("owners of one mesh load a state together") {
  const device_pool alone{pod{}};
  const auto wanted = to_host(iota<tensor<pod, P<none>, float, 7>>(alone)).elements();
  const std::vector<float> values(wanted.begin(), wanted.end());
  const auto require = [](bool holds) {
    if (!holds) throw std::logic_error("an owner has loaded something else");
  };
  for (const support::ownership& each : support::ownerships(6))
    support::run_all_owners(
        pod::value, each.owner_of,
        [&](const device_pool& pool) {
          const auto from = iota<tensor<pod, P<"data">, float, 7>>(pool);
          auto into = zeros<tensor<pod, P<"model">, float, 7>>(pool);
          load_state_dict(into, state_dict(from));
          const auto host = to_host(into);
          require(std::vector<float>(host.elements().begin(), host.elements().end()) == values);
        },
        each.settings);
}

TEST_CASE("tensors of const nests and const members can be read, and not assigned") {
  using V = tensor<pod, P<"data">, float, 4>;
  struct norm {
    const V scale;
    V shift;
  };
  const device_pool pool{pod{}};
  norm some{ones<V>(pool), zeros<V>(pool)};
  static_assert(std::is_same_v<decltype(state_dict(some)), const_state_view>);
  const auto state = state_dict(some, "norm");
  REQUIRE(state.size() == 2);
  REQUIRE(to_host(state["norm.scale"].as<float>()).elements()[3] == 1.0F);
  REQUIRE(to_host(state["norm.shift"].as<float>()).elements()[3] == 0.0F);
  const V fixed = ones<V>(pool);
  static_assert(std::is_same_v<decltype(state_dict(fixed)), const_state_view>);
  V free = ones<V>(pool);
  static_assert(std::is_same_v<decltype(state_dict(free)), state_view>);
  // Members that are no tensors may be const.
  struct versioned {
    std::vector<V> all;
    const int version;
  };
  versioned two{{free, free}, 2};
  static_assert(std::is_same_v<decltype(state_dict(two)), state_view>);
  static_assert(std::is_same_v<decltype(state_dict(std::as_const(two))), const_state_view>);
  state_dict(two)["all.1"].assign(some.shift);
  REQUIRE(to_host(two.all[0]).elements()[3] == 1.0F);
  REQUIRE(to_host(two.all[1]).elements()[3] == 0.0F);
  state_dict(free)[0].assign(some.shift);
  REQUIRE(to_host(free).elements()[3] == 0.0F);
}
