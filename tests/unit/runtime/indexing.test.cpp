// SPDX-License-Identifier: BSL-1.0
// Shape and index operations, and the named compositions: their types, their errors, their
// elements.
#include "unit/runtime/element_values.hpp"

#include <cmath>
#include <vector>

using namespace element_values;

namespace {

struct pod : mesh<axis<"x", 2>, axis<"y", 2>> {};
using X = sharded_tensor<float, extents<8, 4>, layout<pod, P<"x", none>>>;
using Rows = sharded_tensor<float, extents<dyn, 4>, layout<pod, P<none, "y">>>;
using Ids = sharded_tensor<std::int32_t, extents<3>, layout<pod, P<none>>>;

layout_desc whole_of(int rank) {
  layout_desc layout;
  layout.dims.resize(static_cast<std::size_t>(rank));
  return layout;
}
template <class F>
violation refusal(const F& call) {
  try {
    (void)call();
    return violation::nothing;
  } catch (const error& refused) {
    return refused.code();
  }
}

}  // namespace

TEST_CASE("the same shapes on types, on values, on paper and in prepared programs") {
  constexpr auto f = [](const auto& x, const auto& ids) {
    const auto wide = pad<0, 0, 1, 1>(tile<1, 2>(x * 2.0F), -1.0F);
    const auto both = stack<0>(roll<1, 3>(wide), slice_in_dim<1, open_end, open_end, -1>(wide));
    const auto one = squeeze<0>(dynamic_slice<0, 1>(both, 1));
    const auto written = update_slice<1>(one, unsqueeze<1>(index_at<1, 2>(one)), 20);
    const auto taken = take<1>(written, ids);
    return repeat<1, 2>(
        concatenate<1>(taken, broadcast_to<extents<dyn, 3>>(slice_in_dim<1, 0, 1>(x))));
  };
  constexpr auto recorded = trace_program(f, abstract<X>(), abstract<Ids>());
  static_assert(plan_program(recorded).total.collectives() == 0);
  const device_pool pool{pod{}};
  const X x = iota<X>(pool);
  const Ids ids = distribute<Ids>(pool, std::vector<std::int32_t>{0, -1, 4});
  const auto y = f(x, ids);
  static_assert(std::is_same_v<decltype(y)::extents_type, extents<8, 12>>);
  static_assert(std::is_same_v<decltype(y)::layout_type, X::layout_type>);
  const auto host = to_host(y);
  for (index_t i = 0; i < 8; ++i) {
    const auto at = [&](index_t j) { return static_cast<float>(2 * (i * 4 + j)); };
    // Each row is -1 0 1 2 3 0 1 2 3 -1, read from its end.
    const float wanted[] = {-1, at(2), at(0), at(0) / 2, at(0) / 2, at(0) / 2};
    for (index_t j = 0; j < 12; ++j) {
      CAPTURE(i, j);
      REQUIRE(host(i, j) == wanted[j / 2]);
    }
  }
  REQUIRE(to_host(f(any_tensor<float>(x), any_tensor<std::int32_t>(ids))) == host);
  const auto ready = prepare<float, std::int32_t, std::int64_t>(recorded);
  REQUIRE(to_host(run<float>(ready, x, ids)) == host);
}

TEST_CASE("sizes that only the run knows are met when a slice is taken") {
  const device_pool pool{pod{}};
  const Rows x = iota<Rows>(pool, 6);
  const auto tail = slice_in_dim<0, 2, open_end>(x);
  static_assert(std::is_same_v<decltype(tail)::extents_type, extents<dyn, 4>>);
  REQUIRE(to_host(tail)(3, 3) == 23.0F);
  REQUIRE(to_host(slice_in_dim<0, -2, open_end>(x))(0, 0) == 16.0F);
  REQUIRE(slice_in_dim<0, 1, -1>(x).extents() == extents_desc{4, 4});
  REQUIRE(to_host(pad<1, 2, 0, 0>(x))(6, 3) == 23.0F);
  REQUIRE(to_host(tile<2, 1>(x))(11, 3) == 23.0F);
  REQUIRE(to_host(index_at<0, -1>(x))(3) == 23.0F);
  REQUIRE(refusal([&] { return slice_in_dim<0, 0, 7>(x); }) == violation::slice_is_out_of_range);
  REQUIRE(refusal([&] { return slice_in_dim<0, 7, open_end>(x); }) != violation::nothing);
  REQUIRE(refusal([&] { return dynamic_slice<0, 7>(x, 0); }) == violation::slice_is_out_of_range);
  const Rows none_at_all = iota<Rows>(pool, 0);
  REQUIRE(refusal([&] {
            return pad<pad_mode::edge, 1, 0, 0, 0>(any_tensor<float>(none_at_all));
          }) == violation::slice_is_out_of_range);
  REQUIRE(to_host(pad<1, 0, 0, 0>(none_at_all))(0, 3) == 0.0F);
}

