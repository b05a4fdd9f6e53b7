// SPDX-License-Identifier: BSL-1.0
// Convolutions, initial values, caches and generated texts of tensors whose layouts are values are
// what they are with types.
#include "support/catch.hpp"
#include "support/values.hpp"
#include <shardwise/nn.hpp>
#include <shardwise/shardwise.hpp>

#include <cmath>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

using namespace shardwise;

namespace {

struct pod : mesh<axis<"data", 2>, axis<"model", 2>> {};
// The batch of 3 is split unevenly.
template <class T, class Spec, index_t... N>
using elements = sharded_tensor<T, extents<N...>, layout<pod, Spec, partial<>, uneven>>;
template <class Spec, index_t... N>
using tensor = elements<double, Spec, N...>;
using stream = P<"data", none, none>;
using untyped = any_tensor<double>;

}  // namespace

TEST_CASE("convolutions of values are those of types, and so are their gradients") {
  const device_pool pool{pod{}};
  using X = tensor<P<"data", none, "model", none>, 3, 4, 5, 6>;
  const auto x = normal<X>(pool, random_key{1});
  const untyped any_x = x;
  using filter = tensor<P<none, none, none, none>, 6, 4, 3, 3>;
  using options = nn::with<paddings<1, 1>>;
  using halo = across_axes<"model">;
  const nn::convolution<filter, tensor<P<none>, 6>, options, nn::as_computed, halo> typed{
      normal<filter>(pool, random_key{2}), normal<tensor<P<none>, 6>>(pool, random_key{3})};
  const nn::convolution<untyped, untyped, options, nn::as_computed, halo> m{typed.filter,
                                                                            typed.bias};
  const auto y = typed(x);
  const untyped any_y = m(any_x);
  REQUIRE(any_y.layout() == decltype(y)::layout_type::value);
  REQUIRE(values(any_y) == values(y));
  REQUIRE(values(typed(any_x)) == values(y));  // of both kinds
  REQUIRE(values(m(x)) == values(y));
  constexpr auto loss = [](const auto& model, const auto& in) {
    return reshard<P<>>(sum(square(model(in))));
  };
  const auto made = gradient<0, 1>(loss)(m, any_x);
  const auto wanted = gradient<0, 1>(loss)(typed, x);
  require_close(values(std::get<0>(made).filter), values(std::get<0>(wanted).filter));
  require_close(values(std::get<0>(made).bias), values(std::get<0>(wanted).bias));
  require_close(values(std::get<1>(made)), values(std::get<1>(wanted)));

  // A sum over split channels is finished before the bias is added.
  using rows = tensor<P<none, "model", none, none>, 6, 4, 3, 3>;
  using finished = P<"data", none, none, none>;
  const auto channels = reshard<P<"data", "model", none, none>>(x);
  const nn::convolution<untyped, untyped, options, finished> by_channels{
      untyped(reshard<P<none, "model", none, none>>(typed.filter)), typed.bias};
  const nn::convolution<rows, tensor<P<none>, 6>, options, finished> typed_channels{
      reshard<P<none, "model", none, none>>(typed.filter), typed.bias};
  require_close(values(by_channels(untyped(channels))), values(typed_channels(channels)));
  require_close(values(by_channels(untyped(channels))), values(y));

  const nn::convolution_transpose<tensor<P<none, none, none, none>, 4, 2, 2, 2>, tensor<P<none>, 2>,
                                  nn::with<strides<2, 2>>>
      up{normal<tensor<P<none, none, none, none>, 4, 2, 2, 2>>(pool, random_key{4}),
         ones<tensor<P<none>, 2>>(pool)};
  const nn::convolution_transpose<untyped, untyped, nn::with<strides<2, 2>>> any_up{up.filter,
                                                                                    up.bias};
  const auto whole = reshard<P<"data", none, none, none>>(x);
  require_close(values(any_up(untyped(whole))), values(up(whole)));
  const nn::convolution<untyped> alone{typed.filter};
  REQUIRE_THROWS_WITH(alone(any_x), contains("dimension_is_split") &&
                                        contains("reshard<P<\"data\", none, none, none>>"));
}

