// SPDX-License-Identifier: BSL-1.0
// Plans, which assign layouts by the names of parameters, as types and as values.
#include "support/catch.hpp"
#include <shardwise/nn.hpp>
#include <shardwise/optim.hpp>
#include <shardwise/shardwise.hpp>

#include <array>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

using namespace shardwise;
using Catch::Contains;

namespace {

struct pod : mesh<axis<"data", 2>, axis<"model", 2>> {};

template <class Spec, index_t... N>
using tensor = sharded_tensor<float, extents<N...>, layout<pod, Spec>>;
using stream = P<"data", none, none>;
using hidden = tensor<stream, 4, 6, 8>;
using ids = sharded_tensor<std::int32_t, extents<4, 6>, layout<pod, P<"data", none>>>;

// A replicated model.
using norm = nn::rms_norm<tensor<P<none>, 8>>;
using heads = tensor<P<none, none, none>, 8, 2, 4>;
using merge = tensor<P<none, none, none>, 2, 4, 8>;
using up = nn::linear<tensor<P<none, none>, 8, 16>, tensor<P<none>, 16>>;
using down = nn::linear<tensor<P<none, none>, 16, 8>, tensor<P<none>, 8>>;
using layer =
    nn::transformer_block<norm, nn::attention<heads, heads, heads, merge>, nn::mlp<up, down>>;

template <class Embedding, class Layer, class Head>
struct net {
  Embedding embedding;
  std::array<Layer, 2> layers;
  Head head;

