// SPDX-License-Identifier: BSL-1.0
// Functions that are mapped over batches, compared with calls for each element.
#include "support/catch.hpp"
#include "support/refusal.hpp"
#include <shardwise/shardwise.hpp>

#include <cmath>
#include <string>
#include <tuple>
#include <vector>

using namespace shardwise;

namespace {

struct pod : mesh<axis<"data", 2>, axis<"model", 2>> {};
template <class Spec, index_t... N>
using tensor = sharded_tensor<double, extents<N...>, layout<pod, Spec>>;
using U = sharded_tensor<double, extents<5, 4, 6>,
                         layout<pod, P<"data", none, "model">, partial<>, uneven>>;
using B = tensor<P<"data", none, "model">, 6, 4, 6>;
using W = tensor<P<"model", none>, 6, 2>;

template <class T>
std::vector<double> values(const T& x) {
  const auto host = to_host(x);
  std::vector<double> out;
  for (const auto each : host.elements()) out.push_back(static_cast<double>(each));
  return out;
}
std::vector<double> numbers(index_t count) {
  std::vector<double> all;
  for (index_t i = 0; i < count; ++i) all.push_back(-0.9 + 0.13 * static_cast<double>(i * 5 % 17));
  return all;
}

constexpr auto layer = [](const auto& x, const auto& w) {
  return tanh(reshard<P<none, none>>(einsum<"ti,io->to">(x, w)));
};

}  // namespace

TEST_CASE("a mapped function gives what the function gives for each element") {
  const device_pool pool{pod{}};
  const auto x = distribute<B>(pool, numbers(144));
  const auto w = distribute<W>(pool, numbers(12));
  const auto y = vmap<0, none>(layer)(x, w);
  static_assert(
      std::is_same_v<std::remove_const_t<decltype(y)>, tensor<P<"data", none, none>, 6, 4, 2>>);
  const std::vector<double> all = values(y);
  using one = tensor<P<none, "model">, 4, 6>;
  for (std::size_t i = 0; i < 6; ++i) {
    const std::vector<double> given = numbers(144);
    const auto begin = given.begin() + static_cast<std::ptrdiff_t>(i * 24);
    const auto want =
        values(layer(distribute<one>(pool, std::vector<double>(begin, begin + 24)), w));
    for (std::size_t k = 0; k < want.size(); ++k)
      REQUIRE(all[i * 8 + k] == Approx(want[k]).epsilon(1e-12));
  }
  // The same for run-time layouts.
  const any_tensor<double> untyped = x;
  const any_tensor<double> weights = w;
  const any_tensor<double> mapped = vmap<0, none>([](const auto& each, const auto& by) {
    return tanh(reshard(einsum("ti,io->to", each, by), spec_desc{{"", ""}}));
  })(untyped, weights);
  REQUIRE(values(mapped) == all);
}

TEST_CASE("what a mapped function costs is what its trace says") {
  const device_pool pool{pod{}};
  const auto x = distribute<B>(pool, numbers(144));
  const auto w = distribute<W>(pool, numbers(12));
  constexpr auto mapped = vmap<0, none>(layer);
  constexpr cost_ledger paper = trace(mapped, abstract<B>(), abstract<W>());
  static_assert(paper.collectives(collective::all_reduce, "model") == 1);
  static_assert(paper.collectives() == 1);
  pool.reset_counters();
  const auto y = mapped(x, w);
  sync(y);
  REQUIRE(pool.counters() == paper);
}

