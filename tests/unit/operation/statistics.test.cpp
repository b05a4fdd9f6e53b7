// SPDX-License-Identifier: BSL-1.0
// Means, norms and variances at the ends of the range of elements, and their gradients there.
#include "support/catch.hpp"
#include <shardwise/shardwise.hpp>

#include <cmath>
#include <limits>
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
