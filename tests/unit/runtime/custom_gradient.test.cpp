// SPDX-License-Identifier: BSL-1.0
// Custom gradients of tensors with values; they equal those on paper.
#include "support/catch.hpp"
#include "support/refusal.hpp"
#include <shardwise/engine/custom_gradients.hpp>
#include <shardwise/shardwise.hpp>

#include <cmath>
#include <vector>

using namespace shardwise;

namespace {

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
template <class Spec, index_t... N>
using tensor = sharded_tensor<double, extents<N...>, layout<pod, Spec>>;
using X = tensor<P<"data", none>, 6, 8>;
using W = tensor<P<none, "model">, 8, 12>;

template <class T>
std::vector<double> values(const T& x) {
  const auto host = to_host(x);
  std::vector<double> out;
  for (double each : host.elements()) out.push_back(each);
  return out;
}

// Derivatives that differ from the true ones, so that a test sees which of the two is used.
constexpr auto tripled =
    custom_gradient([](const auto& x) { return sin(x); },
                    [](const auto& x, const auto& dy) { return dy * x * 3.0; });
constexpr auto projected = custom_gradient(
    [](const auto& x, const auto& w) {
      auto y = einsum<"bi,io->bo">(x, w);
      return with_residuals(y, std::tuple{x, w, exp(x)});
    },
    [](const auto& residuals, const auto& dy) {
      const auto& [x, w, e] = residuals;
      return std::tuple{einsum<"bo,io->bi">(dy, w) * 0.5, einsum<"bi,bo->io">(x + e, dy)};
    });

struct model {
  device_pool pool{pod{}};
  X x = uniform<X>(pool, random_key{1});
  W w = uniform<W>(pool, random_key{2});
};

}  // namespace

TEST_CASE("a gradient that is given is taken, and the function's own is not") {
  const model m;
  const auto loss = [](const auto& x) { return sum(square(tripled(x * 2.0))); };
  const auto x = values(m.x);
  const auto [value, dx] = value_and_grad(loss)(m.x);
  double sum = 0;
  const auto slope = values(dx);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double y = std::sin(2 * x[i]);
    sum += y * y;
    REQUIRE(slope[i] == Approx(2 * (2 * y) * (2 * x[i]) * 3));
  }
  REQUIRE(values(reshard<P<>>(value))[0] == Approx(sum));
}

TEST_CASE(
    "residuals are read, several arguments have a tuple of gradients, and costs are paper's") {
  const auto loss = [](const auto& x, const auto& w) { return sum(square(projected(x, w))); };
  constexpr auto cost = trace<128>(
      gradient<0, 1>([](const auto& x, const auto& w) { return sum(square(projected(x, w))); }),
      abstract<X>(), abstract<W>());
  const model m;
  m.pool.reset_counters();
  const auto [dx, dw] = gradient<0, 1>(loss)(m.x, m.w);
  sync(m.pool);
  REQUIRE(m.pool.counters() == cost);
  const auto [own_dx, own_dw] = gradient<0, 1>(
      [](const X& x, const W& w) { return sum(square(einsum<"bi,io->bo">(x, w))); })(m.x, m.w);
  const auto half = values(dx), whole = values(own_dx);
  for (std::size_t i = 0; i < half.size(); ++i) REQUIRE(half[i] == Approx(0.5 * whole[i]));
  const X shifted = m.x + exp(m.x);
  const auto y = einsum<"bi,io->bo">(m.x, m.w);
  const W expected = reshard<P<none, "model">>(einsum<"bi,bo->io">(shifted, y * 2.0));
  const auto have = values(dw), want = values(expected);
  for (std::size_t i = 0; i < have.size(); ++i) REQUIRE(have[i] == Approx(want[i]));
}

TEST_CASE("without a gradient, what residuals alone read is not computed") {
  constexpr auto cost = trace(projected, abstract<X>(), abstract<W>());
  const model m;
  sync(m.x, m.w);
  m.pool.reset_counters();
  const auto made = projected(m.x, m.w);
  sync(m.pool);
  REQUIRE(m.pool.counters() == cost);
  REQUIRE(values(made) == values(einsum<"bi,io->bo">(m.x, m.w)));
}

