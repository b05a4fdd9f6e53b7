// SPDX-License-Identifier: BSL-1.0
// With headers alone, a program that takes a gradient has the kernels of the gradient of what this
// gradient computes too.
#include "support/catch.hpp"
#include "support/values.hpp"
#include <shardwise/shardwise.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

using namespace shardwise;

namespace {

struct pair : mesh<axis<"data", 2>> {};
using X = sharded_tensor<double, extents<4, 4>, layout<pair, P<"data", none>>>;

/// The central difference of a number that `f` computes from a tensor, for one element.
template <class F>
double difference(const device_pool& pool, const F& f, std::vector<double> at, std::size_t i) {
  const double here = at[i], step = 1e-5;
  const auto moved = [&](double by) {
    at[i] = here + by;
    return to_host(f(distribute<X>(pool, at)))();
  };
  return (moved(step) - moved(-step)) / (2 * step);
}
bool is_near(double found, double expected, double within) {
  return std::abs(found - expected) <= within * std::max(1.0, std::abs(expected));
}

/// The gradient of the squares of the gradient of `f`, beside central differences of these squares.
template <class F>
void check_second_gradient(const device_pool& pool, const F& f) {
  const auto loss = [&](const auto& x) { return reshard<P<>>(sum(square(f(x)))); };
  const auto squares = [&](const auto& x) { return reshard<P<>>(sum(square(gradient(loss)(x)))); };
  const X x = uniform<X>(pool, random_key{1});
  const std::vector<double> found = values(gradient(squares)(x));
  for (const std::size_t i : {std::size_t{0}, std::size_t{6}, std::size_t{15}})
    CHECK(is_near(found[i], difference(pool, squares, values(x), i), 1e-5));
}

/// The derivative of a weighted sum of the gradient of `f`, beside central differences of this sum,
/// for all elements: a product of the Hessian matrix with a vector.
template <class F>
void check_hessian(const device_pool& pool, const F& f, const std::vector<double>& at) {
  const X weights = uniform<X>(pool, random_key{2});
  const X others = uniform<X>(pool, random_key{3});
  const auto loss = [&](const auto& x) { return reshard<P<>>(sum(f(x) * others)); };
  const auto slopes = [&](const auto& x) { return reshard<P<>>(sum(gradient(loss)(x) * weights)); };
  const std::vector<double> found = values(gradient(slopes)(distribute<X>(pool, at)));
  const auto [slope, product] = jvp(gradient(loss), distribute<X>(pool, at), weights);
  const std::vector<double> forward = values(product);
  for (std::size_t i = 0; i < at.size(); ++i) {
    const double expected = difference(pool, slopes, at, i);
    CHECK(is_near(found[i], expected, 1e-6));
    CHECK(is_near(forward[i], expected, 1e-6));
  }
}

}  // namespace

TEST_CASE("second derivatives of products at factors that are 0") {
  const device_pool pool{pair{}};
  // Rows with no zero, one, two, and three.
  const std::vector<double> at{1.5, -2, 0.5, 3, 2, 0, -1, 0.5, 0, 1.5, 0, -2, 0, 0, 2, 0};
  check_hessian(
      pool, [](const auto& x) { return broadcast_to<extents<4, 4>>(product<1>(x, keep_dims)); },
      at);
  // Over the split dimension.
  check_hessian(
      pool, [](const auto& x) { return x * 0.0 + reshard<P<none>>(product<0>(x)); }, at);
  check_hessian(
      pool, [](const auto& x) { return cumprod<1>(x); }, at);
  const auto index = distribute<sharded_tensor<std::int64_t, extents<4, 4>, X::layout_type>>(
      pool, [](const global_index& i) { return std::int64_t{i[1] == 3 ? 1 : 0}; });
  check_hessian(
      pool,
      [&](const auto& x) {
        return put_along<1, scatter_mode::multiply>(square(x) + 1.0, index, x);
      },
      at);
}

TEST_CASE("derivatives of powers of 0") {
  const device_pool pool{pair{}};
  const X x = zeros<X>(pool), ones_of = ones<X>(pool);
  const auto none_of = [](const std::vector<double>& found) {
    return std::all_of(found.begin(), found.end(), [](double y) { return y == 0; });
  };
  // The power 0 is constant, the power 1 is linear.
  REQUIRE(none_of(values(jvp([](const auto& a) { return pow(a, 0.0); }, x, ones_of).second)));
  const auto linear = [](const auto& a) { return reshard<P<>>(sum(pow(a, 1.0))); };
  const auto [slope, bend] = jvp(gradient(linear), x, ones_of);
  REQUIRE(values(slope) == std::vector<double>(16, 1.0));
  REQUIRE(none_of(values(bend)));
  REQUIRE(none_of(values(jvp([&](const auto& y) { return pow(x, y); }, ones_of, ones_of).second)));
}