TEST_CASE("a batch may be any dimension, and be unevenly split") {
  const device_pool pool{pod{}};
  const auto x = distribute<U>(pool, numbers(120));
  const auto total = [](const auto& each) { return reshard<P<>>(sum(each)); };
  const auto first = values(vmap(total)(x));
  const auto last = values(vmap<2>([](const auto& each) { return sum<0>(each); })(
      distribute<tensor<P<none, none, none>, 5, 4, 6>>(pool, numbers(120))));
  REQUIRE(first.size() == 5);
  REQUIRE(last.size() == 24);
  const std::vector<double> all = numbers(120);
  for (std::size_t i = 0; i < 5; ++i) {
    double want = 0;
    for (std::size_t k = 0; k < 24; ++k) want += all[i * 24 + k];
    REQUIRE(first[i] == Approx(want));
  }
  for (std::size_t k = 0; k < 6; ++k)
    for (std::size_t j = 0; j < 4; ++j) {
      double want = 0;
      for (std::size_t i = 0; i < 5; ++i) want += all[i * 24 + j * 6 + k];
      REQUIRE(last[k * 4 + j] == Approx(want));
    }
}

TEST_CASE("a batch without elements is one") {
  const device_pool pool{pod{}};
  using none_of_them = tensor<P<"data", none>, 0, 4>;
  const auto x = distribute<none_of_them>(pool, std::vector<double>{});
  const auto y = vmap([](const auto& each) { return sort<0>(each); })(x);
  REQUIRE(values(y).empty());
  REQUIRE(y.extents()[0] == 0);
}

TEST_CASE("maps nest") {
  const device_pool pool{pod{}};
  const auto x = distribute<B>(pool, numbers(144));
  const auto each_row = [](const auto& row) { return sort<0>(reshard<P<none>>(row)); };
  const auto y = vmap(vmap(each_row))(x);
  const auto want = sort<2>(reshard<P<"data", none, none>>(x));
  REQUIRE(values(y) == values(want));
  // All pairs of rows.
  const auto dot = [](const auto& a, const auto& b) { return einsum<"i,i->">(a, b); };
  using M = tensor<P<"data", none>, 4, 3>;
  using N = tensor<P<"model", none>, 2, 3>;
  const auto m = distribute<M>(pool, numbers(12));
  const auto n = distribute<N>(pool, numbers(6));
  const auto pairs = vmap<0, none>(
      [&](const auto& a, const auto& all) { return vmap<none, 0>(dot)(a, all); })(m, n);
  static_assert(
      std::is_same_v<std::remove_const_t<decltype(pairs)>, tensor<P<"data", "model">, 4, 2>>);
  REQUIRE(values(pairs) == values(einsum<"ai,bi->ab">(m, n)));
}

TEST_CASE("several results, nests and results that no element changes") {
  const device_pool pool{pod{}};
  const auto x = distribute<tensor<P<"data", none>, 4, 6>>(pool, numbers(24));
  const auto b = distribute<tensor<P<none>, 6>>(pool, numbers(6));
  const auto f = [&](const auto& nest) {
    const auto& [row, shift] = nest;
    const auto top = top_k<0, 2>(row + shift);
    return std::tuple{top.first, top.second, shift * 2.0};
  };
  // The dimension applies to every tensor of a nest.
  const auto shifts = distribute<tensor<P<"data", none>, 4, 6>>(pool, numbers(24));
  const auto [greatest, where, twice] = vmap(f)(std::tuple{x, shifts});
  static_assert(
      std::is_same_v<std::remove_cvref_t<decltype(twice)>, tensor<P<"data", none>, 4, 6>>);
  const auto want = top_k<1, 2>(x + shifts);
  REQUIRE(values(greatest) == values(want.first));
  REQUIRE(values(where) == values(want.second));
  const auto [sums, same] = vmap<0, none>([](const auto& row, const auto& shift) {
    return std::tuple{row + shift, shift * 2.0};
  })(x, b);
  static_assert(std::is_same_v<std::remove_cvref_t<decltype(same)>, tensor<P<"data", none>, 4, 6>>);
  const std::vector<double> all = values(same), one = values(b);
  for (std::size_t i = 0; i < all.size(); ++i) REQUIRE(all[i] == 2 * one[i % 6]);
  REQUIRE(values(sums)[7] == values(x)[7] + one[1]);
}

