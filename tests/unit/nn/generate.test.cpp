// SPDX-License-Identifier: BSL-1.0
// Sampling tokens by their scores, and generating texts.
#include "support/catch.hpp"
#include "support/requests.hpp"
#include <shardwise/nn.hpp>
#include <shardwise/shardwise.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

using namespace shardwise;

namespace {

struct pod : mesh<axis<"data", 2>, axis<"model", 2>> {};
struct one : mesh<axis<"data", 1>, axis<"model", 1>> {};

constexpr index_t batch = 2, capacity = 9, width = 8, words = 12;
using stream = P<"data", none, none>;

template <class M, class Spec, index_t... N>
using tensor = sharded_tensor<double, extents<N...>, layout<M, Spec>>;
template <class M, index_t N>
using tokens = sharded_tensor<std::int32_t, extents<batch, N>, layout<M, P<"data", none>>>;

template <class Embedding, class Layer, class Head>
struct writer {
  Embedding read;
  Layer layer;
  Head head;

  constexpr auto operator()(const auto& text) const { return head(read(text) + layer(read(text))); }
  constexpr auto operator()(const auto& text, auto& cache) const {
    const auto x = read(text);
    return head(x + layer(x, cache));
  }
};
template <class M>
using attention =
    nn::attention<tensor<M, P<none, "model", none>, width, 2, 4>,
                  tensor<M, P<none, "model", none>, width, 2, 4>,
                  tensor<M, P<none, "model", none>, width, 2, 4>,
                  tensor<M, P<"model", none, none>, 2, 4, width>, stream, nn::causal, nn::rotary<>>;
template <class M>
using model = writer<nn::embedding<tensor<M, P<"model", none>, words, width>, stream>, attention<M>,
                     nn::linear<tensor<M, P<none, "model">, width, words>>>;

template <class M>
model<M> make_model(const device_pool& pool) {
  auto made = nn::initialise<model<M>>(pool, random_key{4});
  made.read.table = made.read.table * 100.0;
  return made;
}
template <class M>
tokens<M, 4> make_prompt(const device_pool& pool) {
  return generate<tokens<M, 4>>(pool, [](const global_index& at) {
    return static_cast<std::int32_t>((5 * at[0] + 7 * at[1]) % words);
  });
}
template <class M>
auto make_cache(const device_pool& pool) {
  return nn::empty_cache<nn::cache_for<attention<M>, tensor<M, stream, batch, 1, width>, capacity>>(
      pool);
}
template <class M>
std::vector<std::vector<std::int32_t>> write(const nn::sampling& by, random_key seed,
                                             index_t count = 6) {
  const device_pool pool{M{}};
  auto cache = make_cache<M>(pool);
  auto texts =
      nn::generate(pool, make_model<M>(pool), cache, make_prompt<M>(pool), count, by, seed);
  REQUIRE(to_host(cache.filled)() == (count > 0 ? 4 + count - 1 : 0));
  return texts;
}

}  // namespace

TEST_CASE("options of a sampling are in their ranges") {
  // The first score is impossible, and a temperature without a range would choose it.
  constexpr double inf = std::numeric_limits<double>::infinity(),
                   nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<float> scores{static_cast<float>(-inf), 1.0F, 2.0F};
  const auto is_refused = [&](const nn::sampling& by, const std::string& sentence) {
    REQUIRE_THROWS_WITH(nn::sample(std::span<const float>(scores), by, random_key{1}),
                        Catch::Contains("number_is_out_of_range") && Catch::Contains(sentence));
  };
  for (const double temperature : {nan, inf, -1.0})
    is_refused({.temperature = temperature}, "a temperature is finite and not negative");
  is_refused({.top_k = -1}, "top_k is the number of scores");
  for (const double top_p : {nan, -0.5, 1.5})
    is_refused({.top_p = top_p}, "top_p is a probability");
  // Before a model is called.
  REQUIRE_THROWS_WITH(write<pod>({.temperature = nan}, random_key{1}),
                      Catch::Contains("a temperature is finite"));
  REQUIRE_THROWS_WITH(write<pod>({.top_k = -1}, random_key{1}, 0), Catch::Contains("top_k"));
}

