// SPDX-License-Identifier: BSL-1.0
// Modules whose inputs and outputs are resharded, called with more than tensors.
#include "support/catch.hpp"
#include "support/values.hpp"
#include <shardwise/nn.hpp>
#include <shardwise/shardwise.hpp>

#include <ratio>
#include <type_traits>
#include <vector>

using namespace shardwise;

namespace {

struct pod : mesh<axis<"data", 2>, axis<"model", 2>> {};
// The batch of 3 is split unevenly.
template <class T, class Spec, index_t... N>
using elements = sharded_tensor<T, extents<N...>, layout<pod, Spec, partial<>, uneven>>;
template <class Spec, index_t... N>
using tensor = elements<double, Spec, N...>;
using whole_stream = P<none, none, none>;
using stream = P<"data", none, none>;
using by_position = P<none, "data", none>;

constexpr index_t batch = 3, positions = 5, width = 4;
template <class To>
using heads_to = nn::attention<tensor<P<none, none, none>, width, 2, 3>,
                               tensor<P<none, none, none>, width, 2, 3>,
                               tensor<P<none, none, none>, width, 2, 3>,
                               tensor<P<none, none, none>, 2, 3, width>, nn::as_computed, To>;
template <class To>
using block_to = nn::transformer_block<nn::rms_norm<tensor<P<none>, width>>, heads_to<To>,
                                       nn::mlp<nn::linear<tensor<P<none, none>, width, 8>>,
                                               nn::linear<tensor<P<none, none>, 8, width>>>>;
template <class Layer>
struct net {
  Layer layer;
  constexpr auto operator()(const auto& x, auto&&... others) const {
    return layer(x, std::forward<decltype(others)>(others)...);
  }
};
using whole = net<block_to<nn::bidirectional>>;
using causal = net<block_to<nn::causal>>;

// The layer splits the batch and returns split positions; its heads are split by their weights.
struct parts
    : nn::plan<nn::prepare<"layer", stream, by_position>, nn::row_wise<"*.out", "model">,
               nn::column_wise<"*.attention.*", "model">, nn::finish<"*.attention", stream>> {};
using split = nn::planned<whole, parts>;
static_assert(std::is_same_v<decltype(split::layer)::adds_no_name, void>);

using X = tensor<whole_stream, batch, positions, width>;
using padding = elements<bool, P<"data", none, none, none>, batch, 1, 1, positions>;
using whole_padding = elements<bool, P<none, none, none, none>, batch, 1, 1, positions>;

constexpr auto call_masked = [](const auto& m, const auto& x, const auto& mask) {
  return m(x, nn::attention_mask{mask});
};
// The ends of attention, and the output from batches to positions: the mask adds nothing.
constexpr cost_ledger cost = trace_nests<256, split, X, padding>(call_masked);
static_assert(cost.collectives(collective::all_reduce, "model") == 1);
static_assert(cost.collectives() == 2);

template <class Mask>
Mask words(const device_pool& pool) {
  return generate<Mask>(pool, [](const global_index& at) { return at[3] < 2 + at[0]; });
}

}  // namespace

TEST_CASE("a block under a plan takes a mask, and has the result and the gradient of the block") {
  const device_pool pool{pod{}};
  const auto m = nn::initialise<whole>(pool, random_key{1});
  const split made = nn::distribute_module<parts>(m);
  const auto x = normal<X>(pool, random_key{2});
  const auto mask = words<padding>(pool);
  const auto whole_mask = words<whole_padding>(pool);

  const auto y = call_masked(made, x, mask);
  static_assert(std::is_same_v<typename std::remove_cvref_t<decltype(y)>::layout_type::spec_type,
                               by_position>);
  require_close(values(y), values(call_masked(m, x, whole_mask)));
  REQUIRE(values(y) != values(made(x)));

  constexpr auto loss = [](const auto& model, const auto& in, const auto& mask_of) {
    return reshard<P<>>(sum(square(call_masked(model, in, mask_of))));
  };
  const auto gradients = gradient(loss)(made, x, mask);
  const auto wanted = gradient(loss)(m, x, whole_mask);
  require_close(values(gradients.layer.inner.attention.query),
                values(wanted.layer.attention.query));
  require_close(values(gradients.layer.inner.mlp.up.weight), values(wanted.layer.mlp.up.weight));

  // A tensor whose layout is a value is an input like others.
  const any_tensor<double> untyped = x;
  const any_tensor<double> result = call_masked(made, untyped, mask);
  REQUIRE(result.layout() == decltype(y)::layout_type::value);
  require_close(values(result), values(y));

  // A run moves what the ledger says; its memory holds the other tensors of this test too.
  sync(pool);
  pool.reset_counters();
  (void)step(pool, [&] { return call_masked(made, x, mask); });
  REQUIRE(pool.counters().collectives() == cost.collectives());
  REQUIRE(pool.counters().bytes_moved() == cost.bytes_moved());
  REQUIRE(pool.counters().flops() == cost.flops());
}