TEST_CASE("an index that a dimension has not is an error where it is computed, unless asked for") {
  const device_pool pool(2);
  const std::vector<float> numbers{1, 2, 3, 4, 5, 6};
  const auto x = distribute<float>(pool, numbers, {3, 2}, whole_of(2));
  const auto ids = [&](std::vector<std::int8_t> all) {
    const auto count = static_cast<index_t>(all.size());
    return distribute<std::int8_t>(pool, all, {count}, whole_of(1));
  };
  REQUIRE_THROWS_WITH(to_host(take<0>(x, ids({0, 3}))), contains("index_is_out_of_range"));
  REQUIRE_THROWS_WITH(to_host(take<0>(x, ids({-4}))), contains("index_is_out_of_range"));
  REQUIRE_THROWS_WITH(to_host(scatter<0>(x, ids({3}), slice_in_dim<0, 0, 1>(x))),
                      contains("index_is_out_of_range"));
  const auto pair = [&](std::vector<std::int8_t> all) {
    const auto count = static_cast<index_t>(all.size()) / 2;
    return distribute<std::int8_t>(pool, all, {count, 2}, whole_of(2));
  };
  const auto rows = slice_in_dim<0, 0, 2>(x);
  const auto elements = [](const any_tensor<float>& of) {
    const row<float> all = values(of);
    return std::vector<float>(all.data(), all.data() + all.size());
  };
  REQUIRE_THROWS_WITH(to_host(put_along<0>(x, pair({0, 0, 0, 3}), rows)),
                      contains("index_is_out_of_range"));
  using enum out_of_range;
  const auto put = [&]<out_of_range Mode>() {
    return elements(put_along<0, scatter_mode::add, Mode>(x, pair({-9, 9, 9, -1}), rows));
  };
  REQUIRE(put.template operator()<clamp>() == std::vector<float>{2, 6, 3, 4, 8, 8});
  REQUIRE(put.template operator()<fill>() == std::vector<float>{1, 2, 3, 4, 5, 10});
  REQUIRE(elements(put_along<0>(x, pair({}), slice_in_dim<0, 0, 0>(x))) == numbers);
  REQUIRE(refusal([&] {
            return put_along<2>(x, pair({0, 0}), rows);
          }) == violation::dimension_is_out_of_range);
  const auto clamped = to_host(take<0, clamp>(x, ids({-9, 9})));
  REQUIRE(clamped(0, 0) == 1.0F);
  REQUIRE(clamped(1, 1) == 6.0F);
  const auto filled = to_host(take<0, fill>(x, ids({-9, 9, -1})));
  REQUIRE(filled(0, 0) == 0.0F);
  REQUIRE(filled(1, 1) == 0.0F);
  REQUIRE(filled(2, 1) == 6.0F);
  // A dimension without elements has no nearest index.
  const auto nothing = distribute<float>(pool, std::vector<float>{}, {0, 2}, whole_of(2));
  REQUIRE_THROWS_WITH(to_host(take<0, clamp>(nothing, ids({0}))),
                      contains("index_is_out_of_range"));
  REQUIRE(to_host(take<0, clamp>(nothing, ids({}))).extents() == extents_desc{0, 2});
  REQUIRE(refusal([&] { return take<2>(x, ids({0})); }) == violation::dimension_is_out_of_range);
}

