// SPDX-License-Identifier: BSL-1.0
// Gradients of tensors with values: their elements, their cost, and their errors.
#include "support/catch.hpp"
#include "support/refusal.hpp"
#include <shardwise/shardwise.hpp>

#include <cmath>
#include <cstdint>
#include <vector>

using namespace shardwise;

namespace {

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
template <class Spec, index_t... N>
using tensor = sharded_tensor<double, extents<N...>, layout<pod, Spec>>;
using X = tensor<P<"data", none>, 6, 8>;
using W1 = tensor<P<none, "model">, 8, 12>;
using B1 = tensor<P<"model">, 12>;
using W2 = tensor<P<"model", none>, 12, 4>;
using V = tensor<P<"data">, 8>;

/// An aggregate, whose members are found without registration.
struct parameters {
  W1 up;
  B1 shift;
  W2 down;
  int layers = 1;
};

constexpr auto loss_of = [](const auto& up, const auto& shift, const auto& down, const auto& x) {
  auto h = gelu(einsum<"bi,ih->bh">(x, up) + shift);
  auto y = reshard<P<"data", none>>(einsum<"bh,ho->bo">(h, down));
  return sum(y * y * y) * 0.25;
};

struct model {
  device_pool pool{pod{}};
  X x = uniform<X>(pool, random_key{1});
  parameters p{uniform<W1>(pool, random_key{2}), uniform<B1>(pool, random_key{3}),
               uniform<W2>(pool, random_key{4})};
};

template <class T>
std::vector<double> values(const T& x) {
  const auto host = to_host(x);
  std::vector<double> out;
  for (double each : host.elements()) out.push_back(each);
  return out;
}

}  // namespace

TEST_CASE("a gradient costs what its ledger says, memory too") {
  constexpr auto cost = trace<128>(gradient<0, 1, 2>(loss_of), abstract<W1>(), abstract<B1>(),
                                   abstract<W2>(), abstract<X>());
  const model m;
  m.pool.reset_counters();
  auto [up, shift, down] = gradient<0, 1, 2>(loss_of)(m.p.up, m.p.shift, m.p.down, m.x);
  static_assert(std::is_same_v<decltype(up), W1> && std::is_same_v<decltype(shift), B1>);
  sync(m.pool);
  REQUIRE(m.pool.counters() == cost);
}

TEST_CASE("members of aggregates, ranges and tuples have gradients in their places") {
  const model m;
  const auto loss = [](const parameters& p, const X& x) {
    return loss_of(p.up, p.shift, p.down, x);
  };
  const parameters made = gradient(loss)(m.p, m.x);
  REQUIRE(made.layers == 1);
  auto [up, shift, down] = gradient<0, 1, 2>(loss_of)(m.p.up, m.p.shift, m.p.down, m.x);
  REQUIRE(values(made.up) == values(up));
  REQUIRE(values(made.shift) == values(shift));
  REQUIRE(values(made.down) == values(down));

  const std::vector<V> several{iota<V>(m.pool), full<V>(m.pool, 3.0)};
  const std::vector<V> of_several =
      gradient([](const std::vector<V>& all) { return sum(all[0] * all[1]); })(several);
  REQUIRE(values(of_several[0]) == std::vector<double>(8, 3.0));
  REQUIRE(values(of_several[1]) == std::vector<double>{0, 1, 2, 3, 4, 5, 6, 7});
}

TEST_CASE("values and auxiliary results come beside gradients, computed once") {
  const model m;
  const auto v = iota<V>(m.pool);
  const auto f = [](const auto& x) {
    auto y = exp(x * 0.1);
    return std::tuple{sum(y), y};
  };
  auto [out, slope] = value_and_grad(f)(v);
  REQUIRE(values(reshard<P<>>(std::get<0>(out)))[0] > 8);
  REQUIRE(values(slope)[2] == Approx(0.1 * std::exp(0.2)));
  auto [alone, aux] = gradient(f)(v);
  REQUIRE(values(alone) == values(slope));
  REQUIRE(values(aux) == values(std::get<1>(out)));
}

