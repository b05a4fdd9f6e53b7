// SPDX-License-Identifier: BSL-1.0
// Searches, sorts, scans and statistics along split dimensions: typed, with run-time layouts, and
// on paper.
#include "unit/runtime/split_and_whole.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

using namespace split_and_whole;

namespace {
using split = matrix<float, 8, P<"data", "model">>;
using uneven_split = matrix<float, 7, P<"data", "model">, uneven>;
using long_split = matrix<float, 16, P<none, by("model", "data")>>;
constexpr auto everywhere = across<"model", "data">;
}  // namespace

TEST_CASE("the least and the places of extremes are found part by part") {
  const auto least = [](const auto& x) { return min_with_index<1>(x, everywhere); };
  const auto place = [](const auto& x) { return argmax<1>(x, everywhere); };
  check<split>(least);
  check<uneven_split, tried::as_values>(least);
  check<split>(place);
  check<long_split, tried::as_values>(place);
  check<split>([](const auto& x) { return argmin<0>(x, everywhere); });
  STATIC_REQUIRE(trace(place, abstract<split>()).bytes_moved() == 3 * 2 * (4 + 8));
}

TEST_CASE("top_k exchanges the candidates of each part") {
  const auto two = [](const auto& x) { return top_k<1, 2>(x, everywhere); };
  check<split>(two);
  check<long_split, tried::as_values>(two);
  check<uneven_split, tried::as_values>(two);
  check<matrix<double, 8, P<none, "data">>, tried::as_values>(two);
  check<matrix<std::int32_t, 8, P<none, "model">>, tried::as_values>(two);
  check<matrix<bfloat16, 8, P<none, "model">>, tried::as_values>(two);
  // Two candidates from each of four shards, values and indices.
  constexpr cost_ledger cost = trace(two, abstract<split>());
  STATIC_REQUIRE(cost.collectives(collective::all_gather) == 2 && cost.collectives() == 2);
  STATIC_REQUIRE(cost.bytes_moved() == 3 * 2 * 2 * (4 + 8));
  // A shard of two elements has no three candidates, so the dimension is fetched.
  const auto three = [](const auto& x) { return top_k<1, 3>(x, everywhere); };
  check<split>(three);
  STATIC_REQUIRE(trace(three, abstract<split>()).collectives() == 1);
}

TEST_CASE("top_k of long lines takes the first of equal elements, and NaN after all others") {
  const device_pool pool(pod{}, 2);
  using X = sharded_tensor<float, extents<2, 1000>, layout<pod, P<none, none>>>;
  std::vector<float> host(2000);
  for (std::size_t i = 0; i < host.size(); ++i) host[i] = static_cast<float>(i * 7919 % 97) - 40.0F;
  for (const bool with_nan : {false, true}) {
    if (with_nan) host[3] = host[633] = host[1999] = std::numeric_limits<float>::quiet_NaN();
    const auto x = distribute<X>(pool, host);
    const auto check_line = [&](const auto& found, auto&& at) {
      const auto values = to_host(found.first);
      const auto places = to_host(found.second);
      for (index_t r = 0; r < 2; ++r) {
        std::vector<std::int64_t> order(1000);
        std::iota(order.begin(), order.end(), std::int64_t{0});
        const auto key = [&](std::int64_t i) {
          const float v = at(r, i);
          return std::isnan(v) ? -std::numeric_limits<float>::infinity() : v;
        };
        std::stable_sort(order.begin(), order.end(),
                         [&](std::int64_t a, std::int64_t b) { return key(a) > key(b); });
        for (index_t k = 0; k < 30; ++k) {
          CAPTURE(with_nan, r, k);
          CHECK(places(r, k) == order[static_cast<std::size_t>(k)]);
          CHECK(values(r, k) == key(places(r, k)));
        }
      }
    };
    const auto element = [&](index_t r, std::int64_t i) {
      return host[static_cast<std::size_t>(r * 1000 + i)];
    };
    check_line(top_k<1, 30>(x), element);
    // The same lines, whose elements are not adjacent.
    const auto turned = top_k<0, 30>(reshape<extents<1000, 2>>(transpose<1, 0>(x)));
    check_line(std::pair(transpose<1, 0>(turned.first), transpose<1, 0>(turned.second)), element);
  }
}

