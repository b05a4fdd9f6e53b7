// SPDX-License-Identifier: BSL-1.0
// Frozen parts in gradients, in the state of optimizers and in their files.
#include "support/catch.hpp"
#include "support/values.hpp"
#include <shardwise/io.hpp>
#include <shardwise/nn.hpp>
#include <shardwise/optim.hpp>
#include <shardwise/shardwise.hpp>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

using namespace shardwise;

namespace {

struct pod : mesh<axis<"data", 2>> {};
template <class Spec, index_t... N>
using tensor = sharded_tensor<float, extents<N...>, layout<pod, Spec>>;
using layer = nn::linear<tensor<P<none, none>, 6, 6>, tensor<P<none>, 6>>;
using X = tensor<P<"data", none>, 8, 6>;

template <class Below, class Above>
struct net {
  Below below;
  Above above;
  constexpr auto operator()(const auto& x) const { return above(below(x)); }
};
using model = net<nn::frozen<layer>, layer>;

// A class whose gradient has the same members, and could not be named otherwise.
struct plain {
  nn::frozen<std::vector<layer>> below;
  layer above;
};

constexpr auto loss = [](const auto& m, const auto& x) { return reshard<P<>>(mean(square(m(x)))); };

// The state holds two moments of what is trained, and the number of steps.
static_assert(nest_bytes<optim::adam_state<model>> == 2 * nest_bytes<layer> + 4);
static_assert(nest_bytes<optim::masters<optim::sgd>::state<model>> == 2 * nest_bytes<layer>);
static_assert(nest_elements<model> == 2 * nest_elements<layer>);

// A traversal of a gradient on paper skips them too.
constexpr int visited = [] {
  int count = 0;
  const auto visit = [&](const auto& m, const auto& x) {
    const auto slopes = gradient(loss)(m, x);
    for_each_parameter(slopes, [&](const leaf_path&, const auto&) { ++count; });
    return slopes.above.bias + 0.0F;
  };
  (void)trace_nests<256, model, X>(visit);
  return count;
}();
static_assert(visited == 2);

std::vector<std::string> names_of(const auto& nest) {
  std::vector<std::string> names;
  for (const auto& each : state_dict(nest)) names.push_back(each.name());
  return names;
}
const std::vector<float> none_of_36(36);

std::string path_of(const char* name) {
  return (std::filesystem::temp_directory_path() / name).string();
}

}  // namespace

TEST_CASE("a gradient leaves frozen parts out") {
  const device_pool pool{pod{}};
  const auto m = nn::initialise<model>(pool, random_key{1});
  const auto x = normal<X>(pool, random_key{2});
  const auto slopes = gradient(loss)(m, x);
  REQUIRE(slopes.below.is_left_out);
  REQUIRE(!m.below.is_left_out);
  REQUIRE(names_of(slopes) == std::vector<std::string>{"above.weight", "above.bias"});
  REQUIRE(count_parameters(slopes) == 42);
  REQUIRE(count_parameters(m) == 84);
  double sum_of_squares = 0;
  for_each_parameter(slopes, [&](const leaf_path&, const auto& w) {
    sum_of_squares += static_cast<double>(to_host(sum(square(w)))());
  });
  REQUIRE(std::sqrt(sum_of_squares) == Approx(to_host(optim::global_norm(slopes))()));
  // They read as zeros, also after a conversion and in an operation.
  REQUIRE(values(slopes.below.value.weight) == none_of_36);
  REQUIRE(values(slopes.below.value.bias + 1.0F) == std::vector<float>(6, 1.0F));
  const auto narrow = cast_nest<bfloat16>(slopes);
  REQUIRE(narrow.below.is_left_out);
  REQUIRE(values(cast<float>(narrow.below.value.weight)) == none_of_36);
  const auto [y, pull] = vjp([](const auto& n, const auto& in) { return n(in); }, m, x);
  REQUIRE(std::get<0>(pull(y)).below.is_left_out);

  plain p{{{m.above, m.above}}, m.above};
  const auto of_plain = gradient([](const plain& n, const X& in) {
    return reshard<P<>>(mean(square(n.above(n.below.value[1](in)))));
  })(p, x);
  REQUIRE(names_of(of_plain) == std::vector<std::string>{"above.weight", "above.bias"});
  REQUIRE(values(of_plain.below.value[1].weight) == none_of_36);
}