TEST_CASE("a token is chosen by its score, temperature, rank and key") {
  const std::vector<float> scores{1.0F, 3.0F, -std::numeric_limits<float>::infinity(), 3.0F, 2.0F};
  const std::span<const float> all(scores);
  REQUIRE(nn::sample(all, {.temperature = 0}, random_key{1}) == 1);
  const auto counts = [&](const nn::sampling& by) {
    std::array<int, 5> count{};
    for (std::uint64_t n = 0; n < 20000; ++n)
      ++count[static_cast<std::size_t>(nn::sample(all, by, random_key{3}.fold_in(n)))];
    return count;
  };
  const auto at_one = counts({});
  const double total = std::exp(1.0) + 2 * std::exp(3.0) + std::exp(2.0);
  REQUIRE(at_one[0] / 20000.0 == Approx(std::exp(1.0) / total).margin(0.01));
  REQUIRE(at_one[1] / 20000.0 == Approx(std::exp(3.0) / total).margin(0.015));
  REQUIRE(at_one[2] == 0);
  REQUIRE(at_one[4] / 20000.0 == Approx(std::exp(2.0) / total).margin(0.01));
  const auto cold = counts({.temperature = 0.5});
  REQUIRE(cold[4] / 20000.0 ==
          Approx(std::exp(-2.0) / (2 + std::exp(-2.0) + std::exp(-4.0))).margin(0.01));
  const auto of_three = counts({.temperature = 1, .top_k = 3});
  REQUIRE(of_three[0] == 0);
  REQUIRE(of_three[4] > 0);
  // Of the two likeliest, each of which has 0.38 of the sum, both are needed for 0.5, and the third
  // for 0.8.
  const auto of_half = counts({.top_p = 0.5});
  REQUIRE(of_half[1] / 20000.0 == Approx(0.5).margin(0.015));
  REQUIRE(of_half[1] + of_half[3] == 20000);
  const auto of_most = counts({.top_p = 0.8});
  REQUIRE(of_most[0] == 0);
  REQUIRE(of_most[4] / 20000.0 ==
          Approx(std::exp(2.0) / (2 * std::exp(3.0) + std::exp(2.0))).margin(0.01));
  REQUIRE(counts({.top_p = 0})[1] == 20000);
  REQUIRE(counts({.top_k = 2, .top_p = 0.9}) == counts({.top_k = 2}));
  const auto of_one = counts({.temperature = 1, .top_k = 1});
  REQUIRE(of_one[1] == 20000);
  REQUIRE(nn::sample(all, {}, random_key{9}) == nn::sample(all, {}, random_key{9}));
  REQUIRE(nn::sample(std::span<const float>{}, {}, random_key{9}) == -1);

  // An infinite score is certain, and NaN is never chosen where there is a number.
  constexpr float inf = std::numeric_limits<float>::infinity(),
                  nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> certain{0.0F, inf, 0.0F}, some{nan, 1.0F, nan, 2.0F, nan};
  for (const nn::sampling& by : {nn::sampling{}, nn::sampling{.temperature = 0},
                                 nn::sampling{.top_k = 2}, nn::sampling{.top_p = 0.5}}) {
    REQUIRE(nn::sample(std::span<const float>(certain), by, random_key{3}) == 1);
    for (std::uint64_t n = 0; n < 100; ++n) {
      const index_t token = nn::sample(std::span<const float>(some), by, random_key{n});
      REQUIRE((token == 1 || token == 3));
    }
  }
}

TEST_CASE("the likeliest text is the one that is computed without a cache") {
  const auto texts = write<pod>({.temperature = 0}, random_key{1});
  const device_pool pool{pod{}};
  const auto m = make_model<pod>(pool);
  const auto prompt = to_host(make_prompt<pod>(pool));
  std::array<std::vector<std::int32_t>, batch> lines;
  for (index_t b = 0; b < batch; ++b)
    for (index_t s = 0; s < 4; ++s) lines[static_cast<std::size_t>(b)].push_back(prompt(b, s));
  for (std::size_t n = 0; n < 6; ++n) {
    // All positions at once: later ones, which are 0 here, have no effect.
    const auto seen = generate<tokens<pod, capacity>>(pool, [&](const global_index& at) {
      const std::vector<std::int32_t>& line = lines[static_cast<std::size_t>(at[0])];
      const auto s = static_cast<std::size_t>(at[1]);
      return s < line.size() ? line[s] : 0;
    });
    const auto scores = to_host(m(seen));
    for (std::size_t b = 0; b < lines.size(); ++b) {
      std::int32_t best = 0;
      const auto score = [&](std::int32_t w) {
        return scores(static_cast<index_t>(b), static_cast<index_t>(lines[b].size()) - 1, w);
      };
      for (std::int32_t w = 1; w < words; ++w)
        if (score(w) > score(best)) best = w;
      REQUIRE(texts[b][n] == best);
      lines[b].push_back(best);
    }
  }
  REQUIRE(texts[0] != texts[1]);
}