TEST_CASE("what orders a dimension fetches it where it may") {
  check<split>([](const auto& x) { return sort<1>(x, across<"model">); });
  check<uneven_split>([](const auto& x) { return sort<1>(x, descending, across<"model">); });
  check<split>([](const auto& x) { return argsort<1>(x, across<"model">); });
  check<split>([](const auto& x) { return cumprod<1>(x, across<"model">); });
  check<split>([](const auto& x) { return cummax<1>(x, across<"model">); });
  check<uneven_split>([](const auto& x) { return cummin<0>(x, across<"data">); });
  // Rounded part by part.
  check<split>([](const auto& x) { return logcumsumexp<1>(x, across<"model">); }, 1e-6);
}

TEST_CASE("statistics over a split dimension exchange one number for each result") {
  const auto spread = [](const auto& x) { return standard_deviation<1>(x, everywhere); };
  const auto sums = [](const auto& x) { return logsumexp<1>(x * 0.5F, everywhere); };
  check<split>(spread, 1e-6);
  check<uneven_split, tried::as_values>(spread, 1e-6);
  check<long_split, tried::as_values>(spread, 1e-6);
  check<split>(sums, 1e-6);
  check<uneven_split, tried::as_values>(sums, 1e-6);
  check<split>([](const auto& x) { return l2_norm<1>(x, everywhere); }, 1e-6);
  STATIC_REQUIRE(trace(sums, abstract<split>()).collectives(collective::all_reduce) == 2);
  STATIC_REQUIRE(trace(sums, abstract<split>()).collectives() == 2);
  STATIC_REQUIRE(trace(spread, abstract<split>()).collectives() == 2);
  // Sums of squares and counts may stay pending.
  constexpr auto pending = [](const auto& y) {
    return std::remove_cvref_t<decltype(y)>::layout_type::value.pending;
  };
  STATIC_REQUIRE(pending(variance<1>(abstract<split>(), across<"model">)) != 0);
  STATIC_REQUIRE(pending(l1_norm<1>(abstract<split>())) != 0);
  STATIC_REQUIRE(pending(any<1>(abstract<split>() > 0)) != 0);
  STATIC_REQUIRE(pending(count_nonzero<1>(abstract<split>())) != 0);
}

TEST_CASE("statistics have the values that they are named for") {
  const device_pool pool(pod{}, 2);
  using X = sharded_tensor<float, extents<6>, layout<pod, P<"model">, partial<>, uneven>>;
  const auto of = [&](const std::vector<float>& all) { return distribute<X>(pool, all); };
  constexpr float inf = std::numeric_limits<float>::infinity();
  const auto number = [](const auto& x) { return to_host(x)(); };
  // Far from 0, where the difference of large squares would lose all digits.
  const X far = of({10000, 10001, 10002, 10003, 10004, 10005});
  REQUIRE(number(standard_deviation<0>(far, everywhere)) == Approx(1.7078251));
  REQUIRE(number(reshard<P<>>(variance<0>(far, everywhere, correction{1}))) == Approx(3.5));
  REQUIRE(number(logsumexp<0>(far, everywhere)) == Approx(10005.456));
  REQUIRE(number(logsumexp<0>(of({-inf, -inf, -inf, -inf, -inf, -inf}), everywhere)) == -inf);
  REQUIRE(number(logsumexp<0>(of({0, 0, inf, 0, 0, -inf}), everywhere)) == inf);
  const X signs = of({-3, 0, 4, 0, 0, 0});
  REQUIRE(number(reshard<P<>>(l1_norm<0>(signs))) == 7);
  REQUIRE(number(l2_norm<0>(signs, everywhere)) == 5);
  REQUIRE(number(reshard<P<>>(max_norm<0>(signs))) == 4);
  REQUIRE(number(reshard<P<>>(count_nonzero<0>(signs))) == 2);
  REQUIRE(number(reshard<P<>>(any<0>(signs))));
  REQUIRE(!number(reshard<P<>>(all<0>(signs))));
  REQUIRE(static_cast<float>(number(variance<0>(cast<bfloat16>(signs), everywhere))) ==
          Approx(4.1388).epsilon(0.01));
}

