// SPDX-License-Identifier: BSL-1.0
// Gradients of contractions over semirings go to the terms that are the maximum or the minimum.
#include "support/catch.hpp"
#include <shardwise/shardwise.hpp>

#include <cmath>
#include <vector>

using namespace shardwise;

namespace {

struct pod : mesh<axis<"data", 2>, axis<"model", 2>> {};
template <class T, class Spec, index_t... N>
using tensor = sharded_tensor<T, extents<N...>, layout<pod, Spec>>;
using A = tensor<double, P<none, none>, 4, 6>;
using B = tensor<double, P<none, none>, 6, 2>;

constexpr double weight(index_t i, index_t k) { return 1.0 + static_cast<double>(3 * i + k); }

// Weights of the results, so that their cotangents differ.
template <class X>
auto weighted(const device_pool& pool, const X& y) {
  std::vector<typename X::value_type> weights;
  for (index_t i = 0; i < 4; ++i)
    for (index_t k = 0; k < 2; ++k)
      weights.push_back(static_cast<typename X::value_type>(static_cast<float>(weight(i, k))));
  using W = sharded_tensor<typename X::value_type, extents<4, 2>, layout<pod, P<none, none>>>;
  return reshard<P<>>(sum(reshard<P<none, none>>(y) * distribute<W>(pool, weights)));
}

// The cotangents by definition: each is shared evenly by the best terms.
struct expected {
  std::vector<double> a = std::vector<double>(24), b = std::vector<double>(12);
};
template <bool IsMax, bool IsSum>
expected by_definition(const std::vector<double>& a, const std::vector<double>& b) {
  expected out;
  for (index_t i = 0; i < 4; ++i)
    for (index_t k = 0; k < 2; ++k) {
      const auto term = [&](index_t j) {
        const double x = a[static_cast<std::size_t>(i * 6 + j)];
        const double y = b[static_cast<std::size_t>(j * 2 + k)];
        return IsSum ? x + y : x * y;
      };
      double best = term(0);
      for (index_t j = 1; j < 6; ++j)
        best = IsMax ? std::fmax(best, term(j)) : std::fmin(best, term(j));
      double ties = 0;
      for (index_t j = 0; j < 6; ++j) ties += term(j) == best ? 1 : 0;
      for (index_t j = 0; j < 6; ++j) {
        if (term(j) != best) continue;
        const auto at = static_cast<std::size_t>(i * 6 + j);
        const auto on = static_cast<std::size_t>(j * 2 + k);
        out.a[at] += weight(i, k) / ties * (IsSum ? 1 : b[on]);
        out.b[on] += weight(i, k) / ties * (IsSum ? 1 : a[at]);
      }
    }
  return out;
}

void require_near(const auto& found, const std::vector<double>& wanted) {
  for (std::size_t i = 0; i < wanted.size(); ++i)
    REQUIRE(static_cast<double>(static_cast<float>(found.elements()[i])) ==
            Approx(wanted[i]).epsilon(1e-6));
}

// Integers, so that many terms are equal and 16-bit elements are exact.
const std::vector<double> left = [] {
  std::vector<double> out;
  for (int i = 0; i < 24; ++i) out.push_back((i * 7 + i / 6) % 5 - 2);
  return out;
}();
const std::vector<double> right = [] {
  std::vector<double> out;
  for (int i = 0; i < 12; ++i) out.push_back((i * 5 + 1) % 4 - 1);
  return out;
}();

template <Semiring auto Over, class SpecA, class SpecB, class T = double>
void require_gradient(const expected& wanted) {
  const device_pool pool{pod{}};
  using X = tensor<T, SpecA, 4, 6>;
  using Y = tensor<T, SpecB, 6, 2>;
  std::vector<T> a, b;
  for (double x : left) a.push_back(static_cast<T>(static_cast<float>(x)));
  for (double x : right) b.push_back(static_cast<T>(static_cast<float>(x)));
  const auto [da, db] = gradient<0, 1>([&](const auto& x, const auto& y) {
    return weighted(pool, einsum<"ij,jk->ik", Over>(x, y));
  })(distribute<X>(pool, a), distribute<Y>(pool, b));
  require_near(to_host(da), wanted.a);
  require_near(to_host(db), wanted.b);
}

}  // namespace