TEST_CASE("it works in vjp, jvp, recompute and call, one after another and inside each other") {
  const model m;
  const auto x = values(m.x);
  const auto pulled = vjp(tripled, m.x);
  const auto back = values(pulled.second(m.x));
  const auto tangent = values(jvp(tripled, m.x, m.x).second);
  const auto chain = [](const auto& v) { return sum(tripled(tripled(v))); };
  const auto twice = values(gradient(chain)(m.x));
  const auto in_recompute = [](const auto& v) { return sum(recompute(tripled)(v) * 2.0); };
  const auto in_call = [](const auto& v) { return sum(call(tripled, v)); };
  const auto nested =
      custom_gradient([](const auto& v) { return tripled(v) * 2.0; },
                      [](const auto& v, const auto& dy) {
                        return gradient([](const auto& u) { return sum(tripled(u)); })(v) * dy;
                      });
  const auto inside = values(gradient([&](const auto& v) { return sum(nested(v)); })(m.x));
  const auto again = values(gradient(in_recompute)(m.x));
  const auto called = values(gradient(in_call)(m.x));
  for (std::size_t i = 0; i < x.size(); ++i) {
    REQUIRE(back[i] == Approx(3 * x[i] * x[i]));
    REQUIRE(tangent[i] == Approx(3 * x[i] * x[i]));
    REQUIRE(twice[i] == Approx(3 * std::sin(x[i]) * 3 * x[i]));
    REQUIRE(again[i] == Approx(6 * x[i]));
    REQUIRE(called[i] == Approx(3 * x[i]));
    REQUIRE(inside[i] == Approx(3 * x[i]));
  }
}

TEST_CASE("second orders differentiate what the two functions do") {
  const model m;
  const auto x = values(m.x);
  // The custom derivative is 3 x instead of cos(x), and the derivative of 3 x is 3.
  const auto slope = [](const auto& v) {
    return sum(gradient([](const auto& u) { return sum(tripled(u)); })(v));
  };
  for (double each : values(gradient(slope)(m.x))) REQUIRE(each == Approx(3));
  // A function of a value that is constant in the inner gradient has its custom derivative in the
  // outer one.
  const auto beside = [](const auto& v) {
    auto t = tripled(v);
    const auto inner = [&](const auto& u) { return sum(u * t); };
    return sum(gradient(inner)(v));
  };
  const auto outer = values(gradient(beside)(m.x));
  for (std::size_t i = 0; i < x.size(); ++i) REQUIRE(outer[i] == Approx(3 * x[i]));
}

TEST_CASE("results that the function did not make, and several of them, have gradients too") {
  const model m;
  const auto both = custom_gradient(
      [](const auto& x) {
        return std::tuple{x, sin(x)};
      },
      [](const auto&, const auto& dy) { return std::get<0>(dy) * 5.0 + std::get<1>(dy) * 7.0; });
  const auto loss = [&](const auto& x) {
    auto [same, other] = both(x);
    return sum(same) + sum(other) * 2.0;
  };
  for (double each : values(gradient(loss)(m.x))) REQUIRE(each == Approx(5 + 2 * 7));
  // A result that nothing reads has the cotangent 0.
  const auto of_first = [&](const auto& x) { return sum(std::get<0>(both(x))); };
  const auto of_second = [&](const auto& x) { return sum(std::get<1>(both(x))); };
  for (double each : values(gradient(of_first)(m.x))) REQUIRE(each == Approx(5));
  for (double each : values(gradient(of_second)(m.x))) REQUIRE(each == Approx(7));
}

TEST_CASE("the value of a vjp has its custom gradient in an outer gradient") {
  const model m;
  const auto x = values(m.x);
  const auto slope = values(gradient([](const auto& v) {
    auto [y, pull] = vjp(tripled, v);
    return sum(y);
  })(m.x));
  for (std::size_t i = 0; i < x.size(); ++i) REQUIRE(slope[i] == Approx(3 * x[i]));
  // The pullback alone is linear: its derivative with respect to the cotangent.
  const auto pulled = values(gradient([&](const auto& seed) {
    auto [y, pull] = vjp(tripled, m.x);
    return sum(pull(seed));
  })(m.x));
  for (std::size_t i = 0; i < x.size(); ++i) REQUIRE(pulled[i] == Approx(3 * x[i]));
}

