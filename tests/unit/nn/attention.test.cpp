// SPDX-License-Identifier: BSL-1.0
// Masked attention and cross-attention as modules, compared with plain loops.
#include "support/catch.hpp"
#include <shardwise/nn.hpp>
#include <shardwise/shardwise.hpp>

#include <cmath>
#include <limits>
#include <vector>

using namespace shardwise;

namespace {

struct pod : mesh<axis<"data", 2>, axis<"model", 2>> {};

// The batch of 3 is split unevenly; 4 heads of queries share 2 of keys.
constexpr index_t batch = 3, queries = 5, keys = 4, width = 6, context_width = 7, heads = 4,
                  groups = 2, size = 3;
template <class T, class Spec, index_t... N>
using elements = sharded_tensor<T, extents<N...>, layout<pod, Spec, partial<>, uneven>>;
template <class Spec, index_t... N>
using tensor = elements<double, Spec, N...>;
using by_batch = P<"data", none, none>;
using by_head = P<none, "model", none>;

template <index_t Width, class To>
using heads_of =
    nn::attention<tensor<by_head, width, heads, size>, tensor<by_head, Width, groups, size>,
                  tensor<by_head, Width, groups, size>,
                  tensor<P<"model", none, none>, heads, size, width>, by_batch, To>;
using across_texts = heads_of<context_width, nn::bidirectional>;
using self = heads_of<width, nn::bidirectional>;
using causal = heads_of<width, nn::causal>;
using X = tensor<by_batch, batch, queries, width>;
using Context = tensor<by_batch, batch, keys, context_width>;
using padding = elements<bool, P<"data", none, none, none>, batch, 1, 1, keys>;

// A mask adds no communication: only the end of attention is reduced.
constexpr auto call = [](const auto& m, const auto& x, const auto& context, const auto& mask) {
  return m(x, context, nn::attention_mask{mask});
};
static_assert(trace_nests<128, across_texts, X, Context, padding>(call).collectives() == 1);

constexpr double never = -std::numeric_limits<double>::infinity();

/// The output of attention at each element, in plain loops; `score(b, h, i, j)` is added to each
/// score.
template <class Module, class Score>
std::vector<double> plain(const Module& m, const auto& x, const auto& context, const Score& score) {
  const auto q = to_host(m.query), k = to_host(m.key), v = to_host(m.value), out = to_host(m.out);
  const auto a = to_host(x), b = to_host(context);
  const index_t positions = x.extents()[1], met = context.extents()[1], wide = context.extents()[2];
  std::vector<double> made(static_cast<std::size_t>(batch * positions * width));
  for (index_t n = 0; n < batch; ++n)
    for (index_t h = 0; h < heads; ++h)
      for (index_t i = 0; i < positions; ++i) {
        const index_t g = h / (heads / groups);
        double total = 0, sums[size] = {};
        for (index_t j = 0; j < met; ++j) {
          double inner = 0, value[size] = {};
          for (index_t e = 0; e < size; ++e) {
            double of_query = 0, of_key = 0;
            for (index_t d = 0; d < width; ++d) of_query += a(n, i, d) * q(d, h, e);
            for (index_t d = 0; d < wide; ++d) {
              of_key += b(n, j, d) * k(d, g, e);
              value[e] += b(n, j, d) * v(d, g, e);
            }
            inner += of_query * of_key;
          }
          const double weight = std::exp(inner / std::sqrt(double{size}) + score(n, h, i, j));
          total += weight;
          for (index_t e = 0; e < size; ++e) sums[e] += weight * value[e];
        }
        for (index_t d = 0; d < width && total > 0; ++d)
          for (index_t e = 0; e < size; ++e)
            made[static_cast<std::size_t>((n * positions + i) * width + d)] +=
                sums[e] / total * out(h, e, d);
      }
  return made;
}

void require_close(const auto& made, const std::vector<double>& wanted) {
  const auto host = to_host(made);
  REQUIRE(host.elements().size() == wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    CAPTURE(i);
    REQUIRE(host.elements()[i] == Approx(wanted[i]).margin(1e-12));
  }
}

/// The number of words in each element of the batch; the last has none.
constexpr index_t words(index_t n) { return n == 0 ? 4 : n == 1 ? 2 : 0; }

}  // namespace

