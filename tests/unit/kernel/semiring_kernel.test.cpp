// SPDX-License-Identifier: BSL-1.0
#include "shardwise/kernel/semiring_kernel.hpp"

#include "support/catch.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

using namespace shardwise;

namespace {

/// Small integers, and a few infinities for missing paths.
template <class T>
std::vector<T> lengths(index_t count, unsigned seed, T extreme) {
  std::vector<T> out;
  for (index_t i = 0; i < count; ++i) {
    seed = seed * 1664525U + 1013904223U;
    const unsigned drawn = seed >> 20;
    out.push_back(drawn % 17 == 0 ? extreme : static_cast<T>(drawn % 50));
  }
  return out;
}

/// A matrix of rows or of columns.
template <class T>
strided<T> matrix(T* data, index_t rows, index_t columns, bool by_column) {
  if (by_column) return {data, {rows, columns}, {1, rows}};
  return {data, {rows, columns}, {columns, 1}};
}

template <class S, class T>
void check(index_t m, index_t k, index_t n, int orders) {
  const T extreme = identity_of<T>(S::reduce);
  const std::vector<T> a = lengths<T>(m * k, 1, extreme), b = lengths<T>(k * n, 2, extreme);
  std::vector<T> out(static_cast<std::size_t>(m * n), T{77});
  const auto left = matrix<const T>(a.data(), m, k, (orders & 1) != 0);
  const auto right = matrix<const T>(b.data(), k, n, (orders & 2) != 0);
  const auto made = matrix<T>(out.data(), m, n, (orders & 4) != 0);
  contract<T>(detail::arithmetic_of<S, T>(), {{0, 1}, {1, 2}, {0, 2}}, left, right, made,
              detail::no_epilogue{});
  index_t wrong = 0;
  for (index_t i = 0; i < m; ++i)
    for (index_t j = 0; j < n; ++j) {
      T want = extreme;
      for (index_t l = 0; l < k; ++l) {
        const T x = left.data[i * left.strides[0] + l * left.strides[1]];
        const T y = right.data[l * right.strides[0] + j * right.strides[1]];
        const T sum = x == extreme || y == extreme ? extreme : static_cast<T>(x + y);
        want = S::reduce == reduction::min ? std::min(want, sum) : std::max(want, sum);
      }
      wrong += made.data[i * made.strides[0] + j * made.strides[1]] == want ? 0 : 1;
    }
  CAPTURE(m, k, n, orders);
  CHECK(wrong == 0);
}

template <class S, class T>
void check_sizes() {
  const index_t sizes[][3] = {{1, 1, 1},    {3, 4, 5},    {5, 7, 33},  {2, 65, 70}, {70, 66, 2},
                              {9, 130, 64}, {3, 9, 1030}, {1, 300, 1}, {4, 0, 40}};
  for (const auto& size : sizes)
    for (int orders = 0; orders < 8; ++orders) check<S, T>(size[0], size[1], size[2], orders);
}

}  // namespace

TEST_CASE("Products over semirings are those of a loop, for any sizes and orders of matrices") {
  check_sizes<min_plus_semiring, float>();
  check_sizes<min_plus_semiring, double>();
  check_sizes<min_plus_semiring, std::int32_t>();
  check_sizes<max_plus_semiring, std::int64_t>();
  check_sizes<max_plus_semiring, float>();
}

TEST_CASE("Lengths of integers stop at the extremes, of which one stays") {
  using limits = std::numeric_limits<std::int32_t>;
  using least = kernel<functions::add_lengths<reduction::min>>;
  using most = kernel<functions::add_lengths<reduction::max>>;
  CHECK(least::run(limits::max(), -5) == limits::max());
  CHECK(least::run(-5, limits::max()) == limits::max());
  CHECK(least::run(limits::max() - 1, 5) == limits::max());
  CHECK(least::run(limits::lowest(), -5) == limits::lowest());
  CHECK(most::run(limits::lowest(), 5) == limits::lowest());
  CHECK(most::run(limits::max(), 5) == limits::max());
  CHECK(least::run(std::uint8_t{255}, std::uint8_t{0}) == 255);
  CHECK(least::run(std::uint8_t{250}, std::uint8_t{9}) == 255);
  CHECK(most::run(std::uint8_t{0}, std::uint8_t{9}) == 9);
}

TEST_CASE("A length that stands for no path stays, whatever is added to it") {
  constexpr float infinite = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  using least = kernel<functions::add_lengths<reduction::min>>;
  using most = kernel<functions::add_lengths<reduction::max>>;
  CHECK(least::run(infinite, -infinite) == infinite);
  CHECK(least::run(-infinite, infinite) == infinite);
  CHECK(most::run(infinite, -infinite) == -infinite);
  CHECK(least::run(-infinite, -infinite) == -infinite);
  CHECK(least::run(-infinite, 3.0F) == -infinite);
  CHECK(least::run(infinite, nan) != least::run(infinite, nan));
  // So a device without an edge changes nothing, also in packets.
  const index_t columns = 37;
  const std::vector<float> edges{infinite, 2};
  const std::vector<float> lengths(static_cast<std::size_t>(2 * columns), -infinite);
  std::vector<float> out(static_cast<std::size_t>(2 * columns));
  contract<float>(detail::arithmetic_of<min_plus_semiring, float>(), {{0, 1}, {1, 2}, {0, 2}},
                  matrix(edges.data(), 2, 1, false), matrix(lengths.data(), 1, columns, false),
                  matrix(out.data(), 2, columns, false), detail::no_epilogue{});
  CHECK(std::all_of(out.begin(), out.begin() + columns, [](float x) { return x == infinite; }));
  CHECK(std::all_of(out.begin() + columns, out.end(), [](float x) { return x == -infinite; }));
}