TEST_CASE("initial values with layouts that are values have the bits of types") {
  const device_pool pool{pod{}};
  using W = tensor<P<none, "model">, 6, 7>;
  const extents_desc sizes{6, 7};
  const layout_desc split = W::layout_type::value;
  const random_key key{5};
  using enum nn::weight_of;
  REQUIRE(values(nn::kaiming_normal<double>(pool, key, sizes, split)) ==
          values(nn::kaiming_normal<W>(pool, key)));
  REQUIRE(values(nn::kaiming_uniform<double, merge>(pool, key, sizes, split, 1.5)) ==
          values(nn::kaiming_uniform<W, merge>(pool, key, 1.5)));
  REQUIRE(values(nn::xavier_normal<double, merge>(pool, key, sizes, split)) ==
          values(nn::xavier_normal<W, merge>(pool, key)));
  REQUIRE(values(nn::xavier_uniform<double>(pool, key, sizes, split)) ==
          values(nn::xavier_uniform<W>(pool, key)));
  const untyped cut = nn::truncated_normal<double>(pool, key, 0.5, sizes, split);
  REQUIRE(values(cut) == values(nn::truncated_normal<W>(pool, key, 0.5)));
  REQUIRE(cut.layout() == split);
  REQUIRE_THROWS_WITH(nn::kaiming_normal<double>(pool, key, sizes, spec_desc{{"", "model"}}),
                      contains("extent_is_not_divisible"));

  using typed = nn::mlp<nn::linear<W, tensor<P<"model">, 7>>,
                        nn::linear<tensor<P<"model", none>, 7, 6>, nn::no_bias, P<"data", none>>>;
  using layer =
      nn::mlp<nn::linear<untyped, untyped>, nn::linear<untyped, nn::no_bias, P<"data", none>>>;
  const auto wanted = nn::initialise<typed>(pool, random_key{1});
  const auto blank = [&]<class X>(std::type_identity<X>) { return untyped(ones<X>(pool)); };
  const layer shape{
      {blank(std::type_identity<W>{}), blank(std::type_identity<tensor<P<"model">, 7>>{})},
      {blank(std::type_identity<tensor<P<"model", none>, 7, 6>>{})}};
  const layer made = nn::initialise(pool, random_key{1}, shape);
  REQUIRE(made.up.weight.layout() == split);
  REQUIRE(values(made.up.weight) == values(wanted.up.weight));
  REQUIRE(values(made.up.bias) == values(wanted.up.bias));
  REQUIRE(values(made.down.weight) == values(wanted.down.weight));
  // A model with types keeps its types, and a vector its size.
  REQUIRE(values(nn::initialise(pool, random_key{1}, wanted).down.weight) ==
          values(wanted.down.weight));
  const std::vector<layer> all =
      nn::initialise(pool, random_key{1}, std::vector<layer>{shape, shape});
  REQUIRE(all.size() == 2);
  REQUIRE(values(all[0].down.weight) == values(wanted.down.weight));
  REQUIRE(values(all[1].down.weight) != values(wanted.down.weight));

  const auto small = [&](const untyped& like, random_key own) {
    return nn::truncated_normal<double>(pool, own, 1e-3, like.extents(), like.layout());
  };
  const layer other = nn::initialise(pool, random_key{1}, shape, nn::initial{"*.weight", small});
  REQUIRE(values(other.up.weight) != values(made.up.weight));
  for (const double each : values(other.up.weight)) REQUIRE(std::abs(each) <= 2e-3);
  REQUIRE_THROWS_WITH(nn::initialise(pool, random_key{1}, shape, nn::initial{"*.wieght", small}),
                      contains("'*.wieght' is the name of no tensor"));
}