TEST_CASE("zeros like a model are the nest of a gradient") {
  const device_pool pool{pod{}};
  const auto m = nn::initialise<model>(pool, random_key{1});
  const auto x = normal<X>(pool, random_key{2});
  auto kept = zeros_like(m);
  REQUIRE(kept.below.is_left_out);
  REQUIRE(values(kept.below.value.weight) == none_of_36);
  REQUIRE(values(kept.above.weight) == none_of_36);
  auto find = step([](const model& n, model& slopes, const X& in) {
    auto [value, found] = value_and_grad(loss)(n, in);
    slopes = found;
    return std::pair{value, found};
  });
  const auto [value, found] = find(m, kept, x);
  const auto wanted = gradient(loss)(m, x);
  REQUIRE(values(kept.above.weight) == values(wanted.above.weight));
  REQUIRE(values(found.above.weight) == values(wanted.above.weight));
  REQUIRE(found.below.is_left_out);
  (void)find(m, kept, x);
  REQUIRE(find.programs() == 1);
}

TEST_CASE("the state of an optimizer leaves frozen parts out, and so do its files") {
  const device_pool pool{pod{}};
  auto m = nn::initialise<model>(pool, random_key{1});
  const auto x = normal<X>(pool, random_key{2});
  constexpr optim::adam learn;
  auto state = learn.start(m);
  const std::vector<std::string> wanted{"first.above.weight", "first.above.bias",
                                        "second.above.weight", "second.above.bias", "steps"};
  REQUIRE(names_of(state) == wanted);
  REQUIRE(names_of(optim::with_masters(learn).start(m))[0] == "masters.above.weight");
  REQUIRE(names_of(optim::sgd{}.start(m)).size() == 2);
  REQUIRE(names_of(optim::lion{}.start(m)).size() == 2);

  const optim::training_step learn_once{loss, learn};
  auto train = step(learn_once);
  for (int i = 0; i < 3; ++i) (void)train(m, state, 0.01F, x);
  REQUIRE(train.programs() == 1);
  REQUIRE(values(state.first.below.value.weight) == none_of_36);

  const std::string file = path_of("shardwise-left-out.safetensors");
  save_safetensors(file, state);
  auto restored = learn.start(m);
  load_safetensors(file, restored);
  REQUIRE(values(restored.first.above.weight) == values(state.first.above.weight));
  REQUIRE(to_host(restored.steps)() == 3);

  // A file of an earlier version has the weights of frozen parts in each moment.
  struct earlier {
    net<layer, layer> first, second;
    scalar<float, pod> steps;
  };
  const earlier old{
      {m.below.value, state.first.above}, {m.below.value, state.second.above}, state.steps};

  save_safetensors(file, old);
  auto again = learn.start(m);
  REQUIRE(load_safetensors(file, again).empty());
  REQUIRE(values(again.second.above.bias) == values(state.second.above.bias));
  auto third = learn.start(m);
  REQUIRE(load_state_dict(third, state_dict(old)).empty());
  REQUIRE(values(third.first.above.weight) == values(state.first.above.weight));
  REQUIRE(
      load_state_dict(state_dict(third).matching("first.*"), state_dict(old).matching("first.*"))
          .empty());
  REQUIRE(values(third.first.below.value.weight) == none_of_36);
  // Other names are refused as before.
  auto fourth = optim::sgd{}.start(m);
  REQUIRE_THROWS_WITH(load_state_dict(fourth, state_dict(old)),
                      contains("missing: 'momentum.above.weight'"));
  std::remove(file.c_str());
}