TEST_CASE("cross-attention reads keys and values from its context, of another width") {
  const device_pool pool{pod{}};
  const auto m = nn::initialise<across_texts>(pool, random_key{1});
  const auto x = normal<X>(pool, random_key{2});
  const auto context = normal<Context>(pool, random_key{3});
  require_close(m(x, context), plain(m, x, context, [](auto...) { return 0.0; }));

  // Padding is excluded; a query that attends to nothing gives zeros.
  const auto is_word =
      generate<padding>(pool, [](const global_index& at) { return at[3] < words(at[0]); });
  const auto excluded = [](index_t n, index_t, index_t, index_t j) {
    return j < words(n) ? 0.0 : never;
  };
  require_close(m(x, context, nn::attention_mask{is_word}), plain(m, x, context, excluded));
}

TEST_CASE("a mask selects within what a causal attention attends to") {
  const device_pool pool{pod{}};
  const auto m = nn::initialise<causal>(pool, random_key{1});
  const auto x = normal<X>(pool, random_key{2});
  // A sliding window of two positions.
  const auto pairs = zeros<tensor<P<none, none>, queries, queries>>(pool);
  const auto apart = iota_like<0>(pairs) - iota_like<1>(pairs);
  const auto window = [](index_t, index_t, index_t i, index_t j) {
    return j <= i && i - j < 2 ? 0.0 : never;
  };
  require_close(m(x, nn::attention_mask{apart < 2}), plain(m, x, x, window));

  // Of both sides, without `causal`.
  const self both{m.query, m.key, m.value, m.out};
  const auto near = [](index_t, index_t, index_t i, index_t j) {
    return std::abs(i - j) < 2 ? 0.0 : never;
  };
  require_close(both(x, nn::attention_mask{abs(apart) < 2}), plain(m, x, x, near));

  // Numbers, of heads that are split: ALiBi.
  using slopes = tensor<P<"model", none, none>, heads, 1, 1>;
  const auto slope =
      generate<slopes>(pool, [](const global_index& at) { return -0.5 / double(at[0] + 1); });
  const auto alibi = [](index_t, index_t h, index_t i, index_t j) {
    return j <= i ? -0.5 / static_cast<double>(h + 1) * static_cast<double>(i - j) : never;
  };
  require_close(m(x, nn::attention_mask{slope * cast<double>(apart)}), plain(m, x, x, alibi));
}

namespace {

constexpr auto loss = [](const auto& m, const auto& x, const auto& context, const auto& bias) {
  return reshard<P<>>(sum(square(m(x, context, nn::attention_mask{bias}))) * 0.5);
};

/// Requires a gradient to be the finite differences of a loss of the same tensor.
template <class T>
void require_slopes(const device_pool& pool, const T& at, const auto& gradient,
                    const auto& loss_at) {
  const auto have = to_host(at), slopes = to_host(gradient);
  std::vector<double> moved(have.elements().begin(), have.elements().end());
  for (std::size_t i = 0; i < moved.size(); i += 3) {
    const double kept = moved[i];
    moved[i] = kept + 1e-5;
    const double above = loss_at(distribute<T>(pool, moved));
    moved[i] = kept - 1e-5;
    const double below = loss_at(distribute<T>(pool, moved));
    moved[i] = kept;
    CAPTURE(i);
    REQUIRE(slopes.elements()[i] == Approx((above - below) / 2e-5).epsilon(1e-6).margin(1e-7));
  }
}

}  // namespace

TEST_CASE("the gradients of masked cross-attention are finite differences of plain loops") {
  const device_pool pool{pod{}};
  const auto m = nn::initialise<across_texts>(pool, random_key{1});
  const auto x = normal<X>(pool, random_key{2});
  const auto context = normal<Context>(pool, random_key{3});
  const auto bias = normal<tensor<P<"model", none, none>, heads, 1, keys>>(pool, random_key{4});
  const auto looped = [](const auto& module, const auto& a, const auto& b, const auto& added) {
    const auto host = to_host(added);
    double total = 0;
    for (double y :
         plain(module, a, b, [&](index_t, index_t h, index_t, index_t j) { return host(h, 0, j); }))
      total += y * y / 2;
    return total;
  };
  REQUIRE(to_host(loss(m, x, context, bias))() == Approx(looped(m, x, context, bias)));
  const auto [by_m, by_x, by_context, by_bias] = gradient<0, 1, 2, 3>(loss)(m, x, context, bias);
  require_slopes(pool, x, by_x, [&](const auto& a) { return looped(m, a, context, bias); });
  require_slopes(pool, context, by_context, [&](const auto& b) { return looped(m, x, b, bias); });
  require_slopes(pool, bias, by_bias, [&](const auto& b) { return looped(m, x, context, b); });
  require_slopes(pool, m.key, by_m.key, [&](const auto& key) {
    auto other = m;
    other.key = key;
    return looped(other, x, context, bias);
  });
}