  constexpr auto operator()(const auto& words) const {
    return head(layers[1](layers[0](embedding(words))));
  }
};
using whole = net<nn::embedding<tensor<P<none, none>, 10, 8>>, layer,
                  nn::frozen<nn::linear<tensor<P<none, none>, 8, 10>>>>;

struct tensor_parallel
    : nn::complete_plan<
          nn::row_wise<"embedding", "model", stream>, nn::row_wise<"*.attention.out", "model">,
          nn::column_wise<"*.attention.*", "model">, nn::finish<"*.attention", stream>,
          nn::column_wise<"*.up", "model">, nn::row_wise<"*.down", "model", stream>,
          nn::prepare<"*_norm", P<"data", "model", none>, stream>, nn::unchanged<"*_norm">,
          nn::place<"head.weight", P<none, "model">>> {};
using split = nn::planned<whole, tensor_parallel>;
using split_layer = std::remove_cvref_t<decltype(split::layers[0])>;

template <class A, class B>
inline constexpr bool same = std::is_same_v<A, B>;
static_assert(
    same<decltype(split::embedding), nn::embedding<tensor<P<"model", none>, 10, 8>, stream>>);
static_assert(same<decltype(split_layer::attention),
                   nn::attention<tensor<P<none, "model", none>, 8, 2, 4>,
                                 tensor<P<none, "model", none>, 8, 2, 4>,
                                 tensor<P<none, "model", none>, 8, 2, 4>,
                                 tensor<P<"model", none, none>, 2, 4, 8>, stream>>);
static_assert(
    same<decltype(split_layer::mlp),
         nn::mlp<nn::linear<tensor<P<none, "model">, 8, 16>, tensor<P<"model">, 16>>,
                 nn::linear<tensor<P<"model", none>, 16, 8>, tensor<P<none>, 8>, stream>>>);
static_assert(
    same<decltype(split_layer::mlp_norm), nn::between<norm, P<"data", "model", none>, stream>>);
static_assert(same<decltype(split::head), nn::frozen<nn::linear<tensor<P<none, "model">, 8, 10>>>>);

// A plan that changes nothing returns the model itself; plans work for models on paper too.
static_assert(same<nn::planned<whole, nn::plan<>>, whole>);
static_assert(same<nn::planned<whole, nn::complete_plan<nn::unchanged<"*">>>, whole>);
static_assert(same<nn::planned<on_paper<whole>, tensor_parallel>, on_paper<split>>);
static_assert(same<nn::planned<split, nn::plan<nn::unchanged<"*_norm">>>, split>);
// The first rule that finishes a module applies, and a module that is wrapped keeps its inputs.
using whole_down = nn::linear<tensor<P<none, none>, 16, 8>, tensor<P<none>, 8>>;
static_assert(
    same<nn::planned<std::tuple<whole_down>,
                     nn::plan<nn::finish<"0", stream>, nn::finish<"*", P<none, none, none>>>>,
         std::tuple<nn::linear<tensor<P<none, none>, 16, 8>, tensor<P<none>, 8>, stream>>>);
static_assert(
    same<
        nn::planned<std::tuple<whole_down>,
                    nn::plan<nn::prepare<"0", P<"data", "model", none>>, nn::finish<"0", stream>>>,
        std::tuple<nn::between<nn::linear<tensor<P<none, none>, 16, 8>, tensor<P<none>, 8>, stream>,
                               P<"data", "model", none>>>>);

// The first matching rule applies; axes in `by(...)` are major to minor; vectors and optionals.
using ruled = nn::plan<nn::unchanged<"1.*">, nn::column_wise<"*.weight", by("model", "data")>,
                       nn::row_wise<"*.bias", "model">>;
static_assert(
    same<nn::planned<std::tuple<up, up, std::vector<up>, std::optional<down>>, ruled>,
         std::tuple<
             nn::linear<tensor<P<none, by("model", "data")>, 8, 16>, tensor<P<none>, 16>>, up,
             std::vector<
                 nn::linear<tensor<P<none, by("model", "data")>, 8, 16>, tensor<P<none>, 16>>>,
             std::optional<
                 nn::linear<tensor<P<none, by("model", "data")>, 16, 8>, tensor<P<none>, 8>>>>>);
static_assert(same<nn::planned<tensor<P<none>, 8>, nn::plan<nn::column_wise<"*", "data">>>,
                   tensor<P<"data">, 8>>);

// Fully sharded in addition: the first dimension that is divided evenly; a parameter without one
// does not change.
using stored = nn::planned<split, nn::plan<nn::fully_sharded<"*", "data">>>;
using stored_layer = std::remove_cvref_t<decltype(stored::layers[0])>;
static_assert(
    same<decltype(stored_layer::mlp),
         nn::mlp<nn::linear<tensor<P<"data", "model">, 8, 16>, tensor<P<by("model", "data")>, 16>>,
                 nn::linear<tensor<P<by("model", "data"), none>, 16, 8>, tensor<P<"data">, 8>,
                            stream>>>);
static_assert(same<nn::planned<tensor<P<none>, 7>, nn::plan<nn::fully_sharded<"*", "data">>>,
                   tensor<P<none>, 7>>);
static_assert(
    same<nn::planned<tensor<P<none>, 8>, nn::plan<nn::fully_sharded<"*", by("data", "model")>>>,
         tensor<P<by("data", "model")>, 8>>);
static_assert(nest_bytes<stored> * 2 == nest_bytes<split>);

static_assert(same<nn::whole<float, pod, 8, 16>, tensor<P<none, none>, 8, 16>>);
static_assert(same<nn::whole<float, pod>, tensor<P<>>>);

// Specs of logical names; the state of an optimizer; modules in `between`.
struct logical : axis_rules<pod, maps<"embed", "data">, maps<"hidden", "model">> {};
static_assert(
    same<nn::planned<const up&, nn::plan<nn::place<"weight", named_spec<logical, dim<"embed", 8>,
                                                                        dim<"hidden", 16>>>>>,
         nn::linear<tensor<P<"data", "model">, 8, 16>, tensor<P<none>, 16>>>);
struct columns_of_all : nn::plan<nn::column_wise<"*", "model">> {};
static_assert(same<nn::planned<optim::adam_state<up>, columns_of_all>,
                   optim::adam_state<nn::planned<up, columns_of_all>>>);
struct finishes_first : nn::plan<nn::finish<"0", P<none, none>>> {};
static_assert(same<nn::planned<std::tuple<nn::between<down, P<none, none>>>, finishes_first>,
                   std::tuple<nn::between<
                       nn::linear<tensor<P<none, none>, 16, 8>, tensor<P<none>, 8>, P<none, none>>,
                       P<none, none>>>>);

// A policy is kept, and an uneven dimension may be split unevenly.
template <class Spec>
using ragged = sharded_tensor<float, extents<7>, layout<pod, Spec, partial<>, uneven>>;
static_assert(
    same<nn::planned<ragged<P<none>>, nn::plan<nn::column_wise<"", "data">>>, ragged<P<"data">>>);

constexpr auto loss = [](const auto& m, const auto& words) {
  const auto scores = m(words);
  return reshard<P<>>(mean(square(scores)));
};
constexpr auto stored_loss = [](const auto& m, const auto& words) {
  return loss(nn::distribute_module<split>(m), words);
};
// Two layers, each with two sums over `model` and two gathers of its positions, after the norms;
// one sum before them, and one number after them.
constexpr auto cost = trace_nests<512, split, ids>(loss);
static_assert(cost.collectives(collective::all_reduce, "model") == 2 * 2 + 1 + 1);
static_assert(cost.collectives(collective::all_gather, "model") == 2 * 2);
// The layouts, the calls and the gradients equal those of handwritten layouts.
constexpr auto by_plan = [](const auto& m, const auto& words) {
  return loss(nn::distribute_module<tensor_parallel>(m), words);
};
static_assert(trace_nests<512, whole, ids>(by_plan).collectives() == cost.collectives());
static_assert(
    trace_nests<512, stored, ids>(stored_loss).collectives(collective::all_gather, "data") > 0);

std::vector<float> values(const auto& x) {
  const auto host = to_host(x);
  return {host.elements().begin(), host.elements().end()};
}
void require_close(const std::vector<float>& a, const std::vector<float>& b) {
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) REQUIRE(a[i] == Approx(b[i]).margin(1e-5));
}

}  // namespace

