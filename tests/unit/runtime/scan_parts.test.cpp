// SPDX-License-Identifier: BSL-1.0
// Scans of a dimension that stays split: each device scans its part, and totals are exchanged.
#include "support/refusal.hpp"
#include "unit/runtime/split_and_whole.hpp"

#include <functional>
#include <span>
#include <string>
#include <vector>

using namespace split_and_whole;

namespace {

constexpr auto everywhere = across<"data", "model">;

/// Every split of a dimension, against the whole of it: even, short, empty, over several axes, in
/// either order, and cut once.
template <class T, class F>
void check_splits(const F& f, double allowed = 0) {
  check<matrix<T, 8, P<"data", "model">>>(f, allowed);
  constexpr auto values = tried::as_values;
  check<matrix<T, 7, P<"data", "model">, uneven>, values>(f, allowed);
  check<matrix<T, 16, P<none, by("model", "data")>>, values>(f, allowed);
  check<matrix<T, 11, P<none, by("data", "model")>, uneven>, values>(f, allowed);
}

template <class T>
void check_scans() {
  check_splits<T>([](const auto& x) { return cumsum<1>(x, everywhere); });
  check_splits<T>([](const auto& x) { return cummax<1>(x, everywhere); });
}

template <class X>
std::vector<double> elements_of(const X& x) {
  std::vector<double> out;
  const auto host = to_host(x);
  for (const auto element : host.elements()) out.push_back(static_cast<double>(element));
  return out;
}
/// Numbers between -2 and 2.
std::vector<float> some_numbers(std::size_t count) {
  std::vector<float> out;
  for (std::uint32_t state = 7; out.size() < count;) {
    state = state * 1664525U + 1013904223U;
    out.push_back(static_cast<float>(state >> 8) / static_cast<float>(1 << 22) - 2.0F);
  }
  return out;
}

}  // namespace

TEST_CASE("every part of a split dimension is scanned by its device") {
  check_scans<float>();
  check_scans<std::int32_t>();
  check_scans<bfloat16>();
  check<matrix<double, 8, P<"data", "model">>>(
      [](const auto& x) { return cumsum<1>(x, everywhere); });
  check<matrix<float16, 7, P<"data", "model">, uneven>>(
      [](const auto& x) { return cumsum<1>(x, everywhere); });
  check_splits<std::int64_t>([](const auto& x) { return cumprod<1>(x, everywhere); });
  check_splits<float>([](const auto& x) { return cumprod<1>(x + 1.0F, everywhere); });
  check_splits<double>([](const auto& x) { return cummin<1>(x, everywhere); });
  check_splits<float>([](const auto& x) { return logcumsumexp<1>(x, everywhere); }, 1e-6);
  // Sums and products of small integers wrap around.
  check<matrix<std::int8_t, 7, P<none, "model">, uneven>>(
      [](const auto& x) { return cumsum<1>(x * x, everywhere); });
  check<matrix<std::uint8_t, 8, P<none, "model">>>(
      [](const auto& x) { return cumprod<1>(x + x, everywhere); });
}

TEST_CASE("some parts of a scanned dimension are empty, or have one element") {
  const auto scan = [](const auto& x) { return cumsum<1>(x, everywhere); };
  check<matrix<float, 5, P<"data", "model">, uneven>>(scan);
  check<matrix<float, 3, P<"data", "model">, uneven>, tried::as_values>(scan);
  check<matrix<float, 1, P<"data", "model">, uneven>, tried::as_values>(scan);
  check<matrix<float, 4, P<none, "model">>, tried::as_values>(scan);
  check<matrix<float, 11, P<none, cut_once("data", "model")>, single_cut>, tried::as_values>(scan);
  check<sharded_tensor<float, extents<0, 8>, layout<pod, P<none, "model">>>, tried::as_values>(
      scan);
  check<sharded_tensor<float, extents<4, 0>, layout<pod, P<none, "model">>>, tried::as_values>(
      scan);
  check<matrix<float, 4, P<"model", "data">>>(
      [](const auto& x) { return cumsum<0>(x, across<"model">); });
}