TEST_CASE("an argument is differentiated alone, though the tensor stands elsewhere too") {
  const model m;
  const auto v = iota<V>(m.pool);
  const auto product = [](const auto& a, const auto& b) { return sum(a * b); };
  REQUIRE(values(gradient(product)(v, v)) == values(v));
  const auto captured = [&](const auto& a) { return sum(a * v); };
  REQUIRE(values(gradient(captured)(v)) == values(v));
  const V pending = v + 1.0;
  REQUIRE(values(gradient(product)(pending, pending)) == values(pending));
}

TEST_CASE("gradients of gradients") {
  const model m;
  const auto v = iota<V>(m.pool);
  const auto cube = [](const auto& x) { return sum(x * x * x); };
  const auto slope = [&](const auto& x) { return sum(gradient(cube)(x)); };
  const auto bend = [&](const auto& x) { return sum(gradient(slope)(x)); };
  REQUIRE(values(gradient(slope)(v)) == std::vector<double>{0, 6, 12, 18, 24, 30, 36, 42});
  REQUIRE(values(gradient(bend)(v)) == std::vector<double>(8, 6.0));
}

TEST_CASE("layouts that are values have the same gradients") {
  const model m;
  const any_tensor<double> up = m.p.up, x = m.x;
  const auto loss = [](const auto& w, const auto& in) {
    return sum(square(einsum<"bi,ih->bh">(in, w)));
  };
  const any_tensor<double> made = gradient(loss)(up, x);
  REQUIRE(made.layout() == up.layout());
  REQUIRE(values(made) == values(gradient(loss)(m.p.up, m.x)));
}

TEST_CASE("ties and zeros have the slopes that are promised") {
  const model m;
  using row = tensor<P<none>, 4>;
  const auto at = [&](std::vector<double> all) { return distribute<row>(m.pool, all); };
  REQUIRE(values(gradient([](const auto& x) { return sum(relu(x)); })(at({-1, 0, 2, 3}))) ==
          std::vector<double>{0, 0, 1, 1});
  REQUIRE(values(gradient([](const auto& x) { return max(x); })(at({1, 3, 3, 2}))) ==
          std::vector<double>{0, 0.5, 0.5, 0});
  REQUIRE(values(gradient([](const auto& x) { return product(x); })(at({2, 3, 1, 5}))) ==
          std::vector<double>{15, 10, 30, 6});
  REQUIRE(values(gradient([](const auto& x) { return product(x); })(at({2, 0, 1, 5}))) ==
          std::vector<double>{0, 10, 0, 0});
  REQUIRE(values(gradient([](const auto& x) { return product(x); })(at({2, 0, 0, 5}))) ==
          std::vector<double>{0, 0, 0, 0});
  REQUIRE(values(gradient([](const auto& x) { return sum(x * stop_gradient(x)); })(
              at({1, 2, 3, 4}))) == std::vector<double>{1, 2, 3, 4});
  const auto [lower, upper] = gradient<0, 1>([](const auto& a, const auto& b) {
    return sum(maximum(a, b));
  })(at({1, 2, 3, 4}), at({1, 1, 5, 4}));
  REQUIRE(values(lower) == std::vector<double>{0.5, 1, 0, 0.5});
  REQUIRE(values(upper) == std::vector<double>{0.5, 0, 1, 0.5});
  REQUIRE(values(gradient([](const auto& x) { return l2_norm(x); })(at({0, 0, 0, 0}))) ==
          std::vector<double>{0, 0, 0, 0});
  REQUIRE(values(gradient([](const auto& x) { return l2_norm(x); })(at({0, 0, 0, 4}))) ==
          std::vector<double>{0, 0, 0, 1});
  REQUIRE(values(gradient([](const auto& x) { return standard_deviation(x); })(at({2, 2, 2, 2}))) ==
          std::vector<double>{0, 0, 0, 0});
  const auto [base, exponent] = gradient<0, 1>([](const auto& a, const auto& b) {
    return sum(pow(a, b));
  })(at({0, 0, 1, 0}), at({0, 1, 2, 3}));
  REQUIRE(values(base) == std::vector<double>{0, 1, 2, 0});
  REQUIRE(values(exponent) == std::vector<double>{0, 0, 0, 0});
  // Copies that are not made have no part in the result.
  REQUIRE(values(gradient([](const auto& x) { return sum(repeat<0, 0>(x)); })(at({1, 2, 3, 4}))) ==
          std::vector<double>{0, 0, 0, 0});
  REQUIRE(values(gradient([](const auto& x) { return sum(tile<0>(x)); })(at({1, 2, 3, 4}))) ==
          std::vector<double>{0, 0, 0, 0});
  REQUIRE(values(gradient([](const auto& x) { return sum(tile<0, 2>(x)); })(at({1, 2, 3, 4}))) ==
          std::vector<double>{0, 0, 0, 0});
  // The exponents of masked scores are equal, and have no difference.
  constexpr double inf = std::numeric_limits<double>::infinity();
  const auto [left, right] = gradient<0, 1>([](const auto& a, const auto& b) {
    return sum(logaddexp(a, b));
  })(at({-inf, 1, -inf, 2}), at({-inf, 1, 0, -inf}));
  REQUIRE(values(left) == std::vector<double>{0.5, 0.5, 0, 1});
  REQUIRE(values(right) == std::vector<double>{0.5, 0.5, 1, 0});
}