TEST_CASE("sums of long dimensions are off by a few roundings, however many elements there are") {
  const device_pool pool(pod{}, 2);
  constexpr index_t n = 10'000'000;
  using X = sharded_tensor<float, extents<n>, layout<pod, P<"model">>>;
  const auto value = [](index_t i) {
    return 0.1F + static_cast<float>((i * 7919) % 1000) * 1e-3F * ((i & 1) != 0 ? -1.0F : 1.0F);
  };
  double exact = 0, magnitudes = 0;
  for (index_t i = 0; i < n; ++i) {
    exact += static_cast<double>(value(i));
    magnitudes += std::abs(static_cast<double>(value(i)));
  }
  const X x = generate<X>(pool, [&](const global_index& at) { return value(at[0]); });
  constexpr double eps = std::numeric_limits<float>::epsilon();
  const auto near = [&](float sum, double want) {
    CAPTURE(sum, want, std::abs(static_cast<double>(sum) - want) / (eps * magnitudes));
    REQUIRE(std::abs(static_cast<double>(sum) - want) <= 2 * eps * magnitudes);
  };
  near(to_host(reshard<P<>>(sum(x)))(), exact);
  near(to_host(reshard<P<>>(sum(abs(x))))(), magnitudes);
  near(to_host(sum(reshard<P<none>>(x)))(), exact);
  near(to_host(reshard<P<>>(mean(x)))() * static_cast<float>(n), exact);
  near(to_host(reshard<P<>>(einsum<"i->">(x)))(), exact);
}

TEST_CASE("gradients of scans and bounds hold at zeros and at ties") {
  const device_pool pool(pod{}, 2);
  using X = sharded_tensor<float, extents<5>, layout<pod, P<none>>>;
  const auto slopes = [&](const std::vector<float>& at, const auto& f) {
    const auto made =
        to_host(gradient([&](const auto& x) { return sum(f(x)); })(distribute<X>(pool, at)));
    return std::vector<float>(made.elements().begin(), made.elements().end());
  };
  using row = std::vector<float>;
  // The gradient of the first zero is the product of the other elements; elements after it have
  // gradient 0.
  REQUIRE(slopes({2, 0, 3, 0, 5}, [](const auto& x) { return cumprod<0>(x); }) ==
          row{1, 8, 0, 0, 0});
  REQUIRE(slopes({2, 3, 1, 0, 5}, [](const auto& x) { return cumprod<0>(x); }) ==
          row{7, 4, 6, 36, 0});
  // The first of equal elements gets the whole gradient.
  REQUIRE(slopes({1, 3, 3, 2, 4}, [](const auto& x) { return cummax<0>(x); }) ==
          row{1, 3, 0, 0, 1});
  REQUIRE(slopes({1, 3, 0, 0, 4}, [](const auto& x) { return cummin<0>(x); }) ==
          row{2, 0, 3, 0, 0});
  // A length has no direction at 0.
  const row lengths = slopes({3, 0, 0, 0, -4}, [](const auto& x) { return hypot(x, 4 * x); });
  REQUIRE(lengths[0] == Approx(std::sqrt(17.0F)));
  REQUIRE(std::isnan(lengths[1]));
  REQUIRE(lengths[4] == Approx(-std::sqrt(17.0F)));
  // Second derivatives: 2 for each time that an element is the maximum or the minimum.
  const auto curvature = [&](const std::vector<float>& at, const auto& f) {
    return slopes(at, gradient([&f](const auto& x) { return sum(square(f(x))); }));
  };
  REQUIRE(curvature({1, 3, 3, 2, 4}, [](const auto& x) { return cummax<0>(x); }) ==
          row{2, 6, 0, 0, 2});
  REQUIRE(curvature({1, 3, 0, 0, 4}, [](const auto& x) { return cummin<0>(x); }) ==
          row{4, 0, 6, 0, 0});
  // Third derivatives, where the second ones are not constant.
  REQUIRE(slopes({1, 3, 2, 1, 0}, gradient([](const auto& x) {
                   return sum(gradient([](const auto& y) {
                     const auto most = cummax<0>(y);
                     return sum(most * most * most);
                   })(x));
                 })) == row{6, 24, 0, 0, 0});
  REQUIRE(slopes({3, 1, 2, 1, 3}, [](const auto& x) { return top_k<0, 2>(x).first; }) ==
          row{1, 0, 0, 0, 1});
  REQUIRE(slopes({-2, -1, 0, 1, 2}, [](const auto& x) { return clamp(x, -1, 1); }) ==
          row{0, 0.5F, 1, 0.5F, 0});
  REQUIRE(slopes({-2, -1, 0, 1, 2}, [](const auto& x) { return floor(x) + sign(x) * x; }) ==
          row{-1, -1, 0, 1, 1});
}