TEST_CASE("a scan is of numbers added in order, part by part") {
  // 61 numbers, in parts of 16.
  const std::vector<float> all = some_numbers(61);
  using X = sharded_tensor<float, extents<61>, layout<pod, P<"model">, partial<>, uneven>>;
  std::vector<float> sums, products, greatest;
  double logarithms = 0;
  std::vector<double> logs;
  float before = 0, factor = 1, sum = 0, product = 1;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i % 16 == 0) {
      before = i == 0 ? 0 : before + sum;
      factor = i == 0 ? 1 : factor * product;
      sum = 0;
      product = 1;
    }
    sum += all[i];
    product *= all[i];
    sums.push_back(i < 16 ? sum : before + sum);
    products.push_back(i < 16 ? product : factor * product);
    greatest.push_back(i == 0 ? all[0] : std::max(greatest.back(), all[i]));
    logarithms += std::exp(static_cast<double>(all[i]));
    logs.push_back(std::log(logarithms));
  }
  const auto doubles = [](const std::vector<float>& of) {
    return std::vector<double>(of.begin(), of.end());
  };
  for (const unsigned threads : {1U, 2U, 4U}) {
    const device_pool pool(pod{}, threads);
    const X x = distribute<X>(pool, all);
    const any_tensor<float> any = x;
    CHECK(elements_of(cumsum<0>(x, everywhere)) == doubles(sums));
    CHECK(elements_of(cumsum<0>(any, everywhere)) == doubles(sums));
    CHECK(elements_of(cumprod<0>(x, everywhere)) == doubles(products));
    CHECK(elements_of(cummax<0>(x, everywhere)) == doubles(greatest));
    const std::vector<double> found = elements_of(logcumsumexp<0>(x, everywhere));
    for (std::size_t i = 0; i < logs.size(); ++i) CHECK(found[i] == Approx(logs[i]).epsilon(1e-6));
  }
}

TEST_CASE("a scan of a split dimension receives one element for each line and part") {
  using X = matrix<float, 64, P<"data", "model">>;
  const auto scan = [](const auto& x) { return cumsum<1>(x, everywhere); };
  STATIC_REQUIRE(std::is_same_v<decltype(scan(abstract<X>()))::layout_type, X::layout_type>);
  constexpr cost_ledger cost = trace(scan, abstract<X>());
  // 2 rows on each device, and the totals of 3 other parts.
  STATIC_REQUIRE(cost.collectives(collective::all_gather) == 1 && cost.collectives() == 1);
  STATIC_REQUIRE(cost.bytes_moved() == 3 * 2 * 4);
  using U = matrix<bfloat16, 61, P<none, "model">, uneven>;
  STATIC_REQUIRE(std::is_same_v<decltype(scan(abstract<U>()))::layout_type, U::layout_type>);
  // In the type that sums are computed in.
  STATIC_REQUIRE(trace(scan, abstract<U>()).bytes_moved() == 3 * 4 * 4);
  using V = matrix<double, 16, P<none, by("model", "data")>>;
  STATIC_REQUIRE(trace(scan, abstract<V>()).bytes_moved() == 7 * 4 * 8);
  // A gradient exchanges the same again.
  constexpr auto slope = [](const auto& x) {
    return gradient([](const auto& y) { return sum(square(cumsum<1>(y, everywhere))); })(x);
  };
  constexpr cost_ledger back = trace(slope, abstract<X>());
  STATIC_REQUIRE(back.collectives(collective::all_gather) == 2 && back.collectives() == 2);
  STATIC_REQUIRE(back.bytes_moved() == 2 * cost.bytes_moved());
  STATIC_REQUIRE(std::is_same_v<decltype(slope(abstract<X>()))::layout_type, X::layout_type>);
  // An extent of another dimension may be known only at run time.
  using D = sharded_tensor<float, extents<dyn, 64>, layout<pod, P<"data", "model">>>;
  STATIC_REQUIRE(trace(scan, abstract<D>(4)).bytes_moved() == cost.bytes_moved());
}

