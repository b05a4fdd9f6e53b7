// SPDX-License-Identifier: BSL-1.0
// Means, norms and variances at the ends of the range of elements, and their gradients there.
#include "support/catch.hpp"
#include <shardwise/shardwise.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <tuple>
#include <type_traits>
#include <vector>

using namespace shardwise;

namespace {

struct one : mesh<axis<"x", 1>> {};
struct four : mesh<axis<"x", 4>> {};
template <class M, class T, index_t N>
using line = sharded_tensor<T, extents<N>, layout<M, P<"x">>>;

template <class X>
double value(const X& x) {
  return static_cast<double>(static_cast<float>(to_host(reshard<P<>>(x))()));
}

constexpr float infinity = std::numeric_limits<float>::infinity();

}  // namespace

TEMPLATE_TEST_CASE("means and norms of 16-bit elements are computed in float", "", one, four) {
  const device_pool pool{TestType{}};
  // More elements than float16 can count, and a sum beyond its range.
  const auto halves = full<line<TestType, float16, 70000>>(pool, 0.5F);
  const auto large = full<line<TestType, float16, 100>>(pool, 1000.0F);
  REQUIRE(value(mean(halves)) == 0.5);
  REQUIRE(value(mean(large)) == 1000);
  REQUIRE(value(nanmean(halves, across<"x">)) == 0.5);
  REQUIRE(value(nanmean(large, across<"x">)) == 1000);
  REQUIRE(value(l2_norm(large, across<"x">)) == 10000);
  REQUIRE(value(lp_norm(full<line<TestType, float16, 8>>(pool, 128.0F), 3, across<"x">)) == 256);
  REQUIRE(value(logsumexp(full<line<TestType, float16, 70000>>(pool, 10.0F), across<"x">)) ==
          Approx(10 + std::log(70000)).epsilon(1e-3));
  REQUIRE(value(trapezoid<0>(large, 0.001)) == Approx(99).epsilon(1e-3));
  const auto signs = generate<line<TestType, float16, 100>>(
      pool, [](const global_index& at) { return at[0] % 2 == 0 ? 1000.0F : -1000.0F; });
  REQUIRE(value(standard_deviation(signs, across<"x">)) == 1000);
  // bfloat16 cannot count to 257.
  REQUIRE(value(mean(full<line<TestType, bfloat16, 260>>(pool, 3.0F))) == 3);

  const auto mean_of_squares = [](const auto& x) { return mean(x * x); };
  const auto slopes =
      to_host(gradient(mean_of_squares)(full<line<TestType, float16, 70000>>(pool, 100.0F)));
  REQUIRE(static_cast<double>(slopes(69999)) == Approx(200.0 / 70000).epsilon(5e-3));
}

TEMPLATE_TEST_CASE("the mean of a 16-bit tensor stays a pending sum of its elements", "", one,
                   four) {
  using B = line<TestType, bfloat16, 8>;
  constexpr auto cost = trace([](const auto& x) { return reshard<P<>>(mean(x)); }, abstract<B>());
  STATIC_REQUIRE(cost.collectives() == (std::is_same_v<TestType, one> ? 0 : 1));
  const device_pool pool{TestType{}};
  const auto x = ones<B>(pool);
  auto y = mean(x);
  STATIC_REQUIRE(std::is_same_v<typename decltype(y)::value_type, bfloat16>);
  pool.reset_counters();
  REQUIRE(value(y) == 1);
  REQUIRE(pool.counters().bytes_moved() == cost.bytes_moved());
}

TEMPLATE_TEST_CASE("gradients are finite beside elements that count for nothing", "", one, four) {
  const device_pool pool{TestType{}};
  using X = line<TestType, float, 4>;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const auto some = distribute<X>(pool, std::vector<float>{nan, 1, 2, 3});
  const auto spread = to_host(gradient([](const auto& x) { return nanvar(x, across<"x">); })(some));
  REQUIRE(spread.elements()[0] == 0);
  REQUIRE(spread.elements()[1] == Approx(-2.0 / 3));
  REQUIRE(spread.elements()[2] == 0);
  REQUIRE(spread.elements()[3] == Approx(2.0 / 3));

  const auto total = [](const auto& x) { return logsumexp(x, across<"x">); };
  const auto nothing = full<X>(pool, -infinity);
  REQUIRE(value(total(nothing)) == -infinity);
  const auto flat = to_host(gradient(total)(nothing));
  for (const float slope : flat.elements()) REQUIRE(slope == 0);

  const auto larger = [](const auto& x) { return sum(logaddexp(x, x * 0.0F + 1e7F)); };
  const auto shares = to_host(gradient(larger)(full<X>(pool, 1e7F)));
  for (const float share : shares.elements()) REQUIRE(share == 0.5F);
}