namespace {

template <index_t N>
using part = tensor<by_batch, batch, N, width>;
using norm = nn::layer_norm<tensor<P<none>, width>>;
using block = nn::transformer_block<norm, causal,
                                    nn::mlp<nn::linear<tensor<P<none, none>, width, 8>>,
                                            nn::linear<tensor<P<none, none>, 8, width>>>>;

}  // namespace

TEST_CASE("a mask with a cache is that of the whole text, in a block too") {
  const device_pool pool{pod{}};
  const auto m = nn::initialise<block>(pool, random_key{1});
  const auto x = normal<X>(pool, random_key{2});
  // Texts that are padded on the left, so that the first queries attend to nothing.
  using text = elements<bool, P<"data", none, none, none>, batch, 1, 1, queries>;
  const auto is_word =
      generate<text>(pool, [](const global_index& at) { return at[3] >= words(at[0]) / 2; });
  const nn::attention_mask by_word{is_word};
  using numbers = tensor<P<"data", none, none, none>, batch, 1, 1, queries>;
  const nn::attention_mask added{generate<numbers>(
      pool, [](const global_index& at) { return at[3] >= words(at[0]) / 2 ? 0.0 : never; })};
  const auto excluded = [](index_t n, index_t, index_t i, index_t j) {
    return j <= i && j >= words(n) / 2 ? 0.0 : never;
  };
  require_close(m.attention(x, by_word), plain(m.attention, x, x, excluded));

  const auto all = to_host(m(x, by_word));
  const auto compare = [&](const auto& mask) {
    auto filled = nn::empty_cache<nn::cache_for<block, part<1>, queries>>(pool);
    index_t begin = 0;
    const auto take = [&]<index_t N>(std::integral_constant<index_t, N>) {
      const part<N> own = dynamic_slice<1, N>(x, begin);
      const auto y = to_host(m(own, filled, mask));
      for (index_t b = 0; b < batch; ++b)
        for (index_t s = 0; s < N; ++s)
          for (index_t d = 0; d < width; ++d)
            REQUIRE(y(b, s, d) == Approx(all(b, begin + s, d)).margin(1e-12));
      begin += N;
    };
    take(std::integral_constant<index_t, 3>{});
    take(std::integral_constant<index_t, 1>{});
    take(std::integral_constant<index_t, 1>{});
  };
  compare(by_word);
  compare(added);
}

TEST_CASE("keys that are split by positions are gathered where it is permitted") {
  const device_pool pool{pod{}};
  using split = tensor<P<none, "data", none>, batch, queries, width>;
  using whole = nn::attention<tensor<P<none, none, none>, width, heads, size>,
                              tensor<P<none, none, none>, width, groups, size>,
                              tensor<P<none, none, none>, width, groups, size>,
                              tensor<P<none, none, none>, heads, size, width>, nn::as_computed,
                              nn::bidirectional>;
  const auto m = nn::initialise<whole>(pool, random_key{1});
  const auto x = normal<split>(pool, random_key{2});
  const auto pairs = zeros<tensor<P<none, none>, queries, queries>>(pool);
  const nn::attention_mask near{iota_like<1>(pairs) - iota_like<0>(pairs) < 2};
  const auto score = [](index_t, index_t, index_t i, index_t j) { return j - i < 2 ? 0.0 : never; };
  require_close(m(x, near, across<"data">), plain(m, x, x, score));
  require_close(m(x, across<"data">, near), plain(m, x, x, score));
  require_close(m(x, across<"data">), plain(m, x, x, [](auto...) { return 0.0; }));
}