TEST_CASE("a dimension in other parts is gathered to be scanned") {
  const auto scan = [](const auto& x) { return cumsum<1>(x, everywhere); };
  using X = matrix<float, 8, P<none, cyclic("model")>>;
  check<X>(scan);
  STATIC_REQUIRE(trace(scan, abstract<X>()).bytes_moved() == 4 * 6 * 4);
  // Over two axes, one by one: parts of 1, 1, 1, 0 and 1, 1, 0, 0 elements.
  check<matrix<float, 5, P<none, by("data", "model")>, uneven>>(scan);
  // A pending sum stays pending, a layout that is asked for is made.
  using S = sharded_tensor<float, extents<4, 8>, layout<pod, P<none, "model">, partial<"data">>>;
  STATIC_REQUIRE(decltype(scan(abstract<S>()))::layout_type::value.pending == 1);
  using Y = matrix<float, 8, P<"data", "model">>;
  STATIC_REQUIRE(
      std::is_same_v<decltype(cumsum<1>(abstract<Y>(), as<P<"data", none>>))::layout_type,
                     layout<pod, P<"data", none>>>);
  check<Y>([](const auto& x) { return cumsum<1>(x, as<P<"data", none>>); });
  check<Y>([](const auto& x) { return cummax<1>(x, as<P<none, "data">>); });
}

TEST_CASE("a scan that devices cannot exchange names what is wrong") {
  const device_pool pool(pod{}, 1);
  const any_tensor<float> x = numbers<matrix<float, 16, P<none, by("model", "data")>>>(pool);
  REQUIRE(refusal([&] { return cumprod<1>(x, across<"model">); }) == violation::dimension_is_split);
  REQUIRE(refusal([&] { return logcumsumexp<1>(x, across<"data">); }) ==
          violation::dimension_is_split);
  REQUIRE(refusal([&] { return cummax<2>(x, everywhere); }) ==
          violation::dimension_is_out_of_range);
  REQUIRE(refusal([&] { return cumsum<1>(x, across<"data", "model", "modle">); }) ==
          violation::axis_is_not_in_mesh);
}

namespace {

/// The gradient of a weighted sum of a scan of 10 numbers in 4 parts, and of the whole.
template <class F>
void check_slopes(const F& scan, const std::vector<double>& at) {
  using X = sharded_tensor<double, extents<10>, layout<pod, P<"model">, partial<>, uneven>>;
  const device_pool pool(pod{}, 2);
  const std::vector<double> weights{1, -1, 2, 0, -3, 0.5, 4, -2, 1.5, -0.5};
  const X x = distribute<X>(pool, at), w = distribute<X>(pool, weights);
  const auto weighed = [&](const auto& y) { return reshard<P<>>(sum(scan(y) * w)); };
  const auto slope = gradient(weighed)(x);
  const auto whole = reshard<P<none>>(x);
  const auto all_weights = reshard<P<none>>(w);
  const auto want =
      elements_of(gradient([&](const auto& y) { return sum(scan(y) * all_weights); })(whole));
  const auto have = elements_of(slope);
  for (std::size_t i = 0; i < at.size(); ++i) {
    CAPTURE(i, have[i], want[i]);
    CHECK(have[i] == Approx(want[i]).epsilon(1e-12).margin(1e-12));
  }
}
/// The same against differences.
template <class F>
void check_differences(const F& scan, const std::vector<double>& at) {
  using X = sharded_tensor<double, extents<10>, layout<pod, P<"model">, partial<>, uneven>>;
  const device_pool pool(pod{}, 2);
  const auto loss = [&](const auto& y) { return reshard<P<>>(sum(square(scan(y)))); };
  const auto slope = elements_of(gradient(loss)(distribute<X>(pool, at)));
  for (std::size_t i = 0; i < at.size(); ++i) {
    std::vector<double> more = at, less = at;
    constexpr double step = 1e-6;
    more[i] += step;
    less[i] -= step;
    const double rise =
        to_host(loss(distribute<X>(pool, more)))() - to_host(loss(distribute<X>(pool, less)))();
    CAPTURE(i);
    CHECK(slope[i] == Approx(rise / (2 * step)).epsilon(1e-6).margin(1e-6));
  }
}

}  // namespace

