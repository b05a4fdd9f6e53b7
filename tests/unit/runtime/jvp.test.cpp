// SPDX-License-Identifier: BSL-1.0
// Tangents, compared with finite differences, and gradients through calls.
#include "support/catch.hpp"
#include <shardwise/nn/on_paper.hpp>
#include <shardwise/shardwise.hpp>

#include <tuple>
#include <vector>

using namespace shardwise;

namespace {

struct pod : mesh<axis<"data", 2>, axis<"model", 2>> {};
using X = sharded_tensor<double, extents<4, 6>, layout<pod, P<"data", none>>>;
using W = sharded_tensor<double, extents<6, 2>, layout<pod, P<none, "model">>>;

constexpr auto layer = [](const auto& x, const auto& w) {
  return tanh(einsum<"bi,io->bo">(x, w)) * 2.0;
};
std::vector<double> numbers(index_t count, double begin) {
  std::vector<double> all;
  for (index_t i = 0; i < count; ++i) all.push_back(begin + 0.07 * static_cast<double>(i * 5 % 13));
  return all;
}
std::vector<double> moved(std::vector<double> x, const std::vector<double>& along, double by) {
  for (std::size_t i = 0; i < x.size(); ++i) x[i] += by * along[i];
  return x;
}

constexpr auto paper = [](const auto& x, const auto& w) {
  return jvp(layer, std::tuple{x, w}, std::tuple{x, w}).second;
};
static_assert(trace(paper, abstract<X>(), abstract<W>()).collectives() == 0);

using S = sharded_tensor<double, extents<6, 6>, layout<pod, P<none, none>>>;
constexpr auto step = [](const auto& x, const auto& w) { return tanh(einsum<"bi,io->bo">(x, w)); };
constexpr auto in_calls = [](const auto& w, const auto& x) {
  return mean(call(step, call(step, x, w), w));
};
constexpr auto written = [](const auto& w, const auto& x) {
  const auto h = step(x, w);
  const auto y = step(h, w);
  return mean(y);
};
constexpr cost_ledger of_called = trace(gradient(in_calls), abstract<S>(), abstract<X>());
constexpr cost_ledger of_written = trace(gradient(written), abstract<S>(), abstract<X>());
static_assert(of_called.flops() == of_written.flops());
static_assert(of_called.bytes_moved() == of_written.bytes_moved());

using B = sharded_tensor<double, extents<2>, layout<pod, P<"model">>>;
template <class Weight, class Bias>
struct dense {
  Weight weight;
  Bias bias;
};
using model = dense<W, B>;
constexpr auto cubes = [](const auto& m, const auto& x) {
  const auto z = einsum<"bi,io->bo">(x, m.weight) + m.bias;
  return reshard<P<>>(sum(z * z * z));
};
constexpr auto hessian_product = [](const auto& m, const auto& along, const auto& x) {
  return jvp(gradient([&](const auto& at) { return cubes(at, x); }), m, along);
};
// The gradient, its derivative along the direction, and no more: two sums over the batch each.
constexpr cost_ledger of_product = trace_nests<256, model, model, X>(hessian_product);
static_assert(of_product.collectives() == 4 && of_product.collectives("data") == 4);

}  // namespace

TEST_CASE("tangents are what finite differences along them are") {
  const device_pool pool{pod{}};
  const std::vector<double> x = numbers(24, -0.4), w = numbers(12, -0.3);
  const std::vector<double> vx = numbers(24, 0.2), vw = numbers(12, -0.5);
  const auto made = jvp(layer, std::tuple{distribute<X>(pool, x), distribute<W>(pool, w)},
                        std::tuple{distribute<X>(pool, vx), distribute<W>(pool, vw)});
  const double h = 1e-6;
  const auto at = [&](double by) {
    return to_host(
        layer(distribute<X>(pool, moved(x, vx, by)), distribute<W>(pool, moved(w, vw, by))));
  };
  const auto above = at(h), below = at(-h), tangent = to_host(made.second);
  REQUIRE(to_host(made.first) == at(0));
  for (std::size_t i = 0; i < 8; ++i)
    REQUIRE(tangent.elements()[i] ==
            Approx((above.elements()[i] - below.elements()[i]) / (2 * h)).epsilon(1e-6));

  const any_tensor<double> one = distribute<X>(pool, x), along = distribute<X>(pool, vx);
  const auto [y, dy] = jvp([](const auto& v) { return sin(v); }, one, along);
  REQUIRE(to_host(dy) == to_host(along * cos(one)));
  REQUIRE(to_host(y) == to_host(sin(one)));
}

