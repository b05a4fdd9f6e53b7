// SPDX-License-Identifier: BSL-1.0
// Weights of other programs: a small directory with the names of a Llama model, loaded into the
// modules of the library.
#include "support/catch.hpp"
#include "support/temporary.hpp"
#include <shardwise/io.hpp>
#include <shardwise/nn.hpp>
#include <shardwise/shardwise.hpp>

#include <atomic>
#include <string>
#include <vector>

using namespace shardwise;
using Catch::Contains;
using support::temporary_folder;

namespace {

struct pod : mesh<axis<"data", 2>, axis<"model", 2>> {};
template <class T, class Spec, index_t... N>
using tensor = sharded_tensor<T, extents<N...>, layout<pod, Spec>>;

constexpr index_t words = 10, width = 6, hidden = 8, heads = 4, key_heads = 2, size = 2, depth = 3;

template <class T>
using norm_of = nn::rms_norm<tensor<T, P<none>, width>>;
template <class T>
using layer_of =
    nn::transformer_block<norm_of<T>,
                          nn::attention<tensor<T, P<none, "model", none>, width, heads, size>,
                                        tensor<T, P<none, "model", none>, width, key_heads, size>,
                                        tensor<T, P<none, "model", none>, width, key_heads, size>,
                                        tensor<T, P<"model", none, "data">, heads, size, width>>,
                          nn::gated_mlp<nn::linear<tensor<T, P<"data", "model">, width, hidden>>,
                                        nn::linear<tensor<T, P<none, "model">, width, hidden>>,
                                        nn::linear<tensor<T, P<"model", none>, hidden, width>>>>;
template <class T>
struct llama {
  nn::embedding<tensor<T, P<"model", none>, words, width>> tokens;
  std::vector<layer_of<T>> layers;
  norm_of<T> norm;
  nn::linear<tensor<T, P<none, "model">, width, words>> head;
};
template <class T>
llama<T> empty_llama(const device_pool& pool) {
  llama<T> made{{zeros<tensor<T, P<"model", none>, words, width>>(pool)},
                {},
                {zeros<tensor<T, P<none>, width>>(pool)},
                {zeros<tensor<T, P<none, "model">, width, words>>(pool)}};
  using query = tensor<T, P<none, "model", none>, width, heads, size>;
  using key = tensor<T, P<none, "model", none>, width, key_heads, size>;
  using merge = tensor<T, P<"model", none, "data">, heads, size, width>;
  for (index_t i = 0; i < depth; ++i)
    made.layers.push_back(
        {{zeros<tensor<T, P<none>, width>>(pool)},
         {zeros<query>(pool), zeros<key>(pool), zeros<key>(pool), zeros<merge>(pool)},
         {zeros<tensor<T, P<none>, width>>(pool)},
         {{zeros<tensor<T, P<"data", "model">, width, hidden>>(pool)},
          {zeros<tensor<T, P<none, "model">, width, hidden>>(pool)},
          {zeros<tensor<T, P<"model", none>, hidden, width>>(pool)}}});
  return made;
}

// The names and shapes of the other program.
struct weight_of {
  any_tensor<bfloat16> weight;
};
struct stored_attention {
  weight_of q_proj, k_proj, v_proj, o_proj;
};
struct stored_mlp {
  weight_of gate_proj, up_proj, down_proj;
};
struct stored_layer {
  weight_of input_layernorm, post_attention_layernorm;
  stored_attention self_attn;
  stored_mlp mlp;
};
struct stored_body {
  weight_of embed_tokens, norm;
  std::vector<stored_layer> layers;
};
struct stored_llama {
  stored_body model;
  weight_of lm_head;
};

/// Small numbers that differ from tensor to tensor and from element to element.
weight_of numbers(const device_pool& pool, const extents_desc& extents) {
  static int number = 0;
  number += 100;
  std::vector<bfloat16> all;
  for (index_t i = 0; i < element_count(extents); ++i)
    all.push_back(bfloat16(static_cast<float>((number + i) % 251)));
  const spec_desc whole = extents.ssize() == 1 ? spec_desc{{""}} : spec_desc{{"", ""}};
  return {distribute<bfloat16>(pool, all, extents, whole)};
}
stored_llama make_stored(const device_pool& pool) {
  stored_llama all{{numbers(pool, {words, width}), numbers(pool, {width}), {}},
                   numbers(pool, {words, width})};
  for (index_t i = 0; i < depth; ++i)
    all.model.layers.push_back(
        {numbers(pool, {width}),
         numbers(pool, {width}),
         {numbers(pool, {heads * size, width}), numbers(pool, {key_heads * size, width}),
          numbers(pool, {key_heads * size, width}), numbers(pool, {width, heads * size})},
         {numbers(pool, {hidden, width}), numbers(pool, {hidden, width}),
          numbers(pool, {width, hidden})}});
  return all;
}

constexpr stored_form transposed = stored_form::transposed;
const weight_table names{
    {"model.embed_tokens.weight", "tokens.table"},
    {"model.layers.*.input_layernorm.weight", "layers.*.attention_norm.scale"},
    {"model.layers.*.self_attn.q_proj.weight", "layers.*.attention.query", transposed},
    {"model.layers.*.self_attn.k_proj.weight", "layers.*.attention.key", transposed},
    {"model.layers.*.self_attn.v_proj.weight", "layers.*.attention.value", transposed},
    {"model.layers.*.self_attn.o_proj.weight", "layers.*.attention.out", transposed},
    {"model.layers.*.post_attention_layernorm.weight", "layers.*.mlp_norm.scale"},
    {"model.layers.*.mlp.*_proj.weight", "layers.*.mlp.*.weight", transposed},
    {"model.norm.weight", "norm.scale"},
    {"lm_head.weight", "head.weight", transposed},
};

/// Counts what is read of a directory.
class counted : public tensor_source {
 public:
  explicit counted(const tensor_source& from) : tensor_source(from.path()), from_(from) {
    set_header(from.header());
  }
  void read(const stored_tensor& stored, index_t place, std::span<std::byte> to) const override {
    bytes += static_cast<index_t>(to.size());
    from_.read(stored, place, to);
  }
  mutable std::atomic<index_t> bytes{0};