TEST_CASE("the gradients of scans of a split dimension are those of the whole of it") {
  const std::vector<double> some{0.3, -1, 2, 0.5, 1, -0.7, 1.5, 2.5, -0.2, 0.9};
  const auto sums = [](const auto& x) { return cumsum<0>(x, everywhere); };
  const auto products = [](const auto& x) { return cumprod<0>(x, everywhere); };
  const auto greatest = [](const auto& x) { return cummax<0>(x, everywhere); };
  const auto least = [](const auto& x) { return cummin<0>(x, everywhere); };
  const auto logs = [](const auto& x) { return logcumsumexp<0>(x, everywhere); };
  check_differences(sums, some);
  check_differences(products, some);
  check_differences(greatest, some);
  check_differences(least, some);
  check_differences(logs, some);
  check_slopes(sums, some);
  // With zeros, in one part and in several.
  check_slopes(products, {1, 2, 0, 3, 2, 0, 1, 2, 3, 1});
  check_slopes(products, {1, 2, 3, 3, 2, 2, 1, 0, 3, 1});
  // The first of equal elements, whichever part it is in.
  constexpr double inf = std::numeric_limits<double>::infinity();
  check_slopes(greatest, {2, 1, 2, 2, 1, 2, 2, 3, 3, 3});
  check_slopes(least, {2, 1, 2, 2, 1, 2, 0, 0, 0, -1});
  check_slopes(greatest, {-inf, -inf, -inf, -inf, 1, 1, 1, 0, 1, 2});
  // What is -inf adds nothing.
  check_slopes(logs, {1000, 1000, 999, -1000, 0, 1000, 1001, -inf, 3, 1002});
}

TEST_CASE("NaN stays from the first one on, and infinite logarithms are exact") {
  const device_pool pool(pod{}, 2);
  using X = sharded_tensor<double, extents<10>, layout<pod, P<"model">, partial<>, uneven>>;
  constexpr double inf = std::numeric_limits<double>::infinity();
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const auto of = [&](const std::vector<double>& all) { return distribute<X>(pool, all); };
  const X x = of({1, 5, -2, 3, nan, 9, 1, 2, -9, 4});
  const auto check_nan = [](const std::vector<double>& made) {
    for (std::size_t i = 0; i < made.size(); ++i) CHECK(std::isnan(made[i]) == (i >= 4));
  };
  check_nan(elements_of(cumsum<0>(x, everywhere)));
  check_nan(elements_of(cumprod<0>(x, everywhere)));
  check_nan(elements_of(cummax<0>(x, everywhere)));
  check_nan(elements_of(cummin<0>(x, everywhere)));
  check_nan(elements_of(logcumsumexp<0>(x, everywhere)));
  const auto low = elements_of(
      logcumsumexp<0>(of({-inf, -inf, -inf, -inf, 0, -inf, -inf, 0, 0, 0}), everywhere));
  CHECK(low[3] == -inf);
  CHECK(low[6] == 0);
  CHECK(low[9] == Approx(std::log(4.0)));
  // A sum of nothing but negative zeros is one.
  const auto zeros = elements_of(cumsum<0>(of(std::vector<double>(10, -0.0)), everywhere));
  for (const double zero : zeros) CHECK(std::signbit(zero));
  // The gradient of an element that is -inf is 0.
  const auto slope = elements_of(gradient([](const auto& y) {
    return reshard<P<>>(sum(logcumsumexp<0>(y, everywhere)));
  })(of({0, 0, -inf, -inf, -inf, -inf, 0, -inf, 0, 0})));
  for (const std::size_t i : {2U, 3U, 4U, 5U, 7U}) CHECK(slope[i] == 0);
  for (const std::size_t i : {0U, 1U, 6U, 8U, 9U}) CHECK(slope[i] > 0);
}