TEST_CASE("a block under a plan appends to a cache") {
  const device_pool pool{pod{}};
  const auto m = nn::initialise<causal>(pool, random_key{1});
  const auto made = nn::distribute_module<parts>(m);
  using layer = std::remove_cvref_t<decltype(made.layer)>;
  // Its keys are split like the input after the reshard, and like the weights.
  using cache = nn::cache_for<layer, tensor<whole_stream, batch, 1, width>, positions>;
  static_assert(std::is_same_v<decltype(cache::keys)::layout_type::spec_type,
                               P<"data", "model", none, none>>);
  auto filled = nn::empty_cache<cache>(pool);
  const auto x = normal<X>(pool, random_key{2});
  const auto all = to_host(m(x));
  const auto take = [&]<index_t Begin, index_t N>(std::integral_constant<index_t, Begin>,
                                                  std::integral_constant<index_t, N>) {
    const auto own = slice_in_dim<1, Begin, Begin + N>(x);
    const auto y = to_host(made(own, filled));
    for (index_t b = 0; b < batch; ++b)
      for (index_t s = 0; s < N; ++s)
        for (index_t d = 0; d < width; ++d)
          REQUIRE(y(b, s, d) == Approx(all(b, Begin + s, d)).margin(1e-12));
    REQUIRE(to_host(filled.filled)() == Begin + N);
  };
  take(std::integral_constant<index_t, 0>{}, std::integral_constant<index_t, 3>{});
  take(std::integral_constant<index_t, 3>{}, std::integral_constant<index_t, 1>{});
  take(std::integral_constant<index_t, 4>{}, std::integral_constant<index_t, 1>{});
}

TEST_CASE("a context is an input, and a permission is passed on") {
  const device_pool pool{pod{}};
  const auto m = nn::initialise<heads_to<nn::bidirectional>>(pool, random_key{1});
  // Queries and keys are split by positions; the keys are gathered.
  const nn::between<heads_to<nn::bidirectional>, P<"data", "model", none>> made{m};
  const auto x = normal<X>(pool, random_key{2});
  const auto context = normal<tensor<whole_stream, batch, 4, width>>(pool, random_key{3});
  const auto y = made(x, context, across<"model">);
  static_assert(std::is_same_v<typename std::remove_cvref_t<decltype(y)>::layout_type::spec_type,
                               P<"data", "model", none>>);
  require_close(values(y), values(m(x, context)));
}

TEST_CASE("a norm of batches between layouts takes a momentum, and returns two results") {
  const device_pool pool{pod{}};
  using scale = tensor<P<none>, width>;
  using norm = nn::batch_norm<scale, scale, nn::running_moments<scale>, across_axes<"data">>;
  const norm m{ones<scale>(pool), zeros<scale>(pool), {{zeros<scale>(pool), ones<scale>(pool)}}};
  const nn::between<norm, P<"data", none>, P<none, none>> made{m};
  const auto x = normal<tensor<P<none, none>, 7, width>>(pool, random_key{2});
  const auto [y, running] = made(x, nn::momentum{0.1});
  static_assert(
      std::is_same_v<std::remove_cvref_t<decltype(y)>::layout_type::spec_type, P<none, none>>);
  const auto [wanted, moments] = m(x, nn::momentum{0.1});
  require_close(values(y), values(wanted));
  require_close(values(running.mean), values(moments.mean));

  // A key is passed on, too.
  const nn::between<nn::dropout<std::ratio<1, 2>>, P<"data", none>> drop{{}};
  REQUIRE(values(drop(x, random_key{5})) ==
          values(nn::dropout<std::ratio<1, 2>>{}(x, random_key{5})));
}