TEST_CASE("the number of a padding has the gradient of the padding alone") {
  const model m;
  using row = tensor<P<none>, 3>;
  using wide = tensor<P<none>, 6>;
  using number = tensor<P<>>;
  const auto x = distribute<row>(m.pool, std::vector<double>{1, 2, 3});
  const auto weights = distribute<wide>(m.pool, std::vector<double>{1, 1e300, 1e300, 1e300, 2, 4});
  const auto [inner, padding] = gradient<0, 1>([](const auto& a, const auto& b, const auto& w) {
    return sum(pad<1, 2>(a, b) * w);
  })(x, full<number>(m.pool, 5.0), weights);
  REQUIRE(values(inner) == std::vector<double>{1e300, 1e300, 1e300});
  REQUIRE(values(padding) == std::vector<double>{7});
}

// The cotangent of a sum is one number, which counts for each of its terms.
TEST_CASE("the gradient of a repeated operand counts its repetitions") {
  const device_pool pool{pod{}};
  const auto x = distribute<tensor<P<"data", none>, 4, 3>>(
      pool, std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  const auto row = distribute<tensor<P<none>, 3>>(pool, std::vector<double>{1, -2, 3});
  const auto column =
      distribute<tensor<P<"data", none>, 4, 1>>(pool, std::vector<double>{1, 2, 3, 4});
  const auto number = distribute<tensor<P<>>>(pool, std::vector<double>{2});
  const auto slopes = [&](const auto& f, const auto& of) {
    return values(gradient([&](const auto& v) { return f(v); })(of));
  };
  using all = std::vector<double>;
  CHECK(slopes([&](const auto& v) { return sum(v + x); }, row) == all{4, 4, 4});
  CHECK(slopes([&](const auto& v) { return sum(x - v); }, row) == all{-4, -4, -4});
  CHECK(slopes([&](const auto& v) { return mean(v + x) * 12; }, row) == all{4, 4, 4});
  CHECK(slopes([&](const auto& v) { return sum(sum<0>(v + x)); }, row) == all{4, 4, 4});
  CHECK(slopes([&](const auto& v) { return sum(x + v); }, column) == all{3, 3, 3, 3});
  CHECK(slopes([&](const auto& v) { return sum(sum<1>(x + v) * sum<1>(x)); }, column) ==
        all{18, 45, 72, 99});
  CHECK(slopes([&](const auto& v) { return sum(v + x); }, number) == all{12});
  CHECK(slopes([&](const auto& v) { return sum(max<1>(x + v)); }, number) == all{4});
  CHECK(slopes([&](const auto& v) { return sum(row + column + v); }, number) == all{12});
  CHECK(slopes([&](const auto& v) { return sum(where(v > 0, v, x)); }, row) == all{4, 0, 4});
  CHECK(slopes([&](const auto& v) { return sum(lerp(v, x, 0.25)); }, row) == all{3, 3, 3});
  CHECK(slopes([&](const auto& v) { return sum(row * 0 + v + column); }, row) == all{4, 4, 4});
  const auto f = [&](const auto& v) { return sum(v + x); };
  CHECK(values(jvp(f, row, row).second) == all{8});
}

TEST_CASE("the gradient of factors at indices is finite where factors are 0") {
  const device_pool pool{pod{}};
  using ids = sharded_tensor<std::int32_t, extents<6>, layout<pod, P<none>>>;
  const auto x = distribute<tensor<P<"data">, 4>>(pool, std::vector<double>{2, 3, 5, 7});
  const auto at = distribute<ids>(pool, std::vector<std::int32_t>{0, 0, 1, 1, 1, 2});
  const auto factors = distribute<tensor<P<none>, 6>>(pool, std::vector<double>{0, 4, 0, 6, 0, 8});
  const auto [dx, df] = gradient<0, 2>([](const auto& a, const auto& i, const auto& f) {
    return sum(scatter<0, scatter_mode::multiply>(a, i, f));
  })(x, at, factors);
  CHECK(values(dx) == std::vector<double>{0, 0, 8, 1});
  CHECK(values(df) == std::vector<double>{8, 0, 0, 0, 0, 5});
}

// The cotangent of what a later index overwrote is 0, whatever the elements of the others are.
TEST_CASE("second derivatives of elements at equal indices leave out those that are overwritten") {
  const device_pool pool{pod{}};
  const auto square_of_slope = [](const auto& written, const auto& u) {
    return [=](const auto& v) {
      const auto slope = gradient([&](const auto& w) { return sum(written(w) * v); })(u);
      return sum(slope * slope + slope);
    };
  };
  using ids = sharded_tensor<std::int32_t, extents<4>, layout<pod, P<none>>>;
  using pairs = sharded_tensor<std::int32_t, extents<4, 2>, layout<pod, P<none, none>>>;
  const auto at = distribute<ids>(pool, std::vector<std::int32_t>{0, 0, -3, 1});
  const auto x = distribute<tensor<P<none>, 3>>(pool, std::vector<double>{2, 3, 5});
  const auto u = full<tensor<P<none>, 4>>(pool, 1.0);
  CHECK(values(gradient(square_of_slope([&](const auto& w) { return scatter<0>(x, at, w); }, u))(
            x)) == std::vector<double>{5, 7, 0});

  const auto along = distribute<pairs>(pool, std::vector<std::int32_t>{0, 1, 0, 2, -3, 1, 1, 1});
  const auto table =
      distribute<tensor<P<none, "data">, 3, 2>>(pool, std::vector<double>{2, 3, 5, 7, 11, 13});
  const auto updates = full<tensor<P<none, "data">, 4, 2>>(pool, 1.0);
  const auto put = [&](const auto& w) { return put_along<0>(table, along, w); };
  CHECK(values(gradient([&](const auto& w) { return sum(put(w) * table); })(updates)) ==
        std::vector<double>{0, 0, 0, 13, 2, 0, 5, 7});
  CHECK(values(gradient(square_of_slope(put, updates))(table)) ==
        std::vector<double>{5, 0, 11, 15, 0, 27});
}

TEST_CASE("the gradients of attention have the same bits together and one by one") {
  const device_pool pool{pod{}};
  using heads = tensor<P<"data", "model", none, none>, 4, 8, 70, 6>;
  using mask = tensor<P<none, none>, 70, 70>;
  const auto make = [&]<class T>(std::uint64_t seed) { return normal<T>(pool, random_key{seed}); };
  const heads q = make.operator()<heads>(1), k = make.operator()<heads>(2),
              v = make.operator()<heads>(3), w = make.operator()<heads>(4);
  const mask m = make.operator()<mask>(5);

  const auto causal = [](const auto& a, const auto& b, const auto& c, const auto& y) {
    return sum(attention<attends::to_earlier>(a, b, c) * y);
  };
  const auto [dq, dk, dv] = gradient<0, 1, 2>(causal)(q, k, v, w);
  CHECK(values(dq) == values(gradient<0>(causal)(q, k, v, w)));
  CHECK(values(dk) == values(gradient<1>(causal)(q, k, v, w)));
  CHECK(values(dv) == values(gradient<2>(causal)(q, k, v, w)));
  const auto learnt = [](const auto& a, const auto& b, const auto& c, const auto& added,
                         const auto& y) { return sum(attention(a, b, c, added) * y); };
  const auto [eq, ek, ev, em] = gradient<0, 1, 2, 3>(learnt)(q, k, v, m, w);
  CHECK(values(eq) == values(gradient<0>(learnt)(q, k, v, m, w)));
  CHECK(values(ek) == values(gradient<1>(learnt)(q, k, v, m, w)));
  CHECK(values(ev) == values(gradient<2>(learnt)(q, k, v, m, w)));
  CHECK(values(em) == values(gradient<3>(learnt)(q, k, v, m, w)));
}

TEST_CASE("the gradients of attention read its operands through views that have no names") {
  const device_pool pool{pod{}};
  using heads = tensor<P<"data", none, "model", none>, 4, 5, 8, 6>;
  const auto make = [&](std::uint64_t seed) { return normal<heads>(pool, random_key{seed}); };
  const heads q = make(1), k = make(2), v = make(3);
  const auto unnamed = [](const auto& a, const auto& b, const auto& c) {
    return sum(square(attention<attends::to_earlier>(
        transpose<0, 2, 1, 3>(a), transpose<0, 2, 1, 3>(b), transpose<0, 2, 1, 3>(c))));
  };
  const auto named = [](const auto& a, const auto& b, const auto& c) {
    const auto x = transpose<0, 2, 1, 3>(a), y = transpose<0, 2, 1, 3>(b),
               z = transpose<0, 2, 1, 3>(c);
    return sum(square(attention<attends::to_earlier>(x, y, z)));
  };
  const auto [wq, wk, wv] = gradient<0, 1, 2>(named)(q, k, v);
  // Each program computes one of the three results; the others are read later.
  const auto [dq, dk, dv] = gradient<0, 1, 2>(unnamed)(q, k, v);
  CHECK(values(dv) == values(wv));
  CHECK(values(dq) == values(wq));
  CHECK(values(dk) == values(wk));
  const auto [eq, ek, ev] = gradient<0, 1, 2>(unnamed)(q, k, v);
  sync(eq, ek, ev);
  CHECK(values(eq) == values(wq));
  CHECK(values(ek) == values(wk));
  CHECK(values(ev) == values(wv));
}

// Five products instead of eight: the scores are computed once, also if pairs of heads share keys,
// whose cotangents are then added up.
static_assert([] {
  using heads = tensor<P<"data", "model", none, none>, 4, 8, 64, 16>;
  using shared = tensor<P<"data", "model", none, none>, 4, 4, 64, 16>;
  const auto f = [](const auto& q, const auto& k, const auto& v) {
    return sum(attention<attends::to_earlier>(q, k, v));
  };
  const auto flops = []<class Keys>(const auto& of, const Keys& keys) {
    return trace<64>(of, abstract<heads>(), keys, keys).flops();
  };
  constexpr index_t product = 2 * 2 * 2 * 64 * 64 * 16, sums = 2 * 2 * 2 * 64 * 16;
  return flops(gradient<0, 1, 2>(f), abstract<heads>()) == 5 * product &&
         flops(gradient<0, 1, 2>(f), abstract<shared>()) == 5 * product + sums &&
         flops(gradient<0, 1>(f), abstract<heads>()) == 2 * 4 * product;
}());

TEST_CASE("gradients pass other elements on the way") {
  const device_pool pool{pod{}};
  using F = sharded_tensor<float, extents<8>, layout<pod, P<"data">>>;
  const auto v = iota<F>(pool);
  const auto f = [](const auto& x) { return sum(cast<float>(square(cast<bfloat16>(x)))); };
  const F made = gradient(f)(v);
  for (int i = 0; i < 8; ++i) REQUIRE(to_host(made)(i) == static_cast<float>(2 * i));
}

TEST_CASE("what is recomputed has the same bits and the ledger of paper") {
  constexpr auto block = [](const auto& v, const auto& y) {
    auto a = exp(v * 0.01);
    auto b = exp(a * y);
    return b * a;
  };
  constexpr auto plain = [=](const auto& v, const auto& y) { return sum(block(block(v, y), y)); };
  constexpr auto again = [=](const auto& v, const auto& y) {
    return sum(recompute(block)(recompute(block)(v, y), y));
  };
  const model m;
  const auto v = iota<V>(m.pool), y = full<V>(m.pool, 0.1);
  REQUIRE(values(gradient(plain)(v, y)) == values(gradient(again)(v, y)));
  const device_pool fresh{pod{}};
  const auto w = iota<V>(fresh), z = full<V>(fresh, 0.1);
  fresh.reset_counters();
  const V made = gradient(again)(w, z);
  sync(fresh);
  constexpr auto cost = trace<128>(gradient(again), abstract<V>(), abstract<V>());
  REQUIRE(fresh.counters() == cost);
}

TEST_CASE("a number that is pending has gradients where it stands") {
  const model m;
  const auto loss = loss_of(m.p.up, m.p.shift, m.p.down, m.x);
  const auto [up, down] = gradient(loss, m.p.up, m.p.down);
  const auto [want, also] = gradient<0, 2>(loss_of)(m.p.up, m.p.shift, m.p.down, m.x);
  REQUIRE(values(up) == values(want));
  REQUIRE(values(down) == values(also));
  // The same in the middle of a graph, for a tensor that is itself pending.
  const V a = iota<V>(m.pool) * 2.0;
  const auto square_sum = sum(a * a);
  REQUIRE(values(gradient(square_sum, a)) == values(a * 2.0));

  V h = a * a;
  sync(h);
  const auto through = sum(h * a);
  REQUIRE(refusal([&] { (void)gradient(through, a); }) == violation::value_is_computed_already);
  const auto beside = sum(stop_gradient(h) * a);
  REQUIRE(values(gradient(beside, a)) == values(h));
}

TEST_CASE("cotangents come later, and more than once") {
  const model m;
  const auto layer = [](const auto& x, const auto& w) { return tanh(einsum<"bi,ih->bh">(x, w)); };
  auto [y, pull] = vjp(layer, m.x, m.p.up);
  REQUIRE(values(y) == values(layer(m.x, m.p.up)));
  const auto [dx, dw] = pull(y);
  const auto loss = [&](const auto& x, const auto& w) {
    auto made = layer(x, w);
    return sum(stop_gradient(made) * made);
  };
  const auto [want_dx, want_dw] = gradient<0, 1>(loss)(m.x, m.p.up);
  static_assert(std::is_same_v<decltype(dx), const X> && std::is_same_v<decltype(dw), const W1>);
  REQUIRE(values(dx) == values(want_dx));
  REQUIRE(values(dw) == values(want_dw));
  sync(m.pool);
  const auto [twice_dx, twice_dw] = pull(y * 2.0);
  REQUIRE(values(twice_dx) == values(dx * 2.0));
  REQUIRE(values(twice_dw) == values(dw * 2.0));

  // The same on paper; a value that is read twice is computed once.
  constexpr auto both = [](const auto& x, const auto& w) {
    auto made =
        vjp([](const auto& v, const auto& u) { return tanh(einsum<"bi,ih->bh">(v, u)); }, x, w);
    return made.second(made.first);
  };
  constexpr auto cost = trace<128>(both, abstract<X>(), abstract<W1>());
  m.pool.reset_counters();
  const auto [a, b] = both(m.x, m.p.up);
  sync(a, b);
  REQUIRE(m.pool.counters().flops() == cost.flops());
  REQUIRE(m.pool.counters().bytes_moved() == cost.bytes_moved());
}

TEST_CASE("gradients and mapped functions are compiled as steps") {
  const model m;
  const auto loss = [](const auto& x) { return reshard<P<>>(sum(square(x))); };
  auto slope = step(gradient(loss));
  REQUIRE(values(slope(m.x)) == values(m.x * 2.0));
  REQUIRE(values(slope(m.x)) == values(m.x * 2.0));
  auto both = step(value_and_grad(recompute(loss)));
  const auto [value, dx] = both(m.x);
  REQUIRE(values(value) == values(loss(m.x)));
  REQUIRE(values(dx) == values(m.x * 2.0));
  auto each = step(vmap([](const auto& row) { return row * row; }));
  REQUIRE(values(each(m.x)) == values(m.x * m.x));
}

// Rows of keys are longer than what is reduced at once on any instruction set.
TEST_CASE("the gradients of attention to many keys count all of them") {
  const device_pool pool{pod{}};
  static constexpr index_t keys = 20000;
  const auto check = [&]<class T>(T) {
    using query = sharded_tensor<T, extents<1, 1, 1>, layout<pod, P<none, none, none>>>;
    using many = sharded_tensor<T, extents<1, keys, 1>, layout<pod, P<none, none, none>>>;
    const auto values_of = [](const auto& q, const auto& k, const auto& v) {
      return sum(attention(q, k, v));
    };
    // The last key has half of the weight.
    const auto k = generate<many>(pool, [](const global_index& at) {
      return at[1] == keys - 1 ? std::log(static_cast<T>(keys - 1)) : T{0};
    });
    const auto slope =
        to_host(gradient<2>(values_of)(full<query>(pool, T{1}), k, zeros<many>(pool)));
    double total = 0;
    for (const T each : slope.elements()) total += static_cast<double>(each);
    REQUIRE(total == Approx(1).epsilon(1e-5));
    REQUIRE(slope(0, keys - 1, 0) == Approx(0.5).epsilon(1e-5));
    REQUIRE(slope(0, 7, 0) == Approx(0.5 / (keys - 1)).epsilon(1e-5));
  };
  check(float{});
  check(double{});
}

TEST_CASE("results without a derivative have no part in gradients") {
  const model m;
  using row = tensor<P<none>, 3>;
  const auto x = distribute<row>(m.pool, std::vector<double>{1, 2.5, 3});
  const auto several = [](const auto& v) {
    return std::tuple{v * v, cast<std::int32_t>(v), floor(v), stop_gradient(v), v > 2.0};
  };
  auto [made, pull] = vjp(several, x);
  const auto& [square, whole, low, stopped, is_large] = made;
  using bits = sharded_tensor<bool, extents<3>, layout<pod, P<none>>>;
  REQUIRE(values(pull(x, whole, low, stopped, full<bits>(m.pool, true))) ==
          std::vector<double>{2, 12.5, 18});
  const auto [results, tangents] = jvp(several, x, full<row>(m.pool, 1.0));
  REQUIRE(values(std::get<0>(tangents)) == std::vector<double>{2, 5, 6});
  REQUIRE(values(std::get<2>(tangents)) == std::vector<double>{0, 0, 0});
  REQUIRE(values(std::get<3>(tangents)) == std::vector<double>{0, 0, 0});
  REQUIRE(values(jvp([](const auto& v) { return floor(v); }, x, x).second) ==
          std::vector<double>{0, 0, 0});
  REQUIRE(values(gradient([](const auto& v) { return round(sum(v)); })(x)) ==
          std::vector<double>{0, 0, 0});
  REQUIRE(values(gradient([](const auto& v) { return stop_gradient(sum(v)); })(x)) ==
          std::vector<double>{0, 0, 0});
}

TEST_CASE("a function of cotangents takes one for each result") {
  const model m;
  const auto layer = [](const auto& x, const auto& w) { return tanh(einsum<"bi,ih->bh">(x, w)); };
  auto [y, pull] = vjp(layer, m.x, m.p.up);
  constexpr violation wrong = violation::cotangent_differs;
  REQUIRE(refusal([&, &pull = pull, &y = y] { (void)pull(y, y); }) == wrong);
  REQUIRE(refusal([&, &pull = pull] { (void)pull(); }) == wrong);
  REQUIRE(refusal([&, &pull = pull] { (void)pull(2.0); }) == wrong);
  const any_tensor<double> x = m.x, w = m.p.up;
  const auto any = vjp([](const auto& v, const auto& u) { return matmul(v, u); }, x, w);
  REQUIRE(refusal([&] { (void)any.second(any.first, any.first); }) == wrong);
  // Neither is broadcast.
  REQUIRE(refusal([&, &pull = pull] { (void)pull(m.x); }) == wrong);
  REQUIRE(refusal([&] { (void)any.second(sum<0>(any.first)); }) == wrong);
  REQUIRE(refusal([&] {
            (void)jvp(layer, std::tuple{m.x, m.p.up}, std::tuple{m.p.up, m.x});
          }) == wrong);
  const std::vector<any_tensor<double>> several{x}, more{x, x};
  const auto first = [](const auto& all) { return all[0] * 2.0; };
  REQUIRE(refusal([&] { (void)jvp(first, std::tuple{several}, std::tuple{more}); }) == wrong);
}

TEST_CASE("the cotangents of integers are zero, and their gradients are refused") {
  const model m;
  using I = sharded_tensor<std::int32_t, extents<8>, layout<pod, P<"data">>>;
  const auto counts = iota<I>(m.pool);
  const auto [y, pull] = vjp([](const auto& n) { return cast<double>(n) * 0.75; }, counts);
  const auto dn = pull(y);
  static_assert(std::is_same_v<decltype(dn), const I>);
  REQUIRE(values(cast<double>(dn)) == values(cast<double>(counts) * 0.0));
  // So are the gradients of those in a nest, whatever reads them.
  const auto loss = [](const auto& nest) {
    return sum(cast<double>(std::get<1>(nest)) * 1.75 * std::get<0>(nest));
  };
  const auto [dv, of_counts] = gradient(loss)(std::tuple{iota<V>(m.pool), counts});
  REQUIRE(values(dv) == values(cast<double>(counts) * 1.75));
  REQUIRE(values(cast<double>(of_counts)) == values(cast<double>(counts) * 0.0));
}

TEST_CASE("a traced gradient is prepared and run") {
  const model m;
  constexpr auto recorded = trace_program<128>(gradient<0, 2>(loss_of), abstract<W1>(),
                                               abstract<B1>(), abstract<W2>(), abstract<X>());
  const prepared_program ready = prepare<double>(recorded);
  const auto [up, down] = run<double, double>(ready, m.p.up, m.p.shift, m.p.down, m.x);
  const auto [want, also] = gradient<0, 2>(loss_of)(m.p.up, m.p.shift, m.p.down, m.x);
  REQUIRE(values(up) == values(want));
  REQUIRE(values(down) == values(also));
}

TEST_CASE("what has no gradient is refused by its name") {
  const model m;
  const auto v = iota<V>(m.pool);
  REQUIRE(refusal([&] {
            (void)gradient([](const auto& x) { return x * x; })(any_tensor<double>(v));
          }) == violation::loss_is_no_number);
  REQUIRE(refusal([&] {
            (void)gradient([](const auto& x) {
              auto y = sum(x);
              (void)to_host(reshard<P<>>(y));
              return y;
            })(v);
          }) == violation::value_is_being_differentiated);
}

TEST_CASE("a gradient that is no sum over an axis is left pending in equal terms") {
  const device_pool pool{pod{}};
  using R = tensor<P<none>, 6>;
  const R w = uniform<R>(pool, random_key{3});
  // Every device has the same elements of the first, and the second is a number.
  const auto same =
      gradient([](const auto& v) { return sum(v * v * 3.0); }, left_pending<"data">)(w);
  const auto ones = gradient([](const auto& v) { return sum(v); }, left_pending<"model">)(w);
  STATIC_REQUIRE(std::is_same_v<std::remove_cvref_t<decltype(same)>::layout_type,
                                layout<pod, P<none>, partial<"data">>>);
  const auto at = values(w);
  const auto finished = values(reshard<P<none>>(same));
  for (std::size_t i = 0; i < at.size(); ++i) REQUIRE(finished[i] == Approx(6 * at[i]));
  REQUIRE(values(reshard<P<none>>(ones)) == std::vector<double>(6, 1.0));
  // With one device along the axis there is a single term.
  struct alone : mesh<axis<"data", 1>, axis<"model", 4>> {};
  const device_pool few{alone{}};
  using S = sharded_tensor<double, extents<8>, layout<alone, P<"model">>>;
  const auto slope =
      gradient([](const auto& v) { return sum(v * v); }, left_pending<"data">)(full<S>(few, 2.0));
  REQUIRE(values(reshard<P<"model">>(slope)) == std::vector<double>(8, 4.0));
}