TEST_CASE("second derivatives where functions are defined by cases") {
  const device_pool pool{pair{}};
  constexpr double inf = std::numeric_limits<double>::infinity();
  const std::vector<double> at{1.5, -2, 0.5, 3, 2, 0, -1, 0.5, 0, 1.5, 0, -2, 0, 0, 2, 0};
  check_hessian(
      pool, [](const auto& x) { return logaddexp(x, 0.0); }, at);
  check_hessian(
      pool, [](const auto& x) { return pow(x, 3.0); }, at);
  const X powers =
      distribute<X>(pool, [](const global_index& i) { return static_cast<double>(i[1]); });
  check_hessian(
      pool, [&](const auto& x) { return pow(x, powers); }, at);

  const auto second = [&](const auto& f, const X& x) {
    const auto slopes = [&](const auto& z) {
      return sum(gradient([&](const auto& v) { return sum(f(v)); })(z));
    };
    return values(gradient(slopes)(x));
  };
  const auto all = [](const std::vector<double>& found, double wanted) {
    return std::all_of(found.begin(), found.end(),
                       [&](double y) { return is_near(y, wanted, 1e-12); });
  };
  const X zero = zeros<X>(pool), far = full<X>(pool, -800.0);
  CHECK(all(second([](const auto& x) { return logaddexp(x, 0.0); }, far), 0));
  CHECK(all(second([](const auto& x) { return sinc(x); }, zero), -3.2898681336964528));
  CHECK(all(values(gradient([](const auto& x) { return sum(sinc(x)); })(zero)), 0));
  // With respect to the base and the exponent.
  const auto slopes = [&](const auto& x) {
    const auto [base, exponent] = gradient<0, 1>(
        [](const auto& a, const auto& b) { return sum(pow(a, b)); })(x, ones<X>(pool) * 2.0);
    return sum(base) + sum(exponent);
  };
  CHECK(all(values(gradient(slopes)(zero)), 2));
  // The slope of elu at 0 is alpha, and that of alpha is finite where x is large.
  CHECK(all(values(gradient([](const auto& x) { return sum(elu(x, 2.0)); })(zero)), 2));
  const auto of_alpha = [&](const auto& x) {
    return sum(gradient<1>([](const auto& v, const auto& alpha) { return sum(elu(v, alpha)); })(
        x, ones<X>(pool)));
  };
  CHECK(all(values(gradient(of_alpha)(full<X>(pool, 800.0))), 0));
  const auto ends = values(gradient([](const auto& p) { return sum(logit(p)); })(distribute<X>(
      pool, std::vector<double>{0, 1, 0.5, 0.5, 0, 1, 0.5, 0.5, 0, 1, 0.5, 0.5, 0, 1, 0.5, 0.5})));
  CHECK(ends[0] == inf);
  CHECK(ends[1] == inf);
  CHECK(ends[2] == 4);
  // The product of the factors beside a zero may be infinite.
  const X beside = distribute<X>(pool, [](const global_index& i) { return i[1] < 1 ? 0 : 1e200; });
  const auto products = values(gradient([](const auto& x) { return sum(product<1>(x)); })(beside));
  CHECK(std::vector<double>(products.begin(), products.begin() + 4) ==
        std::vector<double>{inf, 0, 0, 0});
  const X two = distribute<X>(pool, [](const global_index& i) { return i[1] < 2 ? 0 : 1e200; });
  const auto running = values(gradient([](const auto& x) { return sum(cumprod<1>(x)); })(two));
  CHECK(std::none_of(running.begin(), running.end(), [](double y) { return std::isnan(y); }));
}

TEST_CASE("tangents of functions by cases are finite where an operand is infinite") {
  const device_pool pool{pair{}};
  const X far = full<X>(pool, std::numeric_limits<double>::infinity());
  const X along = ones<X>(pool);
  CHECK(values(jvp([](const auto& x) { return elu(x, 1.0); }, far, along).second) ==
        std::vector<double>(16, 1.0));
  CHECK(
      values(jvp([&](const auto& slope) { return leaky_relu(far, slope); }, along, along).second) ==
      std::vector<double>(16, 0.0));
}

TEST_CASE("the slope of gelu is finite where the square of the operand is not") {
  const device_pool pool{pair{}};
  using V = sharded_tensor<float16, extents<4>, layout<pair, P<"data">>>;
  const V x = distribute<V>(
      pool, std::vector<float16>{float16(300.F), float16(-300.F), float16(20.F), float16(6e4F)});
  const auto slope = [](const auto& z) {
    return gradient([](const auto& v) { return sum(gelu(v)); })(z);
  };
  const std::vector<float16> expected{float16(1.F), float16(0.F), float16(1.F), float16(1.F)};
  CHECK(values(slope(x)) == expected);
  CHECK(values(gradient([&](const auto& z) { return sum(slope(z)); })(x)) ==
        std::vector<float16>(4, float16(0.F)));
}