namespace {

constexpr index_t positions = 6, width = 4, words = 12;
template <class W, class Merge, class Rotary>
using heads_of = nn::attention<W, W, W, Merge, stream, nn::causal, Rotary>;
template <class W, class Merge, class Scale, class Up, class Down, class Rotary>
using block_of =
    nn::transformer_block<nn::rms_norm<Scale>, heads_of<W, Merge, Rotary>,
                          nn::mlp<nn::linear<Up>, nn::linear<Down, nn::no_bias, stream>>>;
template <class Rotary>
using typed_block =
    block_of<tensor<P<none, "model", none>, width, 2, 4>,
             tensor<P<"model", none, none>, 2, 4, width>, tensor<P<none>, width>,
             tensor<P<none, "model">, width, 8>, tensor<P<"model", none>, 8, width>, Rotary>;
template <class Rotary>
using value_block = block_of<untyped, untyped, untyped, untyped, untyped, Rotary>;
template <class Rotary>
value_block<Rotary> forgotten(const typed_block<Rotary>& m) {
  return {{m.attention_norm.scale},
          {m.attention.query, m.attention.key, m.attention.value, m.attention.out},
          {m.mlp_norm.scale},
          {{m.mlp.up.weight}, {m.mlp.down.weight}}};
}

template <class Rotary>
void compare_caches() {
  const device_pool pool{pod{}};
  const auto typed = nn::initialise<typed_block<Rotary>>(pool, random_key{3});
  const value_block<Rotary> m = forgotten(typed);
  const auto x = normal<tensor<stream, 3, positions, width>>(pool, random_key{4});
  using first = tensor<stream, 3, 4, width>;
  using second = tensor<stream, 3, 2, width>;
  const first begin = slice_in_dim<1, 0, 4>(x);
  const second end = slice_in_dim<1, 4, 6>(x);
  using cache = nn::cache_for<typed_block<Rotary>, first, positions>;
  auto wanted = nn::empty_cache<cache>(pool);
  auto kept = nn::empty_cache(pool, m, untyped(begin), positions);
  static_assert(std::is_same_v<decltype(kept), nn::attention_cache<untyped>>);
  REQUIRE(kept.keys.layout() == decltype(cache::keys)::layout_type::value);
  REQUIRE(kept.keys.extents() == decltype(cache::keys)::extents_type::value);
  const untyped any_begin = begin, any_end = end;
  REQUIRE(values(m(any_begin, kept)) == values(typed(begin, wanted)));
  // Numbers and truth values as masks of all positions of the cache.
  const auto mask = generate<elements<bool, P<none, none>, 1, positions>>(
      pool, [](const global_index& at) { return at[1] != 1; });
  const any_tensor<bool> any_mask = mask;
  auto other = kept;
  auto other_wanted = wanted;
  const auto y = typed(end, wanted, nn::attention_mask{mask});
  REQUIRE(values(step(pool, [&] { return m(any_end, kept, nn::attention_mask{any_mask}); })) ==
          values(y));
  const auto bias = normal<tensor<P<none, none>, 2, positions>>(pool, random_key{6});
  REQUIRE(values(m(any_end, other, nn::attention_mask{untyped(bias)})) ==
          values(typed(end, other_wanted, nn::attention_mask{bias})));
  REQUIRE(to_host(kept.filled).elements()[0] == positions);
  REQUIRE(values(kept.keys) == values(wanted.keys));
  REQUIRE_THROWS_WITH(to_host(m(any_end, kept)), contains("part_is_beyond_end"));
}

}  // namespace

TEST_CASE("a cache of values has the keys and the results of one of types") {
  compare_caches<nn::no_rotary>();
  compare_caches<nn::rotary<>>();
  // Between two layouts, it is split like the input of the module.
  const device_pool pool{pod{}};
  using turned = nn::rotary<>;
  using inner = value_block<turned>;
  const nn::between<inner, stream> m{
      forgotten(nn::initialise<typed_block<turned>>(pool, random_key{3}))};
  const untyped x = normal<tensor<P<none, none, none>, 3, 1, width>>(pool, random_key{4});
  auto kept = nn::empty_cache(pool, m, x, positions);
  REQUIRE(kept.keys.layout().dims[0] == axis_list{0});
  require_close(values(m(x, kept)), values(m(x)));
}

namespace {

template <class Embedding, class Layer, class Head>
struct writer {
  Embedding read;
  Layer layer;
  Head head;

  constexpr auto operator()(const auto& text, auto& cache) const {
    return head(layer(read(text), cache));
  }
};
using typed_writer =
    writer<nn::embedding<tensor<P<"model", none>, words, width>, stream>, typed_block<nn::rotary<>>,
           nn::linear<tensor<P<none, "model">, width, words>>>;
using any_writer =
    writer<nn::embedding<untyped, stream>, value_block<nn::rotary<>>, nn::linear<untyped>>;

}  // namespace

TEST_CASE("texts from a model of values are those from a model of types") {
  const device_pool pool{pod{}};
  const auto typed = nn::initialise<typed_writer>(pool, random_key{4});
  const any_writer m{{typed.read.table}, forgotten(typed.layer), {typed.head.weight}};
  using Prompt = elements<std::int32_t, P<"data", none>, 3, 4>;
  const auto prompt = generate<Prompt>(pool, [](const global_index& at) {
    return static_cast<std::int32_t>((5 * at[0] + 7 * at[1]) % words);
  });
  const any_tensor<std::int32_t> any_prompt = prompt;
  using cache = nn::cache_for<typed_block<nn::rotary<>>, tensor<stream, 3, 1, width>, 9>;
  const nn::sampling by{.temperature = 1.5, .top_k = 8};
  auto typed_cache = nn::empty_cache<cache>(pool);
  const auto wanted = nn::generate(pool, typed, typed_cache, prompt, 6, by, random_key{5});
  auto kept = nn::empty_cache(pool, m.layer, m.read(any_prompt), 9);
  REQUIRE(nn::generate(pool, m, kept, any_prompt, 6, by, random_key{5}) == wanted);
  REQUIRE(to_host(kept.filled).elements()[0] == 9);
  // The prompt may be a type beside a model of values.
  auto again = nn::empty_cache(pool, m.layer, m.read(prompt), 9);
  REQUIRE(nn::generate(pool, m, again, prompt, 6, by, random_key{5}) == wanted);
}