TEST_CASE("a planned model computes the same, and so does its gradient") {
  const device_pool pool{pod{}};
  const auto m = nn::initialise<whole>(pool, random_key{1});
  const auto words = generate<ids>(pool, [](const global_index& at) {
    return static_cast<std::int32_t>((3 * at[0] + at[1]) % 10);
  });
  const auto made = nn::distribute_module<tensor_parallel>(m);
  static_assert(same<std::remove_const_t<decltype(made)>, split>);
  const auto [wanted, gradients] = value_and_grad(loss)(m, words);
  const auto [value, made_gradients] = value_and_grad(loss)(made, words);
  const stored kept = nn::distribute_module<nn::plan<nn::fully_sharded<"*", "data">>>(made);
  const auto [stored_value, stored_gradients] = value_and_grad(stored_loss)(kept, words);
  // The plan within the loss: the gradients equal those of the replicated model.
  const auto [by_plan_value, by_plan_gradients] = value_and_grad(by_plan)(m, words);
  static_assert(same<std::remove_cvref_t<decltype(by_plan_gradients.layers[0].mlp_norm.scale)>,
                     tensor<P<none>, 8>>);
  REQUIRE(to_host(by_plan_value)() == to_host(value)());
  REQUIRE(to_host(value)() == Approx(to_host(wanted)()));
  REQUIRE(to_host(stored_value)() == Approx(to_host(wanted)()));
  for (std::size_t l = 0; l < 2; ++l) {
    const auto right = values(gradients.layers[l].attention.out);
    require_close(values(made_gradients.layers[l].attention.out), right);
    require_close(values(stored_gradients.layers[l].attention.out), right);
    require_close(values(by_plan_gradients.layers[l].attention.out), right);
    require_close(values(made_gradients.layers[l].mlp_norm.inner.scale),
                  values(gradients.layers[l].mlp_norm.scale));
  }

  // Its tensors keep their names, so that either model loads what the other saved; the plan can be
  // reversed.
  split other = nn::initialise<split>(pool, random_key{2});
  REQUIRE(load_state_dict(other, state_dict(m)).empty());
  REQUIRE(to_host(loss(other, words))() == to_host(value)());
  const whole back = nn::distribute_module<whole>(made);
  REQUIRE(values(back.layers[1].mlp_norm.scale) == values(m.layers[1].mlp_norm.scale));
  REQUIRE(to_host(loss(back, words))() == to_host(wanted)());
}