TEST_CASE("gradients for each example are those of the examples alone") {
  const device_pool pool{pod{}};
  using inputs = tensor<P<"data", none>, 6, 4>;
  using weights = tensor<P<none, none>, 4, 3>;
  const auto x = distribute<inputs>(pool, numbers(24));
  const auto w = distribute<weights>(pool, numbers(12));
  constexpr auto loss = [](const auto& v, const auto& row) {
    return sum(square(tanh(einsum<"i,io->o">(row, v))));
  };
  const auto each = vmap<none, 0>(gradient(loss))(w, x);
  static_assert(
      std::is_same_v<std::remove_const_t<decltype(each)>, tensor<P<"data", none, none>, 6, 4, 3>>);
  const std::vector<double> all = values(each), given = numbers(24);
  std::vector<double> total(12);
  for (std::size_t i = 0; i < 6; ++i) {
    const auto begin = given.begin() + static_cast<std::ptrdiff_t>(i * 4);
    const auto row = distribute<tensor<P<none>, 4>>(pool, std::vector<double>(begin, begin + 4));
    const std::vector<double> want = values(gradient(loss)(w, row));
    for (std::size_t k = 0; k < 12; ++k) {
      REQUIRE(all[i * 12 + k] == Approx(want[k]).epsilon(1e-12));
      total[k] += want[k];
    }
  }
  // The gradient of the mapped loss is their sum.
  const auto whole = gradient(
      [&](const auto& v, const auto& rows) { return sum(vmap<none, 0>(loss)(v, rows)); })(w, x);
  const std::vector<double> sums = values(whole);
  for (std::size_t k = 0; k < 12; ++k) REQUIRE(sums[k] == Approx(total[k]).epsilon(1e-12));
  // As on paper.
  constexpr auto cost =
      trace(vmap<none, 0>(gradient(loss)), abstract<weights>(), abstract<inputs>());
  static_assert(cost.collectives() == 0);
}

TEST_CASE("a mapped gradient that is one number for each example fills its example") {
  const device_pool pool{pod{}};
  struct single : mesh<axis<"data", 1>, axis<"model", 1>> {};
  const device_pool alone{single{}};
  std::vector<double> given;
  for (int i = 0; i < 24; ++i) given.push_back(i);
  constexpr auto loss = [](const auto& row) { return square(sum(row)); };
  std::vector<double> want;
  for (const double number : {30.0, 102.0, 174.0, 246.0}) want.insert(want.end(), 6, number);

  using rows = sharded_tensor<double, extents<4, 6>, layout<single, P<none, none>>>;
  const auto one = distribute<rows>(alone, given);
  REQUIRE(values(vmap(gradient(loss))(one)) == want);
  REQUIRE(values(vmap(gradient(loss))(any_tensor(one))) == want);
  const auto split = distribute<tensor<P<"data", none>, 4, 6>>(pool, given);
  REQUIRE(values(vmap(gradient(loss))(split)) == want);
  REQUIRE(values(vmap(gradient(loss))(any_tensor(split))) == want);

  // The mean of the positions of each example, after a linear layer.
  using inputs = tensor<P<"data", none, none>, 2, 3, 4>;
  using weights = tensor<P<none, none>, 4, 2>;
  const auto w = distribute<weights>(pool, numbers(8));
  const auto x = distribute<inputs>(pool, given);
  constexpr auto pooled = [](const auto& each, const auto& v) {
    return sum(square(mean<0>(einsum<"ti,io->to">(each, v))));
  };
  const std::vector<double> all = values(vmap<0, none>(gradient(pooled))(x, w));
  for (std::size_t i = 0; i < 2; ++i) {
    const auto begin = given.begin() + static_cast<std::ptrdiff_t>(i * 12);
    const auto own =
        distribute<tensor<P<none, none>, 3, 4>>(pool, std::vector<double>(begin, begin + 12));
    const std::vector<double> alone_each = values(gradient(pooled)(own, w));
    for (std::size_t k = 0; k < 12; ++k)
      REQUIRE(all[i * 12 + k] == Approx(alone_each[k]).epsilon(1e-12));
  }
}