TEST_CASE("chance depends on the key, and not on the mesh") {
  const nn::sampling by{.temperature = 1.5, .top_k = 8};
  const auto texts = write<pod>(by, random_key{5});
  REQUIRE(texts == write<one>(by, random_key{5}));
  REQUIRE(texts != write<one>(by, random_key{6}));
  REQUIRE(texts != write<one>({.temperature = 0}, random_key{5}));
  REQUIRE(write<one>(by, random_key{5}, 0) == std::vector<std::vector<std::int32_t>>(2));
  // The capacity is 9: after 4 tokens of the prompt 5 more are read.
  REQUIRE_NOTHROW(write<one>(by, random_key{5}, 6));
  REQUIRE_THROWS_WITH(write<one>(by, random_key{5}, 7), Catch::Contains("part_is_beyond_end"));
}

TEST_CASE("a row of a text ends with its first end token") {
  const nn::sampling by{.temperature = 1.5};
  const auto whole = write<one>(by, random_key{5});
  const std::int32_t end = whole[0][2];
  const auto cut = [&](std::vector<std::int32_t> row) {
    const auto at = std::find(row.begin(), row.end(), end);
    if (at != row.end()) row.erase(at + 1, row.end());
    return row;
  };
  const device_pool pool{one{}};
  auto cache = make_cache<one>(pool);
  const auto texts = nn::generate(pool, make_model<one>(pool), cache, make_prompt<one>(pool), 6,
                                  {.temperature = 1.5, .end_token = end}, random_key{5});
  REQUIRE(texts[0] == cut(whole[0]));
  REQUIRE(texts[1] == cut(whole[1]));
  const std::size_t longest = std::max(texts[0].size(), texts[1].size());
  REQUIRE(to_host(cache.filled)() == 4 + static_cast<index_t>(longest) - 1);
}

TEST_CASE("an end token ends texts of any count") {
  const auto ends = [](const auto& text, auto&) {
    return broadcast_to<extents<batch, 1, words>>(unsqueeze<2>(cast<float>(text)) * 0.0F);
  };
  const device_pool pool{one{}};
  auto cache = make_cache<one>(pool);
  const auto texts = nn::generate(pool, ends, cache, zeros<tokens<one, 1>>(pool),
                                  std::numeric_limits<index_t>::max(),
                                  {.temperature = 0, .end_token = 0}, random_key{1});
  REQUIRE(texts == std::vector<std::vector<std::int32_t>>(std::size_t{batch}, {0}));
}

namespace {

/// A model that counts its calls.
struct counted_model {
  const model<pod>& of;
  index_t& calls;

  auto operator()(const auto& text, auto& cache) const {
    ++calls;
    return of(text, cache);
  }
};

}  // namespace

TEST_CASE("all tokens after the first are runs of one program, which neither plan nor lower") {
  const device_pool pool(pod{}, 1);
  const auto m = make_model<pod>(pool);
  const auto prompt = make_prompt<pod>(pool);
  sync(pool);
  const auto requests_for = [&](index_t count) {
    auto cache = make_cache<pod>(pool);
    sync(pool);
    index_t calls = 0;
    const long begun = support::requests;
    (void)nn::generate(pool, counted_model{m, calls}, cache, prompt, count, {}, random_key{1});
    const long made = support::requests - begun;
    // The model is called while a function is recorded: once for the prompt and once for a further
    // token.
    REQUIRE(calls == std::min<index_t>(count, 2));
    return made;
  };
  (void)requests_for(6);
  const memory_arena& storage = pool.state()->storage();
  const index_t asked = storage.system_allocations();
  std::array<long, 7> made{};
  for (std::size_t n = 1; n < made.size(); ++n) made[n] = requests_for(static_cast<index_t>(n));
  const long planned = made[2] - made[1], further = made[4] - made[3];
  CAPTURE(planned, further);
  REQUIRE(made[5] - made[4] == further);
  REQUIRE(made[6] - made[5] == further);
  REQUIRE(further <= 20);
  REQUIRE(planned > 50 * further);
  REQUIRE(storage.system_allocations() == asked);
}