TEST_CASE("each call of a pullback releases what it computed") {
  const model m;
  const auto deep = [](const auto& v) { return tripled(exp(sin(exp(v)))); };
  auto [y, pull] = vjp(deep, m.x);
  const auto first = values(pull(m.x));
  std::vector<index_t> peaks;
  for (int i = 0; i < 4; ++i) {
    m.pool.reset_counters();
    REQUIRE(values(pull(m.x)) == first);
    peaks.push_back(m.pool.counters().peak_bytes_per_device());
  }
  REQUIRE(peaks.back() == peaks.front());
  // Other cotangents, and results of earlier calls that are not computed yet.
  const auto half = pull(m.x * 0.5), whole = pull(m.x);
  const auto small = values(half), big = values(whole);
  for (std::size_t i = 0; i < big.size(); ++i) REQUIRE(small[i] == Approx(0.5 * big[i]));
  REQUIRE(big == first);
}

TEST_CASE("tensors whose layouts are values have custom gradients, which are checked") {
  const model m;
  const any_tensor<double> x = m.x;
  const auto loss = [](const auto& v) { return sum(tripled(v)); };
  const auto slope = values(gradient(loss)(x));
  const auto want = values(m.x);
  for (std::size_t i = 0; i < want.size(); ++i) REQUIRE(slope[i] == Approx(3 * want[i]));
  const auto wrong = custom_gradient([](const auto& v) { return sin(v); },
                                     [](const auto&, const auto& dy) { return sum(dy, over{0}); });
  REQUIRE(refusal([&] { (void)gradient([&](const auto& v) { return sum(wrong(v)); })(x); }) ==
          violation::cotangent_differs);
}

TEST_CASE("a number that is pending does not know of custom gradients, and says so") {
  const model m;
  const auto loss = sum(tripled(m.x));
  REQUIRE(refusal([&] { (void)gradient(loss, m.x); }) == violation::operation_has_no_gradient);
}

TEST_CASE("what is differentiated is an argument of a function with a custom gradient") {
  const model m;
  const auto product = [](const auto& x, const auto& w) { return einsum<"bi,io->bo">(x, w); };
  const auto backward = [](const auto& x, const auto& dy) { return x * reshard<P<>>(sum(dy)); };
  const auto captures = [&](const auto& x, const auto& w) {
    const auto scaled = w * 2.0;
    return sum(
        square(custom_gradient([&](const auto& y) { return product(y, scaled); }, backward)(x)));
  };
  REQUIRE(refusal([&] { (void)gradient<0, 1>(captures)(m.x, m.w); }) ==
          violation::value_is_captured);
  REQUIRE(refusal([&] { (void)gradient<1>(captures)(m.x, m.w); }) == violation::value_is_captured);
  // A constant may be captured, and so may what is an argument too.
  REQUIRE(values(gradient<0>(captures)(m.x, m.w)).size() == 48);
  const auto both = [&](const auto& x, const auto& w) {
    const auto f = custom_gradient(
        [&](const auto& y, const auto& z) { return product(y, w) + product(y, z) - product(y, w); },
        [&](const auto& y, const auto& z, const auto& dy) {
          return std::tuple{einsum<"bo,io->bi">(dy, z), einsum<"bi,bo->io">(y, dy)};
        });
    return sum(square(f(x, w)));
  };
  const auto plain = [&](const auto& x, const auto& w) { return sum(square(product(x, w))); };
  REQUIRE(values(gradient<1>(both)(m.x, m.w)) == values(gradient<1>(plain)(m.x, m.w)));
}

TEST_CASE("a list of gradients that is shorter than its argument is refused") {
  const model m;
  const std::vector<X> both{m.x, m.x};
  const auto short_of_one = custom_gradient([](const auto& v) { return v[0] + v[1]; },
                                            [](const auto& v, const auto& dy) {
                                              auto given = v;
                                              given.pop_back();
                                              given[0] = dy;
                                              return given;
                                            });
  const auto loss = [&](const auto& v) { return sum(short_of_one(v)); };
  REQUIRE(refusal([&] { (void)gradient(loss)(both); }) == violation::cotangent_differs);
}

TEST_CASE("what gradients record is let go when they end") {
  const model m;
  for (int i = 0; i < 5; ++i) {
    (void)values(gradient([](const auto& x) { return sum(square(x)); })(m.x));
    REQUIRE(internal::recordings_of_thread().size() <= 1);
  }
}