TEST_CASE("a part is written into a tensor that nobody else holds, or copied beside it") {
  const device_pool pool{pod{}};
  // The written dimension is split: each device writes the elements that it holds.
  using Rows8 = sharded_tensor<float, extents<8, 4>, layout<pod, P<"x", "y">>>;
  using Part = sharded_tensor<float, extents<3, 4>, layout<pod, P<none, "y">>>;
  using Start = scalar<std::int32_t, pod>;
  const Part part = full<Part>(pool, -1.0F);
  constexpr auto write = [](const auto& x, const auto& own, const auto& at) {
    return update_slice<0, out_of_range::error>(x, own, at);
  };
  constexpr cost_ledger given =
      trace(write, donate(abstract<Rows8>()), abstract<Part>(), abstract<Start>());
  constexpr cost_ledger held = trace(write, abstract<Rows8>(), abstract<Part>(), abstract<Start>());
  static_assert(held.peak_bytes_per_device() - given.peak_bytes_per_device() == 4 * 2 * 4);
  const auto written = [&](index_t begin, const auto& x) {
    const auto host = to_host(x);
    for (index_t i = 0; i < 8; ++i)
      for (index_t j = 0; j < 4; ++j) {
        CAPTURE(begin, i, j);
        const bool is_own = i >= begin && i < begin + 3;
        REQUIRE(host(i, j) == (is_own ? -1.0F : static_cast<float>(4 * i + j)));
      }
  };
  for (std::int32_t begin = 0; begin < 6; ++begin) {
    const Start at = full<Start>(pool, begin);
    Rows8 x = iota<Rows8>(pool);
    sync(pool);
    pool.reset_counters();
    x = write(x, part, at);
    sync(x);
    REQUIRE(pool.counters() == given);
    written(begin, x);
    // Alone, in a program with other operations, and of a value that another handle holds.
    const Rows8 kept = iota<Rows8>(pool);
    const auto next = write(kept, part, at);
    pool.reset_counters();
    sync(next);
    REQUIRE(pool.counters().peak_bytes_per_device() >= held.peak_bytes_per_device());
    written(begin, next);
    written(-3, kept);
    written(begin, write(kept * 1.0F, part * 1.0F, at + 0) + 0.0F);
  }
  // A tensor that is updated from itself.
  const Rows8 x = iota<Rows8>(pool);
  using Whole = sharded_tensor<float, extents<8, 4>, layout<pod, P<none, "y">>>;
  Whole own = iota<Whole>(pool);
  own = update_slice<0>(own * 2.0F, own * 2.0F, 0);
  REQUIRE(to_host(own)(7, 3) == 62.0F);
  for (std::int32_t begin : {-1, 6, 100}) {
    const Start at = full<Start>(pool, begin);
    REQUIRE_THROWS_WITH(to_host(write(x, part, at)),
                        contains("part_is_beyond_end") && contains("dimension 0"));
    REQUIRE(to_host(update_slice<0>(x, part, at))(begin < 0 ? 0 : 7, 3) == -1.0F);
  }
}

TEST_CASE("elements of each type are arranged and looked up") {
  for_each_type([]<class T>(std::type_identity<T>) {
    const device_pool pool(2);
    const known<T> x = make<T>(pool, {3, 4}, whole_of(2), 1);
    const auto ids =
        distribute<std::uint8_t>(pool, std::vector<std::uint8_t>{2, 0}, {2}, whole_of(1));
    const row<T> taken = values(take<0>(x.tensor, ids));
    const row<T> padded = values(pad<1, 0, 0, 1>(slice_in_dim<0, 1, 3>(x.tensor)));
    const row<T> put = values(scatter<0>(x.tensor, ids, slice_in_dim<0, 0, 2>(x.tensor)));
    const auto along = distribute<std::uint8_t>(pool, std::vector<std::uint8_t>{3, 0, 3, 1, 2, 1},
                                                {3, 2}, whole_of(2));
    const row<T> written = values(put_along<1>(x.tensor, along, slice_in_dim<1, 1, 3>(x.tensor)));
    const row<T> hot = values(one_hot<4, T>(ids));
    for (index_t j = 0; j < 4; ++j) {
      REQUIRE(number(taken[j]) == number(x.value[8 + j]));
      REQUIRE(number(taken[4 + j]) == number(x.value[j]));
      REQUIRE(number(padded[j]) == 0);
      REQUIRE(number(padded[5 + j]) == number(x.value[4 + j]));
      REQUIRE(number(put[8 + j]) == number(x.value[j]));
      REQUIRE(number(put[j]) == number(x.value[4 + j]));
      REQUIRE(number(hot[j]) == (j == 2 ? 1 : 0));
    }
    row<T> expected{std::span<const T>(x.value)};
    constexpr std::size_t to[] = {3, 0, 7, 5, 10, 9}, from[] = {1, 2, 5, 6, 9, 10};
    for (int i = 0; i < 6; ++i) expected[to[i]] = x.value[from[i]];
    for (std::size_t i = 0; i < expected.size(); ++i)
      REQUIRE(number(written[i]) == number(expected[i]));
  });
}

TEST_CASE("narrow fractions are summed by index and normalised in float") {
  const device_pool pool(1);
  std::vector<bfloat16> ones(600, bfloat16(1.0F));
  const auto x = distribute<bfloat16>(pool, ones, {600}, whole_of(1));
  const auto ids =
      distribute<std::int64_t>(pool, std::vector<std::int64_t>(600, 0), {600}, whole_of(1));
  // If each partial sum were rounded, the sums would stop at 256.
  REQUIRE(static_cast<float>(to_host(segment_sum<0, 1>(x, ids))(0)) == 600.0F);
  REQUIRE(static_cast<float>(to_host(softmax<0>(x))(0)) ==
          static_cast<float>(bfloat16(1.0F / 600.0F)));
}