TEST_CASE("the tangent of the gradient of a nest is the product of its Hessian with a nest") {
  const device_pool pool{pod{}};
  const std::vector<double> x = numbers(24, -0.4), w = numbers(12, -0.3), vw = numbers(12, -0.5);
  const std::vector<double> b{0.1, -0.2}, vb{0.7, 0.3};
  const X rows = distribute<X>(pool, x);
  const model m{distribute<W>(pool, w), distribute<B>(pool, b)};
  const model along{distribute<W>(pool, vw), distribute<B>(pool, vb)};
  pool.reset_counters();
  const auto [slope, product] = hessian_product(m, along, rows);
  static_assert(std::is_same_v<decltype(slope), const model>);
  static_assert(std::is_same_v<decltype(product), const model>);
  sync(pool);
  REQUIRE(pool.counters() == of_product);

  std::vector<double> in_weight(12), in_bias(2), slope_weight(12);
  for (std::size_t r = 0; r < 4; ++r)
    for (std::size_t o = 0; o < 2; ++o) {
      double z = b[o], dz = vb[o];
      for (std::size_t i = 0; i < 6; ++i) {
        z += x[r * 6 + i] * w[i * 2 + o];
        dz += x[r * 6 + i] * vw[i * 2 + o];
      }
      in_bias[o] += 6 * z * dz;
      for (std::size_t i = 0; i < 6; ++i) {
        in_weight[i * 2 + o] += x[r * 6 + i] * 6 * z * dz;
        slope_weight[i * 2 + o] += x[r * 6 + i] * 3 * z * z;
      }
    }
  const auto near = [](const auto& made, const std::vector<double>& wanted) {
    const auto all = to_host(made);
    for (std::size_t i = 0; i < wanted.size(); ++i)
      REQUIRE(all.elements()[i] == Approx(wanted[i]).epsilon(1e-12));
  };
  near(product.weight, in_weight);
  near(product.bias, in_bias);
  near(slope.weight, slope_weight);

  // Vectors, and layouts that are values.
  using tensor = any_tensor<double>;
  const auto along_both = [&](const auto& of, const auto& by) {
    return jvp(
        [&](const auto& two) {
          return cubes(dense<tensor, tensor>{two[0], two[1]}, rows);
        },
        of, by);
  };
  const std::vector<tensor> both{m.weight, m.bias}, by{along.weight, along.bias};
  const auto slope_along = to_host(along_both(both, by).second);
  double wanted = 0;
  const auto bias_slope = to_host(slope.bias);
  for (std::size_t i = 0; i < 12; ++i) wanted += slope_weight[i] * vw[i];
  for (std::size_t o = 0; o < 2; ++o) wanted += bias_slope.elements()[o] * vb[o];
  REQUIRE(slope_along.elements()[0] == Approx(wanted).epsilon(1e-12));
}

TEST_CASE("a gradient through calls costs what its program says, and is that of what they do") {
  const device_pool pool{pod{}};
  const S w = distribute<S>(pool, numbers(36, -0.3));
  const X x = distribute<X>(pool, numbers(24, -0.4));
  pool.reset_counters();
  const auto slope = gradient(in_calls)(w, x);
  sync(slope);
  REQUIRE(pool.counters().flops() == of_called.flops());
  REQUIRE(pool.counters().bytes_moved() == of_called.bytes_moved());
  REQUIRE(to_host(slope) == to_host(gradient(written)(w, x)));
}