TEST_CASE("a mapped function of different ranks keeps the split of a dimension of size 1") {
  const device_pool pool{pod{}};
  using column =
      sharded_tensor<double, extents<4, 1>, layout<pod, P<"data", "model">, partial<>, uneven>>;
  using matrix = sharded_tensor<double, extents<4, 3, 1>,
                                layout<pod, P<"data", none, "model">, partial<>, uneven>>;
  const auto a = distribute<column>(pool, numbers(4));
  const auto b = distribute<matrix>(pool, numbers(12));
  const auto added = [](const auto& x, const auto& y) { return x + y; };
  const std::vector<double> got = values(vmap(added)(a, b));
  for (std::size_t i = 0; i < 12; ++i) REQUIRE(got[i] == numbers(4)[i / 3] + numbers(12)[i]);
}

TEST_CASE("a custom gradient is that of a mapped function too") {
  const device_pool pool{pod{}};
  constexpr auto tripled =
      custom_gradient([](const auto& x) { return sin(x); },
                      [](const auto& x, const auto& dy) { return dy * x * 3.0; });
  constexpr auto scaled = custom_gradient([](const auto& x, const auto& w) { return x * w; },
                                          [](const auto& x, const auto& w, const auto& dy) {
                                            return std::tuple{dy * w, dy * x * 5.0};
                                          });
  using rows = tensor<P<"data", none>, 4, 3>;
  const auto x = distribute<rows>(pool, numbers(12));
  const auto w = distribute<tensor<P<none>, 3>>(pool, numbers(3));
  const auto loss = [&](const auto& v, const auto& u) {
    return sum(vmap<0, none>(
        [&](const auto& row, const auto& by) { return scaled(tripled(row), by); })(v, u));
  };
  const auto plain = [&](const auto& v, const auto& u) { return sum(tripled(v) * u); };
  const auto [dx, dw] = gradient<0, 1>(loss)(x, w);
  REQUIRE(values(dx) == values(gradient(plain)(x, w)));
  const std::vector<double> got = values(dw), all = numbers(12);
  for (std::size_t k = 0; k < 3; ++k) {
    double want = 0;
    for (std::size_t i = 0; i < 4; ++i) want += 5 * std::sin(all[i * 3 + k]);
    REQUIRE(got[k] == Approx(want).epsilon(1e-12));
  }
  // Also where the mapped function goes on with its result.
  const auto inside = [&](const auto& v) {
    return sum(vmap<0>([&](const auto& row) { return sum(tripled(tripled(row) * 2.0)); })(v));
  };
  const auto outside = [&](const auto& v) { return sum(tripled(tripled(v) * 2.0)); };
  REQUIRE(values(gradient(inside)(x)) == values(gradient(outside)(x)));
  // The same on paper.
  constexpr auto on_paper = [](const auto& v) {
    constexpr auto again =
        custom_gradient([](const auto& each) { return sin(each); },
                        [](const auto& each, const auto& dy) { return dy * each * 3.0; });
    return sum(vmap(again)(v));
  };
  constexpr auto unmapped = [](const auto& v) {
    constexpr auto again =
        custom_gradient([](const auto& each) { return sin(each); },
                        [](const auto& each, const auto& dy) { return dy * each * 3.0; });
    return sum(again(v));
  };
  static_assert(trace(gradient(on_paper), abstract<rows>()).flops() ==
                trace(gradient(unmapped), abstract<rows>()).flops());
}