TEST_CASE("Rows of finite lengths and rows that meet infinities or NaN follow one rule") {
  constexpr float infinite = std::numeric_limits<float>::infinity();
  const float some[]{1, -2, infinite, -infinite, std::numeric_limits<float>::quiet_NaN()};
  constexpr index_t m = 9, k = 8, n = 70;
  std::vector<float> a, b;
  // The first rows have only finite lengths, the others each kind at every position.
  for (index_t i = 0; i < m; ++i)
    for (index_t l = 0; l < k; ++l)
      a.push_back(some[i < 2 ? (i + l) % 2 : i - 1 == l ? 2 + l % 3 : l % 2]);
  for (index_t l = 0; l < k; ++l)
    for (index_t j = 0; j < n; ++j) b.push_back(some[(j / 5 * l + j) % (j % 7 == 0 ? 5 : 4)]);
  const auto check = [&]<class S>(S) {
    std::vector<float> out(static_cast<std::size_t>(m * n));
    contract<float>(detail::arithmetic_of<S, float>(), {{0, 1}, {1, 2}, {0, 2}},
                    matrix<const float>(a.data(), m, k, false),
                    matrix<const float>(b.data(), k, n, false), matrix(out.data(), m, n, false),
                    detail::no_epilogue{});
    for (index_t i = 0; i < m; ++i)
      for (index_t j = 0; j < n; ++j) {
        float want = identity_of<float>(S::reduce);
        for (index_t l = 0; l < k; ++l) {
          const float x = kernel<typename S::times>::run(a[static_cast<std::size_t>(i * k + l)],
                                                         b[static_cast<std::size_t>(l * n + j)]);
          want = S::reduce == reduction::min ? kernel<functions::minimum>::run(want, x)
                                             : kernel<functions::maximum>::run(want, x);
        }
        const float have = out[static_cast<std::size_t>(i * n + j)];
        CAPTURE(i, j, have, want);
        CHECK((have == want || (have != have && want != want)));
      }
  };
  check(min_plus_semiring{});
  check(max_plus_semiring{});
}

TEST_CASE("A path of length zero has the sign that the rule gives, wherever it is in a matrix") {
  // Paths of zeros of both signs meet infinities only in some matrices, and NaN in others.
  constexpr float infinite = std::numeric_limits<float>::infinity();
  const float some[]{0, -0.0F, 0, 2, infinite, -infinite, std::numeric_limits<float>::quiet_NaN()};
  const auto numbers = [&](index_t count, unsigned kinds, unsigned seed) {
    std::vector<float> all;
    for (index_t i = 0; i < count; ++i) {
      seed = seed * 1664525U + 1013904223U;
      all.push_back(some[(seed >> 20) % kinds]);
    }
    return all;
  };
  const auto check = [&]<class S>(S, index_t m, index_t k, index_t n, unsigned kinds) {
    const std::vector<float> a = numbers(m * k, std::min(kinds, 5U), 1),
                             b = numbers(k * n, kinds, 2);
    std::vector<float> out(static_cast<std::size_t>(m * n));
    contract<float>(detail::arithmetic_of<S, float>(), {{0, 1}, {1, 2}, {0, 2}},
                    matrix<const float>(a.data(), m, k, false),
                    matrix<const float>(b.data(), k, n, false), matrix(out.data(), m, n, false),
                    detail::no_epilogue{});
    index_t wrong = 0;
    for (index_t i = 0; i < m; ++i)
      for (index_t j = 0; j < n; ++j) {
        float want = identity_of<float>(S::reduce);
        for (index_t l = 0; l < k; ++l) {
          const float x = kernel<typename S::times>::run(a[static_cast<std::size_t>(i * k + l)],
                                                         b[static_cast<std::size_t>(l * n + j)]);
          want = S::reduce == reduction::min ? kernel<functions::minimum>::run(want, x)
                                             : kernel<functions::maximum>::run(want, x);
        }
        const float have = out[static_cast<std::size_t>(i * n + j)];
        const bool is_same = have == want && std::signbit(have) == std::signbit(want);
        wrong += is_same || (have != have && want != want) ? 0 : 1;
      }
    CAPTURE(m, k, n, kinds);
    CHECK(wrong == 0);
  };
  for (const unsigned kinds : {1U, 2U, 3U, 4U, 5U, 6U, 7U})
    for (const index_t n : {64, 65, 127, 200, 515}) {
      check(min_plus_semiring{}, 5, 3, n, kinds);
      check(min_plus_semiring{}, 8, 67, n, kinds);
      check(max_plus_semiring{}, 7, 130, n, kinds);
    }
}