TEST_CASE("the gradients of remainders count the whole multiples of the divisor") {
  const device_pool pool{pair{}};
  using V = sharded_tensor<float, extents<4>, layout<pair, P<"data">>>;
  // Ten times the number nearest to 0.1 is more than 1, but rounded it is 1.
  const V x = distribute<V>(pool, std::vector<float>{1, -1, 0.5F, 3});
  const V y = distribute<V>(
      pool, std::vector<float>{0.1F, 0.1F, 0.1F, std::numeric_limits<float>::infinity()});
  const auto cut = gradient<1>([](const auto& a, const auto& b) { return sum(fmod(a, b)); })(x, y);
  CHECK(values(cut) == std::vector<float>{-9, 9, -4, 0});
  const auto rest =
      gradient<1>([](const auto& a, const auto& b) { return sum(remainder(a, b)); })(x, y);
  CHECK(values(rest) == std::vector<float>{-9, 10, -4, 0});
}

TEST_CASE("second derivatives of products over devices at a zero") {
  const device_pool pool{pair{}};
  using V = sharded_tensor<double, extents<2>, layout<pair, P<"data">>>;
  const auto f = [](const auto& x) { return all_reduce<reduction::product, "data">(x); };
  const auto loss = [&](const auto& x) { return sum(f(enable_manual_sharding(x))); };
  const auto slopes = [&](const auto& x) { return sum(gradient(loss)(x)); };
  const V x = distribute<V>(pool, std::vector<double>{0, 3});
  CHECK(values(gradient(loss)(x)) == std::vector<double>{3, 0});
  // Each second derivative of the product a b that is not of a or b twice is 1.
  CHECK(values(gradient(slopes)(x)) == std::vector<double>{1, 1});
}

TEST_CASE("gradients read indices of 8 bits") {
  const device_pool pool{pair{}};
  using U = sharded_tensor<std::uint8_t, extents<4>, layout<pair, P<"data">>>;
  const X x = uniform<X>(pool, random_key{1});
  const U labels = distribute<U>(pool, std::vector<std::uint8_t>{0, 3, 1, 1});
  const auto picked = [&](const auto& v) { return sum(take<1>(v, labels)); };
  const auto along = [&](const auto& v) {
    return sum(take_along<1>(v, reshape<extents<4, 1>>(labels)));
  };
  const std::vector<double> counts{1, 2, 0, 1};
  const auto taken = values(gradient(picked)(reshard<P<none, none>>(x)));
  for (std::size_t i = 0; i < 16; ++i) CHECK(taken[i] == counts[i % 4]);
  const auto own = values(gradient(along)(x));
  for (std::size_t i = 0; i < 16; ++i)
    CHECK(own[i] == (i % 4 == std::vector<std::size_t>{0, 3, 1, 1}[i / 4] ? 1 : 0));
}

TEST_CASE("the extremes of 16-bit values that are computed again are found") {
  const device_pool pool{pair{}};
  using V = sharded_tensor<bfloat16, extents<2>, layout<pair, P<none>>>;
  const V x = distribute<V>(pool, std::vector<bfloat16>{bfloat16(1.5F), bfloat16(1.0F)});
  const auto most = [](const auto& v) { return max(v * bfloat16(1.1F)); };
  const auto slope = values(gradient(recompute(most))(x));
  CHECK(slope == values(gradient(most)(x)));
  CHECK(static_cast<float>(slope[0]) > 1);
  CHECK(static_cast<float>(slope[1]) == 0);
}

TEST_CASE("the order of a norm is positive and finite") {
  const device_pool pool{pair{}};
  const X x = ones<X>(pool);
  for (const double p : {0.0, -1.0, std::numeric_limits<double>::infinity(), std::nan("")})
    REQUIRE_THROWS_WITH(lp_norm<1>(x, p), Catch::Contains("max_norm is the limit"));
  REQUIRE(values(lp_norm<1>(x, 2.0)) == std::vector<double>(4, 2.0));
}

TEST_CASE("gradients of gradients have their kernels") {
  const device_pool pool{pair{}};
  check_second_gradient(pool, [](const auto& x) { return sort<1>(x); });
  check_second_gradient(pool, [](const auto& x) { return top_k<1, 2>(x).first; });
  check_second_gradient(pool, [](const auto& x) { return median<1>(x); });
  check_second_gradient(pool, [](const auto& x) { return concatenate<1>(x, square(x)); });
  check_second_gradient(pool, [](const auto& x) { return stack<1>(x, square(x)); });
  check_second_gradient(pool, [](const auto& x) { return cumprod<1>(x); });
  check_second_gradient(pool, [](const auto& x) { return max<1>(x); });
  check_second_gradient(pool, [](const auto& x) {
    return linalg::determinant(reshape<extents<4, 2, 2>>(x) * reshape<extents<4, 2, 2>>(x));
  });
}