TEST_CASE("reshards and collectives inside of a mapped function are mapped") {
  const device_pool pool{pod{}};
  const auto x = distribute<B>(pool, numbers(144));
  const auto moved = vmap([](const auto& each) { return reshard<P<"model", none>>(each); })(x);
  static_assert(std::is_same_v<std::remove_const_t<decltype(moved)>,
                               tensor<P<"data", "model", none>, 6, 4, 6>>);
  REQUIRE(values(moved) == values(x));

  const auto manually = [](const auto& each) {
    const auto mine = enable_manual_sharding(each);  // 4 x 3
    const auto largest = all_reduce<reduction::max, "model">(max<1>(mine));
    const auto beside = shift<"model", 1>(mine);
    return all_gather<"model", 1>(beside / reshape<extents<4, 1>>(largest));
  };
  const std::vector<double> all = values(vmap(manually)(x));
  using one = tensor<P<none, "model">, 4, 6>;
  for (std::size_t i = 0; i < 6; ++i) {
    const std::vector<double> given = numbers(144);
    const auto begin = given.begin() + static_cast<std::ptrdiff_t>(i * 24);
    const auto want =
        values(manually(distribute<one>(pool, std::vector<double>(begin, begin + 24))));
    for (std::size_t k = 0; k < want.size(); ++k) REQUIRE(all[i * 24 + k] == want[k]);
  }
}

TEST_CASE("a step replays mapped functions") {
  const device_pool pool{pod{}};
  auto x = distribute<B>(pool, numbers(144));
  auto w = distribute<W>(pool, numbers(12));
  auto mapped = step([](const auto& a, const auto& b) { return vmap<0, none>(layer)(a, b); });
  const auto once = values(mapped(x, w));
  REQUIRE(values(mapped(x, w)) == once);
  REQUIRE(once == values(vmap<0, none>(layer)(x, w)));
}

TEST_CASE("what cannot be mapped is refused") {
  const device_pool pool{pod{}};
  const any_tensor<double> x = distribute<B>(pool, numbers(144));
  const any_tensor<double> w = distribute<W>(pool, numbers(12));
  const auto add = [](const auto& a, const auto& b) { return sum(a) + sum(b); };
  REQUIRE(refusal([&] { (void)vmap<3>([](const auto& a) { return a; })(x); }) ==
          violation::dimension_is_out_of_range);
  REQUIRE(refusal([&] { (void)vmap<0, 1>(add)(x, w); }) == violation::mapped_dimensions_differ);
  REQUIRE(refusal([&] { (void)vmap<0, 0>(add)(x, w); }) == violation::mapped_dimensions_differ);
  const auto takes_axis = [](const auto& a) { return reshard(a, spec_desc{{"data", ""}}); };
  REQUIRE(refusal([&] { (void)vmap(takes_axis)(x); }) == violation::axis_is_mapped);
  REQUIRE(refusal([&] { (void)vmap([](const auto& a) { return a * to_host(a)(0, 0); })(x); }) ==
          violation::value_is_being_differentiated);
  // And changes nothing.
  REQUIRE(values(x) == numbers(144));
}

TEST_CASE(
    "what would need more than eight dimensions, or too many factors, is refused or gathered") {
  const device_pool pool{pod{}};
  // The maxima of eight dimensions have gradients, though their lines cannot be divided further.
  using eight = sharded_tensor<float, extents<1, 1, 1, 1, 1, 1, 1, 4>,
                               layout<pod, P<none, none, none, none, none, none, none, "data">>>;
  const auto x = distribute<eight>(pool, std::vector<float>{1, 5, 2, 3});
  const auto slope = to_host(gradient([](const auto& v) {
    return reshard<P<>>(sum(max_with_index<7>(v, across<"data">).first));
  })(x));
  CHECK(std::vector<float>(slope.begin(), slope.end()) == std::vector<float>{0, 1, 0, 0});
  const any_tensor<float> many =
      ones<float>(pool, extents_desc{3, 2, 2, 2, 2, 2, 2}, spec_desc{{"", "", "", "", "", "", ""}});
  CHECK_THROWS_WITH(vmap([](const auto& v) { return tile<2, 2, 2, 2, 2>(v); })(many),
                    contains("rank_is_too_high"));
}