TEST_CASE("gradients of extremes over sums and products are shared by equal terms") {
  using whole = P<none, none>;
  require_gradient<min_plus, whole, whole>(by_definition<false, true>(left, right));
  require_gradient<max_plus, whole, whole>(by_definition<true, true>(left, right));
  require_gradient<max_times, whole, whole>(by_definition<true, false>(left, right));
}

TEST_CASE("gradients of contractions over semirings go through split letters") {
  // The contracted letter is split: the extreme is pending, and is finished before it is compared.
  require_gradient<min_plus, P<"data", "model">, P<"model", none>>(
      by_definition<false, true>(left, right));
  require_gradient<max_times, P<none, "data">, P<"data", "model">>(
      by_definition<true, false>(left, right));
}

TEST_CASE("gradients over semirings compare narrow fractions as they are stored") {
  require_gradient<min_plus, P<"data", none>, P<none, none>, float>(
      by_definition<false, true>(left, right));
  require_gradient<max_plus, P<"data", none>, P<none, none>, bfloat16>(
      by_definition<true, true>(left, right));
  // Both sums are 257, which is stored as 256.
  const device_pool pool{pod{}};
  using R = tensor<bfloat16, P<none>, 2>;
  const auto row = [&](float a, float b) {
    return distribute<R>(pool, std::vector<bfloat16>{bfloat16(a), bfloat16(b)});
  };
  const auto dx = gradient([](const auto& x, const auto& y) {
    return einsum<"i,i->", max_plus>(x, y);
  })(row(256, 255), row(1, 2));
  require_near(to_host(dx), {0.5, 0.5});
}

TEST_CASE("one operand, transposes and diagonals have such gradients too") {
  const device_pool pool{pod{}};
  using S = tensor<double, P<none, none>, 3, 3>;
  const auto x = distribute<S>(pool, std::vector<double>{1, 5, 2, 4, 4, 0, 3, 3, 3});
  const auto least = gradient([](const auto& a) { return sum(einsum<"ij->i", min_plus>(a)); })(x);
  require_near(to_host(least), {1, 0, 0, 0, 0, 1, 1.0 / 3, 1.0 / 3, 1.0 / 3});
  const auto turned = gradient([](const auto& a) {
    return sum(einsum<"ji,i->j", max_plus>(einsum<"ij->ji">(a), einsum<"ii->i">(a)));
  })(x);
  // Rows of the transpose: {1,4,3}, {5,4,3}, {2,0,3}, each plus {1,4,3}: the greatest are 8, 8, 6.
  require_near(to_host(turned), {0, 0, 0, 1, 3, 0, 0, 0, 2});
  const auto diagonal =
      gradient([](const auto& a) { return reshard<P<>>(einsum<"ii->", max_times>(a)); })(x);
  require_near(to_host(diagonal), {0, 0, 0, 0, 1, 0, 0, 0, 0});
}

TEST_CASE("shortest paths have gradients of tensors whose layouts are values") {
  const device_pool pool{pod{}};
  std::vector<double> a = left, b = right;
  const any_tensor<double> x = distribute<A>(pool, a), y = distribute<B>(pool, b);
  const auto f = [](const any_tensor<double>& p, const any_tensor<double>& q) {
    return sum(einsum<min_plus>("ij,jk->ik", p, q));
  };
  const auto [da, db] = gradient<0, 1>(f)(x, y);
  const auto [ta, tb] = gradient<0, 1>([](const auto& p, const auto& q) {
    return sum(einsum<"ij,jk->ik", min_plus>(p, q));
  })(as<A>(x), as<B>(y));
  REQUIRE(to_host(da) == to_host(ta));
  REQUIRE(to_host(db) == to_host(tb));
}