namespace {

using value_layer =
    nn::mlp<nn::linear<any_tensor<float>, any_tensor<float>>, nn::linear<any_tensor<float>>>;

std::vector<value_layer> value_layers(const device_pool& pool) {
  const auto random = [&]<index_t... N>(std::uint64_t key, extents<N...>) {
    return any_tensor<float>(
        normal<sharded_tensor<
            float, extents<N...>,
            layout<pod, std::conditional_t<sizeof...(N) == 2, P<none, none>, P<none>>>>>(
            pool, random_key{key}));
  };
  std::vector<value_layer> layers;
  for (std::uint64_t i = 0; i < 2; ++i)
    layers.push_back({{random(3 * i, extents<8, 16>{}), random(3 * i + 1, extents<16>{})},
                      {random(3 * i + 2, extents<16, 8>{})}});
  return layers;
}
std::string spec_of(const any_tensor<float>& x) {
  return std::string(text_view(to_text(x.mesh(), x.tensor())).data(),
                     text_view(to_text(x.mesh(), x.tensor())).size());
}

}  // namespace

TEST_CASE("a plan that is a value reshards tensors whose layouts are values") {
  const device_pool pool{pod{}};
  const auto layers = value_layers(pool);
  using enum nn::plan_action;
  const nn::plan_rule_desc rules[] = {{"1.up.bias", unchanged},
                                      {"*.up", columns, "model"},
                                      {"0.down", rows, "model"},
                                      {"*.down.weight", place, {}, {{"", "data"}}}};
  const auto made = nn::distribute_module(layers, nn::plan_desc{rules, true});
  REQUIRE(spec_of(made[0].up.weight) == "f32[8, 16@model]");
  REQUIRE(spec_of(made[0].up.bias) == "f32[16@model]");
  REQUIRE(spec_of(made[1].up.bias) == "f32[16]");
  REQUIRE(spec_of(made[0].down.weight) == "f32[16@model, 8]");
  REQUIRE(spec_of(made[1].down.weight) == "f32[16, 8@data]");
  REQUIRE(values(made[1].down.weight) == values(layers[1].down.weight));
  const nn::plan_rule_desc further_rules[] = {{"*", further, "data"}};
  const auto sharded = nn::distribute_module(made, nn::plan_desc{further_rules});
  REQUIRE(spec_of(sharded[0].up.weight) == "f32[8@data, 16@model]");
  REQUIRE(spec_of(sharded[0].up.bias) == "f32[16@(model,data)]");
  REQUIRE(spec_of(sharded[1].down.weight) == "f32[16, 8@data]");
  REQUIRE(values(sharded[0].up.bias) == values(layers[0].up.bias));

  // The same plan as a type.
  using as_type = nn::plan<nn::column_wise<"*.up", "model">, nn::row_wise<"*.down", "model">>;
  const auto typed = nn::distribute_module<as_type>(layers);
  REQUIRE(spec_of(typed[1].up.weight) == "f32[8, 16@model]");
  REQUIRE(spec_of(typed[1].down.weight) == "f32[16@model, 8]");
}

TEST_CASE("a plan that is a value and does not fit is refused with the names") {
  const device_pool pool{pod{}};
  const auto layers = value_layers(pool);
  using enum nn::plan_action;
  const auto refused = [&](const auto& model, const nn::plan_rule_desc& rule, bool is_complete) {
    (void)nn::distribute_module(model, nn::plan_desc{{&rule, 1}, is_complete});
  };
  REQUIRE_THROWS_WITH(refused(layers, {"*.upp", columns, "model"}, false),
                      Contains("pattern_matches_nothing") && Contains("'*.upp'") &&
                          Contains("'0.up.weight', '0.up.bias'"));
  REQUIRE_THROWS_WITH(
      refused(layers, {"*.up", columns, "model"}, true),
      Contains("parameter_has_no_rule") && Contains("'0.down.weight', '1.down.weight'"));
  REQUIRE_THROWS_WITH(
      refused(layers, {"*.up", columns, "modle"}, false),
      Contains("axis_is_not_in_mesh") && Contains("modle") && Contains("0.up.weight"));
  REQUIRE_THROWS_WITH(refused(layers, {"*.up", place, {}, {{"data"}}}, false),
                      Contains("rank_differs_from_spec") && Contains("0.up.weight"));
  REQUIRE_THROWS_WITH(refused(layers, {"*.up", module}, false),
                      Contains("planned_layout_is_fixed"));
  const auto typed = nn::initialise<up>(pool, random_key{1});
  REQUIRE_THROWS_WITH(refused(typed, {"bias", columns, "model"}, false),
                      Contains("planned_layout_is_fixed") && Contains("bias"));
  REQUIRE_NOTHROW(refused(typed, {"bias", rows, "model"}, false));
}