 private:
  const tensor_source& from_;
};

/// Requires that a matrix has the elements of a stored one, transposed.
template <class X>
void require_transposed(const X& x, const any_tensor<bfloat16>& stored) {
  const auto have = to_host(x);
  const auto from = to_host(stored);
  const index_t rows = from.extents()[0], columns = from.extents()[1];
  REQUIRE(have.size() == rows * columns);
  bool same = true;
  for (index_t r = 0; r < rows; ++r)
    for (index_t c = 0; c < columns; ++c)
      same = same && static_cast<float>(have.elements()[std::size_t(c * rows + r)]) ==
                         static_cast<float>(from(r, c));
  REQUIRE(same);
}

template <class T>
void require_loaded(const llama<T>& model, const stored_llama& stored) {
  const auto require_same = [](const auto& x, const any_tensor<bfloat16>& from) {
    const auto have = to_host(x);
    const auto wanted = to_host(from);
    REQUIRE(have.extents() == wanted.extents());
    bool same = true;
    for (std::size_t i = 0; i < have.elements().size(); ++i)
      same = same &&
             static_cast<float>(have.elements()[i]) == static_cast<float>(wanted.elements()[i]);
    REQUIRE(same);
  };
  require_same(model.tokens.table, stored.model.embed_tokens.weight);
  require_same(model.norm.scale, stored.model.norm.weight);
  require_transposed(model.head.weight, stored.lm_head.weight);
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    const layer_of<T>& mine = model.layers[i];
    const stored_layer& theirs = stored.model.layers[i];
    require_same(mine.attention_norm.scale, theirs.input_layernorm.weight);
    require_same(mine.mlp_norm.scale, theirs.post_attention_layernorm.weight);
    require_transposed(mine.attention.query, theirs.self_attn.q_proj.weight);
    require_transposed(mine.attention.key, theirs.self_attn.k_proj.weight);
    require_transposed(mine.attention.value, theirs.self_attn.v_proj.weight);
    require_transposed(mine.attention.out, theirs.self_attn.o_proj.weight);
    require_transposed(mine.mlp.gate.weight, theirs.mlp.gate_proj.weight);
    require_transposed(mine.mlp.up.weight, theirs.mlp.up_proj.weight);
    require_transposed(mine.mlp.down.weight, theirs.mlp.down_proj.weight);
  }
}

}  // namespace

TEST_CASE("a directory with the names of a Llama model loads into split modules") {
  const device_pool pool(pod{}, 2);
  const temporary_folder at("llama");
  const stored_llama stored = make_stored(pool);
  save_safetensors(at.path(), stored, shard_files{400});
  const safetensors_directory open(at.path());
  REQUIRE(open.shards() > 3);
  const counted source(open);
  auto model = empty_llama<bfloat16>(pool);
  REQUIRE(load_weights(source, model, names).empty());
  require_loaded(model, stored);
  REQUIRE(source.bytes == open.header().bytes());  // each byte once

  // Other elements are converted only where that is asked for.
  auto wide = empty_llama<float>(pool);
  REQUIRE_THROWS_WITH(load_weights(open, wide, names), Contains("bf16, not f32"));
  REQUIRE(to_host(wide.norm.scale)(0) == 0.0F);
  REQUIRE(load_weights(open, wide, names, state_names::all, stored_elements::converted).empty());
  require_loaded(wide, stored);

  // In part, by names.
  auto part = empty_llama<bfloat16>(pool);
  const auto before = to_host(part.layers[0].attention.query);
  const counted some(open);
  load_weights(some, state_dict(part).matching("layers.1.attention.*"), names);
  require_transposed(part.layers[1].attention.key, stored.model.layers[1].self_attn.k_proj.weight);
  REQUIRE(to_host(part.layers[0].attention.query) == before);
  REQUIRE(some.bytes == 2 * 2 * (heads + key_heads) * size * width);
}