namespace {

/// The ends of the range of corrections; an overflow in a constant expression is no program.
template <index_t Less>
constexpr bool corrections_are_constant() {
  using X = sharded_tensor<double, extents<2, 4>, layout<one, P<none, none>>>;
  constexpr auto made = trace(
      [](const auto& x) {
        return std::tuple(variance<1>(x, correction{Less}),
                          standard_deviation<1>(x, correction{Less}),
                          nanvar<1>(x, correction{Less}), cov(x, correction{Less}));
      },
      abstract<X>());
  return made.collectives() == 0;
}
static_assert(corrections_are_constant<INT64_MIN>() && corrections_are_constant<INT64_MIN + 1>() &&
              corrections_are_constant<INT64_MAX>());

}  // namespace

TEST_CASE("a correction may be any number") {
  const device_pool pool{one{}};
  using X = sharded_tensor<double, extents<2, 4>, layout<one, P<none, none>>>;
  const X x = iota<X>(pool);
  const auto all = [&](index_t less) {
    return std::vector<double>{to_host(variance<1>(x, correction{less}))(0),
                               to_host(nanvar<1>(x, correction{less}))(0),
                               to_host(cov(x, correction{less}))(0, 1),
                               to_host(cov(any_tensor<double>(x), correction{less}))(1, 1)};
  };
  // The sum of squares of 0 to 3 around their mean is 5.
  for (const double each : all(-6)) REQUIRE(each == 0.5);
  for (const index_t least : {INT64_MIN, INT64_MIN + 1, INT64_MIN + 5})
    for (const double each : all(least)) REQUIRE(each == Approx(5 / 0x1p63));
  for (const index_t most : {index_t{4}, INT64_MAX})
    for (const double each : all(most)) REQUIRE(each == std::numeric_limits<double>::infinity());
}

TEST_CASE("slices and rolls may go by any number of elements") {
  const device_pool pool{one{}};
  using X = line<one, float, 5>;
  const X x = iota<X>(pool);
  const auto read = [](const auto& y) { return to_host(y).elements(); };
  using elements = std::vector<float>;
  REQUIRE(read(slice_in_dim<0, 1, open_end, INT64_MAX>(x)) == elements{1});
  REQUIRE(read(slice_in_dim<0, 3, open_end, INT64_MIN>(x)) == elements{3});
  REQUIRE(read(slice_in_dim<0, 3, open_end, -INT64_MAX>(x)) == elements{3});
  REQUIRE(read(slice_in_dim<0, 4, 4, INT64_MIN>(x)).empty());
  // 2^63 is 3 more than a multiple of 5, and -2^63 is 3 less than one.
  REQUIRE(read(roll<0, INT64_MAX>(x)) == elements{3, 4, 0, 1, 2});
  REQUIRE(read(roll<0, INT64_MIN>(x)) == elements{3, 4, 0, 1, 2});
  const auto slope = [&](const auto& f) {
    return read(gradient([&](const X& at) { return sum(f(at) * x); })(x));
  };
  REQUIRE(slope([](const auto& at) { return roll<0, INT64_MIN>(at); }) == elements{2, 3, 4, 0, 1});
  const auto one_of = [&](const auto& f) {
    return read(gradient([&](const X& at) { return sum(f(at)); })(x));
  };
  REQUIRE(one_of([](const auto& at) { return slice_in_dim<0, 1, open_end, INT64_MAX>(at); }) ==
          elements{0, 1, 0, 0, 0});
  REQUIRE(one_of([](const auto& at) { return slice_in_dim<0, 3, open_end, INT64_MIN>(at); }) ==
          elements{0, 0, 0, 1, 0});
}