TEST_CASE("logcumsumexp and its gradients hold for large, small and infinite elements") {
  const device_pool pool(pod{}, 2);
  using X = sharded_tensor<double, extents<5>, layout<pod, P<none>>>;
  constexpr double inf = std::numeric_limits<double>::infinity();
  const auto make = [&](const std::vector<double>& all) { return distribute<X>(pool, all); };
  const auto values = [](const auto& x) {
    const auto made = to_host(x);
    return std::vector<double>(made.elements().begin(), made.elements().end());
  };
  const auto near = [](const std::vector<double>& have, const std::vector<double>& want) {
    REQUIRE(have.size() == want.size());
    for (std::size_t i = 0; i < have.size(); ++i) {
      CAPTURE(i, have[i], want[i]);
      if (std::isinf(want[i]))
        CHECK(have[i] == want[i]);
      else
        CHECK(std::abs(have[i] - want[i]) <= 1e-12 * (1 + std::abs(want[i])));
    }
  };
  const auto scan = [](const auto& x) { return logcumsumexp<0>(x); };
  const double two = std::log(2.0), three = std::log(3.0);
  near(values(scan(make({1000, 1000, 1000, -1000, 0}))),
       {1000, 1000 + two, 1000 + three, 1000 + three, 1000 + three});
  near(values(scan(make({-1000, -1000, -1000, -2000, -1000}))),
       {-1000, -1000 + two, -1000 + three, -1000 + three, -1000 + 2 * two});
  near(values(scan(make({-inf, -inf, 0, -inf, 0}))), {-inf, -inf, 0, 0, two});
  near(values(scan(make({0, inf, 1, -inf, 0}))), {0, inf, inf, inf, inf});

  // The gradient of each result distributes 1 in proportion to the exponentials. Cotangents of both
  // signs: 1 -1 2 0 -3.
  const X weights = make({1, -1, 2, 0, -3});
  const auto slopes = [&](const std::vector<double>& at) {
    return values(gradient([&](const auto& x) { return sum(scan(x) * weights); })(make(at)));
  };
  const std::vector<double> equal_ones{1 - 1.0 / 2 + 2.0 / 3 - 3.0 / 5,
                                       -1.0 / 2 + 2.0 / 3 - 3.0 / 5, 2.0 / 3 - 3.0 / 5, -3.0 / 5,
                                       -3.0 / 5};
  for (const double base : {0.0, 1000.0, -1000.0, 1e6}) {
    CAPTURE(base);
    near(slopes({base, base, base, base, base}), equal_ones);
  }
  near(slopes({-2000, 2000, 0, -2000, 2000}), {1, -1 + 2 - 1.5, 0, 0, -1.5});
  near(slopes({-inf, -inf, 0, -inf, 0}), {0, 0, 2 - 1.5, 0, -1.5});

  // The second derivatives, compared with differences of the first ones, also where a cotangent
  // is 0.
  const std::vector<double> some{0.3, -1, 2, 0.5, 1};
  const auto first = [&](const auto& x) {
    return gradient([&](const auto& y) { return sum(square(scan(y)) * weights); })(x);
  };
  const X along = make({1, 2, -1, 0.5, 3});
  const auto second =
      values(gradient([&](const auto& x) { return sum(first(x) * along); })(make(some)));
  std::vector<double> differences;
  for (std::size_t i = 0; i < some.size(); ++i) {
    const auto at = [&](double step) {
      std::vector<double> moved = some;
      moved[i] += step;
      return to_host(sum(first(make(moved)) * along))();
    };
    differences.push_back((at(1e-5) - at(-1e-5)) / 2e-5);
  }
  for (std::size_t i = 0; i < some.size(); ++i) {
    CAPTURE(i, second[i], differences[i]);
    CHECK(std::abs(second[i] - differences[i]) < 1e-7);
  }
}