TEST_CASE("a cross entropy over split classes exchanges two small reductions") {
  using Logits = sharded_tensor<float, extents<8, 6>, layout<pod, P<"x", "y">>>;
  using Labels = sharded_tensor<std::int32_t, extents<8>, layout<pod, P<"x">>>;
  constexpr auto loss = [](const auto& x, const auto& labels) {
    return cross_entropy<1>(x, labels, across<"y">);
  };
  constexpr auto spent = trace(loss, abstract<Logits>(), abstract<Labels>());
  static_assert(spent.collectives() == 2);
  static_assert(spent.collectives(collective::all_reduce, "y") == 2);
  // The maximum of each example, then its sum and the logit of its label.
  static_assert(spent.bytes_moved() == 4 * 4 + 4 * 8);
  const device_pool pool{pod{}};
  const Logits x = normal<Logits>(pool, random_key{3}) * 20.0F;
  const Labels labels = distribute<Labels>(pool, std::vector<std::int32_t>{0, 1, 2, 3, 4, 5, 5, 0});
  const auto y = to_host(loss(x, labels));
  const auto host = to_host(x);
  const auto chosen = to_host(labels);
  for (index_t i = 0; i < 8; ++i) {
    double high = host(i, 0), total = 0;
    for (index_t j = 1; j < 6; ++j) high = std::max<double>(high, host(i, j));
    for (index_t j = 0; j < 6; ++j) total += std::exp(host(i, j) - high);
    REQUIRE(y(i) == Approx(high + std::log(total) - host(i, chosen(i))).margin(1e-4));
  }
}

TEST_CASE("a dropout keeps the same elements whatever the mesh") {
  using Split = sharded_tensor<float, extents<64, 33>, layout<pod, P<"y", "x">, partial<>, uneven>>;
  const device_pool pool{pod{}};
  const device_pool one(1);
  const std::vector<float> ones(64 * 33, 1.0F);
  const Split x = distribute<Split>(pool, ones);
  const auto whole = distribute<float>(one, ones, {64, 33}, whole_of(2));
  const auto y = to_host(dropout(x, random_key{5}, 0.25));
  const auto z = to_host(dropout(whole, random_key{5}, 0.25F));
  int kept = 0;
  for (std::size_t i = 0; i < ones.size(); ++i) {
    REQUIRE(y.elements()[i] == z.elements()[i]);
    REQUIRE((y.elements()[i] == 0.0F || y.elements()[i] == 1.0F / 0.75F));
    kept += y.elements()[i] != 0.0F ? 1 : 0;
  }
  REQUIRE(std::abs(kept - 1584) < 80);
  REQUIRE(to_host(dropout(whole, random_key{5}, 0)).elements()[7] == 1.0F);
  for (float value : to_host(dropout(whole, random_key{5}, 1)).elements()) REQUIRE(value == 0.0F);
  REQUIRE(to_host(dropout(whole, random_key{6}, 0.25F)) != z);
}

TEST_CASE("attention over many blocks of queries and keys is that of all scores") {
  const device_pool pool(2);
  const index_t queries = 150, keys = 300, width = 16;
  const auto fill = [&](index_t rows, std::uint64_t seed) {
    std::vector<double> all;
    for (index_t i = 0; i < 2 * rows * width; ++i)
      all.push_back(shardwise::uniform<double>(random_key{seed}, i) * 4 - 2);
    return all;
  };
  const std::vector<double> a = fill(queries, 1), b = fill(keys, 2), c = fill(keys, 3);
  const auto q = distribute<double>(pool, a, {2, queries, width}, whole_of(3));
  const auto k = distribute<double>(pool, b, {2, keys, width}, whole_of(3));
  const auto v = distribute<double>(pool, c, {2, keys, width}, whole_of(3));
  const auto all = to_host(attention(q, k, v));
  const auto earlier = to_host(attention<attends::to_earlier>(q, k, v));
  const auto at = [&](const std::vector<double>& x, index_t rows, index_t h, index_t i, index_t e) {
    return x[static_cast<std::size_t>((h * rows + i) * width + e)];
  };
  for (index_t h = 0; h < 2; ++h)
    for (index_t i = 0; i < queries; i += 7)
      for (index_t met : {keys, i + 1}) {
        std::vector<double> weights;
        double total = 0, sums[width] = {};
        for (index_t j = 0; j < met; ++j) {
          double score = 0;
          for (index_t e = 0; e < width; ++e)
            score += at(a, queries, h, i, e) * at(b, keys, h, j, e) / 4;
          weights.push_back(std::exp(score));
          total += weights.back();
        }
        for (index_t j = 0; j < met; ++j)
          for (index_t e = 0; e < width; ++e)
            sums[e] += weights[static_cast<std::size_t>(j)] * at(c, keys, h, j, e) / total;
        for (index_t e = 0; e < width; ++e)
          REQUIRE((met == keys ? all : earlier)(h, i, e) == Approx(sums[e]).margin(1e-12));
      }
}