TEST_CASE("weights that are left unset and weights that nothing needs are named") {
  const device_pool pool(pod{}, 2);
  const temporary_folder at("llama-names");
  stored_llama stored = make_stored(pool);
  stored.model.layers.pop_back();
  save_safetensors(at.path(), stored, shard_files{400});
  const safetensors_directory open(at.path());
  auto model = empty_llama<bfloat16>(pool);
  weight_table few = names;
  few.pop_back();
  REQUIRE_THROWS_WITH(load_weights(open, model, few),
                      Contains("state_names_differ") &&
                          Contains("'layers.2.attention.query: there is no "
                                   "'model.layers.2.self_attn.q_proj.weight''") &&
                          Contains("'head.weight: no row is for it'") &&
                          Contains("unexpected: 'lm_head.weight'"));
  REQUIRE(to_host(model.norm.scale)(0) == bfloat16(0.0F));
  const state_difference apart = load_weights(open, model, few, state_names::common);
  REQUIRE(apart.missing.size() == 10);
  REQUIRE(apart.missing.back() == "head.weight");
  REQUIRE(apart.unexpected == std::vector<std::string>{"lm_head.weight"});
  require_transposed(model.layers[1].mlp.down.weight, stored.model.layers[1].mlp.down_proj.weight);

  // Rows that leave tensors out, one tensor for two, and rows that contradict each other.
  model.layers.pop_back();
  few.push_back({"lm_head.*", ""});
  few.push_back({"model.embed_tokens.weight", "head.weight", transposed});
  REQUIRE(load_weights(open, model, few).empty());
  require_transposed(model.head.weight, stored.model.embed_tokens.weight);
  few.push_back({"lm_head.weight", "head.*"});
  REQUIRE_THROWS_WITH(load_weights(open, model, few),
                      Contains("the patterns of a row have as many * each"));
  few.back() = {"lm_head.*", "head.*"};
  REQUIRE_THROWS_WITH(load_weights(open, model, few),
                      Contains("several rows are for 'head.weight': those of "
                               "'model.embed_tokens.weight' and 'lm_head.*'"));
  few = names;
  few.back().form = stored_form::same;
  REQUIRE_THROWS_WITH(load_weights(open, model, few),
                      Contains("'lm_head.weight' is [10, 6]") &&
                          Contains("not split into those of 'head.weight', [6, 10]"));
  few = names;
  few[1].form = transposed;
  REQUIRE_THROWS_WITH(load_weights(open, model, few), Contains("is [6], transposed"));
}

TEST_CASE("patterns of names give other names") {
  const auto of = [](const char* name, const char* pattern, const char* target) {
    return translated_name(name, pattern, target).value_or("none");
  };
  REQUIRE(of("a.b", "a.b", "c") == "c");
  REQUIRE(of("layers.31.up", "layers.*.up", "x.*.y") == "x.31.y");
  REQUIRE(of("layers.3.1.up", "layers.*.up", "x.*.y") == "none");
  REQUIRE(of("layers..up", "layers.*.up", "x.*.y") == "none");
  REQUIRE(of("layers.3.up_proj", "layers.*.*_proj", "*:*") == "3:up");
  REQUIRE(of("a_a_b", "*_b", "*") == "a_a");
  REQUIRE(of("h.3", "h.*", "*.*") == "3.");
  REQUIRE(of("", "*", "x") == "none");
}

TEST_CASE("transposed weights are read into every kind of layout") {
  const device_pool pool(pod{}, 2);
  const temporary_folder at("llama-layouts");
  std::vector<float> host;
  for (int i = 0; i < 7 * 12; ++i) host.push_back(static_cast<float>(i));
  const std::tuple stored(distribute<float>(pool, host, {7, 12}, spec_desc{{"", ""}}));
  save_safetensors(at.path(), stored, shard_files{});
  const safetensors_directory open(at.path());
  const auto wanted = [](index_t c, index_t r) { return static_cast<float>(r * 12 + c); };
  const auto require_loaded = [&]<class X>(std::type_identity<X>) {
    std::tuple<X> nest{zeros<X>(pool)};
    load_weights(open, nest, {{"0", "0", transposed}});
    const auto have = to_host(std::get<0>(nest));
    bool same = true;
    for (index_t c = 0; c < 12; ++c)
      for (index_t r = 0; r < 7; ++r)
        same = same && have.elements()[std::size_t(c * 7 + r)] == wanted(c, r);
    REQUIRE(same);
  };
  const auto in = [&]<class Spec, index_t... N>(std::type_identity<Spec>, extents<N...>) {
    require_loaded(std::type_identity<
                   sharded_tensor<float, extents<N...>, layout<pod, Spec, partial<>, uneven>>>{});
  };
  in(std::type_identity<P<none, none>>{}, extents<12, 7>{});
  in(std::type_identity<P<"data", "model">>{}, extents<12, 7>{});
  in(std::type_identity<P<block_cyclic<2>("data"), block_cyclic<1>("model")>>{}, extents<12, 7>{});
  in(std::type_identity<P<none, "data", by("model"), none>>{}, extents<1, 3, 4, 7>{});
  in(std::type_identity<P<"data", none, none, "model">>{}, extents<2, 6, 1, 7>{});
  in(std::type_identity<P<"data", none, "model">>{}, extents<12, 1, 7>{});
}
