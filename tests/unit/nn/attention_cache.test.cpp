// SPDX-License-Identifier: BSL-1.0
// Attention with a cache of keys and values: what it computes, costs and refuses.
#include "support/catch.hpp"
#include <shardwise/nn.hpp>
#include <shardwise/shardwise.hpp>

#include <cmath>
#include <tuple>
#include <vector>

using namespace shardwise;

namespace {

struct pod : mesh<axis<"data", 2>, axis<"model", 2>> {};

template <class Spec, index_t... N>
using tensor = sharded_tensor<double, extents<N...>, layout<pod, Spec>>;

constexpr index_t batch = 4, positions = 11, width = 8, heads = 4, size = 4;
using stream = P<"data", none, none>;
template <index_t N>
using part = tensor<stream, batch, N, width>;

/// Split heads, with `KeyHeads` heads of keys and values.
template <index_t KeyHeads, class Rotary>
using heads_of =
    nn::attention<tensor<P<none, "model", none>, width, heads, size>,
                  tensor<P<none, "model", none>, width, KeyHeads, size>,
                  tensor<P<none, "model", none>, width, KeyHeads, size>,
                  tensor<P<"model", none, none>, heads, size, width>, stream, nn::causal, Rotary>;
using plain = heads_of<heads, nn::no_rotary>;
using turned = heads_of<2, nn::rotary<>>;
using neighbours = heads_of<4, nn::rotary<std::ratio<100>, rotary_pairs::neighbours>>;
using norm = nn::layer_norm<tensor<P<none>, width>>;
using block = nn::transformer_block<
    norm, turned,
    nn::mlp<nn::linear<tensor<P<none, "model">, width, 16>>,
            nn::linear<tensor<P<"model", none>, 16, width>, nn::no_bias, stream>>>;

// Keys are split like their weights and like the batch.
using cache = nn::cache_for<block, part<1>, positions>;
static_assert(std::is_same_v<decltype(cache::keys),
                             tensor<P<"data", "model", none, none>, batch, 2, positions, size>>);
static_assert(std::is_same_v<nn::cache_for<block, on_paper<part<5>>, positions>, cache>);

constexpr auto call = [](const auto& module, const auto& x) { return module(x); };
constexpr auto call_with_cache = [](const auto& module, auto filled, const auto& x) {
  auto y = module(x, filled);
  return std::tuple{y, filled.keys, filled.values, filled.filled};
};
// The communication is the same as without a cache.
constexpr cost_ledger forward = trace_nests<256, block, part<3>>(call);
constexpr cost_ledger next = trace_nests<256, block, cache, part<3>>(call_with_cache);
static_assert(next.collectives() == forward.collectives());
static_assert(next.bytes_moved("model") == forward.bytes_moved("model"));
static_assert(next.collectives("data") == 0);

/// The results of the module for the positions in parts of these sizes, and for all positions at
/// once.
template <class Module, index_t... Sizes>
void compare() {
  static_assert((Sizes + ...) == positions);
  const device_pool pool{pod{}};
  const auto module = nn::initialise<Module>(pool, random_key{3});
  const auto x = normal<part<positions>>(pool, random_key{4});
  const auto all = to_host(module(x));
  auto filled = nn::empty_cache<nn::cache_for<Module, part<1>, positions>>(pool);
  index_t begin = 0;
  const auto take = [&]<index_t N>(std::integral_constant<index_t, N>) {
    const part<N> own = dynamic_slice<1, N>(x, begin);
    const auto y = to_host(step(pool, [&] { return module(own, filled); }));
    for (index_t b = 0; b < batch; ++b)
      for (index_t s = 0; s < N; ++s)
        for (index_t d = 0; d < width; ++d) {
          CAPTURE(begin, b, s, d);
          REQUIRE(y(b, s, d) == Approx(all(b, begin + s, d)).margin(1e-12));
        }
    begin += N;
    REQUIRE(to_host(filled.filled)() == begin);
  };
  (take(std::integral_constant<index_t, Sizes>{}), ...);
}

}  // namespace

TEST_CASE("positions one after another, or several, are those of the whole text") {
  compare<plain, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1>();
  compare<turned, 5, 1, 1, 3, 1>();
  compare<neighbours, 1, 9, 1>();
  compare<block, 4, 1, 6>();
}

namespace {

using mine = nn::cache_for<plain, part<1>, positions>;
using Keys = decltype(mine::keys);
using Filled = decltype(mine::filled);

/// The cost of one more position on paper, with these inputs as the cache.
constexpr cost_ledger cost_of(const auto& keys, const auto& values, const auto& filled) {
  constexpr auto one_more = [](const auto& q, const auto& k, const auto& v, const auto& out,
                               const auto& x, const auto& had, const auto& met, const auto& count) {
    on_paper<mine> all{had, met, count};
    auto y = on_paper<plain>{q, k, v, out}(x, all);
    return std::tuple{all.keys, all.values, all.filled, y};  // as they are written
  };
  return trace(one_more, abstract<decltype(plain::query)>(), abstract<decltype(plain::key)>(),
               abstract<decltype(plain::value)>(), abstract<decltype(plain::out)>(),
               abstract<part<1>>(), keys, values, filled);
}
constexpr cost_ledger given =
    cost_of(donate(abstract<Keys>()), donate(abstract<Keys>()), donate(abstract<Filled>()));
constexpr cost_ledger held = cost_of(abstract<Keys>(), abstract<Keys>(), abstract<Filled>());

}  // namespace

TEST_CASE("the cache is written into, and not copied") {
  static_assert(held.peak_bytes_per_device() > given.peak_bytes_per_device());
  // Keys and values, the weights, and the intermediate values of one position.
  constexpr index_t cached = 2 * 2 * 2 * positions * size * 8;
  constexpr index_t weights = 4 * width * 2 * size * 8;
  static_assert(given.peak_bytes_per_device() < cached + weights + 1000);
  const device_pool pool{pod{}};
  const auto module = nn::initialise<plain>(pool, random_key{3});
  const auto x = normal<part<1>>(pool, random_key{4});
  auto filled = nn::empty_cache<mine>(pool);
  sync(pool);
  const auto cost = [&] {
    pool.reset_counters();
    (void)step(pool, [&] { return module(x, filled); });
    return pool.counters();
  };
  for (int s = 0; s < 3; ++s) REQUIRE(cost() == given);
  const mine kept = filled;
  REQUIRE(cost() == held);  // what somebody else holds is copied
  REQUIRE(to_host(kept.filled)() == 3);
  REQUIRE(to_host(filled.filled)() == 4);
  const auto before = to_host(kept.keys), after = to_host(filled.keys);
  REQUIRE(before(0, 0, 3, 0) == 0.0);
  REQUIRE(after(0, 0, 3, 0) != 0.0);
  REQUIRE(after(3, 1, 1, 2) == before(3, 1, 1, 2));
}

TEST_CASE("a cache that is full says so") {
  const device_pool pool{pod{}};
  const auto module = nn::initialise<plain>(pool, random_key{3});
  auto filled = nn::empty_cache<nn::cache_for<plain, part<1>, 4>>(pool);
  const auto x = normal<part<3>>(pool, random_key{4});
  (void)step(pool, [&] { return module(x, filled); });
  REQUIRE_THROWS_WITH(step(pool, [&] { return module(x, filled); }),
                      Catch::Contains("part_is_beyond_end") && Catch::Contains("6 where 4"));
}
