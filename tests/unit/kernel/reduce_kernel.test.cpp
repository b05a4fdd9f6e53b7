// SPDX-License-Identifier: BSL-1.0
#include "shardwise/kernel/reduce_kernel.hpp"

#include "support/catch.hpp"
#include "support/watched.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

using namespace shardwise;
using namespace shardwise::fused;

namespace {

using extents_t = inplace_vector<index_t, max_rank>;
using x = argument<0>;
using y = argument<1>;
using scaled = call<functions::add, call<functions::multiply, x, y>, constant<int>>;

extents_t strides_of(const extents_t& extents, int kind) {
  extents_t strides = row_major(extents);
  if (kind == 1)
    for (index_t& s : strides) s *= 2;
  index_t step = 1;
  for (int d = 0; kind == 2 && d < extents.ssize(); ++d) {  // column-major
    strides[d] = step;
    step *= extents[d];
  }
  if (kind == 3 && !extents.empty()) strides[extents.ssize() - 1] = 0;
  return strides;
}

index_t offset(const extents_t& extents, const extents_t& strides, index_t number) {
  index_t at = 0;
  for (int d = extents.ssize() - 1; d >= 0; --d) {
    at += number % extents[d] * strides[d];
    number /= extents[d];
  }
  return at;
}

double reduce(reduction kind, double a, double b) {
  if (kind == reduction::sum) return a + b;
  if (kind == reduction::product) return a * b;
  return kind == reduction::max ? std::max(a, b) : std::min(a, b);
}

template <class T>
void check(const extents_t& extents, std::uint8_t reduced, int a, int b, int o) {
  extents_t kept = extents;
  for (int d = 0; d < extents.ssize(); ++d)
    if ((reduced >> d & 1) != 0) kept[d] = 1;
  extents_t target = strides_of(kept, o);
  for (int d = 0; d < extents.ssize(); ++d)
    if ((reduced >> d & 1) != 0) target[d] = 0;
  index_t size = 1, room = 1;
  for (index_t e : extents) size *= e;
  for (index_t e : kept) room *= e;
  std::vector<T> first(static_cast<std::size_t>(2 * size) + 1), second(first.size());
  for (std::size_t i = 0; i < first.size(); ++i) {
    first[i] = static_cast<T>(i * 5 % 7 == 0 ? 2 : 1);
    second[i] = static_cast<T>(i * 3 % 11 == 0 ? -1 : 1);
  }
  const auto sa = strides_of(extents, a), sb = strides_of(extents, b);
  for (int k = 0; k < reduction_count; ++k) {
    const auto kind = static_cast<reduction>(k);
    std::vector<T> result(static_cast<std::size_t>(2 * room) + 1, T{77});
    std::vector<double> expected(result.size(), 77);
    // Products of many twos overflow; for them the reference reduces only the second operand.
    const bool product = kind == reduction::product;
    for (index_t i = 0; i < room; ++i)
      expected[static_cast<std::size_t>(offset(kept, target, i))] =
          static_cast<double>(identity_of<T>(kind));
    for (index_t i = 0; i < size; ++i) {
      double& into = expected[static_cast<std::size_t>(offset(extents, target, i))];
      const double p = static_cast<double>(first[static_cast<std::size_t>(offset(extents, sa, i))]);
      const double q =
          static_cast<double>(second[static_cast<std::size_t>(offset(extents, sb, i))]);
      into = reduce(kind, into, product ? q : p * q + 3);
    }
    const strided<const T> views[2] = {{first.data(), extents, sa}, {second.data(), extents, sb}};
    const strided<T> out{result.data(), extents, target};
    if (product)
      run_reduce<T>(kind, y{}, views, out, reduced);
    else
      run_reduce<T>(kind, scaled{{}, {3}}, views, out, reduced);
    for (std::size_t i = 0; i < result.size(); ++i)
      if (static_cast<double>(result[i]) != expected[i]) {
        CAPTURE(extents.ssize(), int{reduced}, a, b, o, k, i);
        REQUIRE(static_cast<double>(result[i]) == expected[i]);
      }
  }
}

template <class T>
void check_all() {
  const extents_t shapes[] = {{},
                              {1},
                              {5},
                              {0},
                              {0, 3},
                              {3, 0},
                              {3, 5},
                              {1, 70},
                              {70, 1},
                              {9, 300},
                              {300, 9},
                              {2, 3, 4},
                              {17, 2, 33},
                              {2, 3, 2, 3},
                              {5, 1100},
                              {1100, 5},
                              {2, 2, 2, 2, 2, 2, 2, 2},
                              {3, 1, 4, 1, 5}};
  for (const extents_t& extents : shapes)
    for (int reduced = 0; reduced < 1 << extents.ssize(); ++reduced)
      for (int a = 0; a < 4; ++a)
        for (int o = 0; o < 3; ++o)
          check<T>(extents, static_cast<std::uint8_t>(reduced), a, (a + o) % 4, o);
}

template <class T>
T total(reduction kind, const std::vector<T>& numbers) {
  T result{};
  const index_t n = static_cast<index_t>(numbers.size());
  const strided<const T> view[1] = {{numbers.data(), {n}, {1}}};
  run_reduce<T>(kind, x{}, view, strided<T>{&result, {n}, {0}}, 1);
  return result;
}

}  // namespace

TEST_CASE("every mask of every shape gives what loops give") {
  check_all<float>();
  check_all<std::int64_t>();
  if (support::is_watched) return;
  check_all<double>();
  check_all<std::int32_t>();
}

TEST_CASE("a million equal floats are summed accurately along any dimension") {
  constexpr index_t n = 1000000;
  const std::vector<float> numbers(n * 2, 0.1F);
  const double exact = n * static_cast<double>(0.1F);
  float whole = 0, columns[2], rows[2];
  const strided<const float> run[1] = {{numbers.data(), {n}, {1}}};
  run_reduce<float>(reduction::sum, x{}, run, strided<float>{&whole, {n}, {0}}, 1);
  CHECK(std::abs(static_cast<double>(whole) - exact) < 1e-6 * exact);
  const strided<const float> tall[1] = {{numbers.data(), {n, 2}, {2, 1}}};
  run_reduce<float>(reduction::sum, x{}, tall, strided<float>{columns, {n, 2}, {0, 1}}, 1);
  const strided<const float> wide[1] = {{numbers.data(), {2, n}, {n, 1}}};
  run_reduce<float>(reduction::sum, x{}, wide, strided<float>{rows, {2, n}, {1, 0}}, 2);
  for (int i = 0; i < 2; ++i) {
    CHECK(std::abs(static_cast<double>(columns[i]) - exact) < 1e-6 * exact);
    CHECK(std::abs(static_cast<double>(rows[i]) - exact) < 1e-6 * exact);
  }
}

TEST_CASE("NaN propagates through every reduction") {
  for (std::size_t n : {1U, 3U, 64U, 100U, 5000U})
    for (std::size_t at : {std::size_t{0}, n / 2, n - 1}) {
      std::vector<float> numbers(n, 1.0F);
      numbers[at] = std::numeric_limits<float>::quiet_NaN();
      for (int k = 0; k < reduction_count; ++k)
        CHECK(std::isnan(total(static_cast<reduction>(k), numbers)));
    }
}

TEST_CASE("each element of a run and each row counts, wherever the last packet begins") {
  for (std::size_t n = 1; n < 300; n += n < 150 ? 1 : 37) {
    std::vector<float> numbers(n, -2.0F);
    index_t wrong = 0;
    for (std::size_t at = 0; at < n; ++at) {
      numbers[at] = 3;
      const auto sum = 5 - 2 * static_cast<float>(n);
      wrong += total(reduction::max, numbers) == 3 && total(reduction::sum, numbers) == sum ? 0 : 1;
      numbers[at] = -2;
    }
    CAPTURE(n);
    CHECK(wrong == 0);
  }
  // Rows are added in pairs, in groups of eight, and in groups of these.
  constexpr index_t columns = 21;
  for (const index_t rows : {1, 7, 8, 9, 16, 63, 64, 65, 128, 577}) {
    std::vector<float> numbers(static_cast<std::size_t>(rows * columns), -2.0F);
    index_t wrong = 0;
    for (index_t r = 0; r < rows; ++r) {
      const auto at = static_cast<std::size_t>(r * columns + r % columns);
      numbers[at] = 3;
      std::vector<float> out(columns);
      run_reduce<float>(reduction::max, x{}, {{numbers.data(), {rows, columns}, {columns, 1}}},
                        {out.data(), {rows, columns}, {0, 1}}, 1);
      for (index_t c = 0; c < columns; ++c)
        wrong += out[static_cast<std::size_t>(c)] == (c == r % columns ? 3.0F : -2.0F) ? 0 : 1;
      numbers[at] = -2;
    }
    CAPTURE(rows);
    CHECK(wrong == 0);
  }
}

TEST_CASE("a sum of negative zeros has the sign of its identity, however many rows there are") {
  constexpr index_t columns = 33;
  for (const index_t rows : {1, 8, 16, 70}) {
    const std::vector<float> numbers(static_cast<std::size_t>(rows * columns), -0.0F);
    std::vector<float> out(columns, 1.0F);
    run_reduce<float>(reduction::sum, x{}, {{numbers.data(), {rows, columns}, {columns, 1}}},
                      {out.data(), {rows, columns}, {0, 1}}, 1);
    CHECK(std::none_of(out.begin(), out.end(), [](float s) { return std::signbit(s); }));
  }
}

TEST_CASE("a reduction of nothing is the identity") {
  CHECK(total<float>(reduction::sum, {}) == 0);
  CHECK(total<float>(reduction::product, {}) == 1);
  CHECK(total<float>(reduction::max, {}) == -std::numeric_limits<float>::infinity());
  CHECK(total<std::int32_t>(reduction::max, {}) == std::numeric_limits<std::int32_t>::min());
  CHECK(total<std::int64_t>(reduction::min, {}) == std::numeric_limits<std::int64_t>::max());
}

TEST_CASE("the bits of a reduction depend on the extents, not on the strides") {
  // Contiguous rows are read in place, eight at a time; contiguous runs in up to eight parts, and
  // in more.
  const std::pair<index_t, index_t> shapes[] = {
      {37, 301}, {64, 301}, {133, 301}, {600, 301}, {3, 1000}, {3, 1024}, {3, 1500},
      {2, 2100}, {2, 3000}, {2, 3600},  {2, 4000},  {2, 4096}, {2, 4097}, {2, 8200}};
  for (const auto& [rows, columns] : shapes) {
    CAPTURE(rows, columns);
    const auto size = static_cast<std::size_t>(rows * columns);
    std::vector<float> dense(size), across(size);
    for (index_t i = 0; i < rows; ++i)
      for (index_t j = 0; j < columns; ++j)
        dense[static_cast<std::size_t>(i * columns + j)] =
            across[static_cast<std::size_t>(j * rows + i)] =
                std::sin(static_cast<float>(i * 7 + j));
    const strided<const float> one[1] = {{dense.data(), {rows, columns}, {columns, 1}}};
    const strided<const float> two[1] = {{across.data(), {rows, columns}, {1, rows}}};
    for (const std::uint8_t mask : {std::uint8_t{1}, std::uint8_t{2}, std::uint8_t{3}}) {
      const inplace_vector<index_t, max_rank> strides{mask == 2 ? 1 : 0, mask == 1 ? 1 : 0};
      std::vector<float> first(size), second(size);
      run_reduce<float>(reduction::sum, x{}, one, {first.data(), {rows, columns}, strides}, mask);
      run_reduce<float>(reduction::sum, x{}, two, {second.data(), {rows, columns}, strides}, mask);
      CHECK(std::memcmp(first.data(), second.data(), first.size() * sizeof(float)) == 0);
    }
  }
}

TEST_CASE("runs of -0 have the sum 0, whatever their length") {
  for (const index_t n : {1, 16, 17, 256, 257, 600, 1000, 2500, 4096, 5000}) {
    CAPTURE(n);
    CHECK(!std::signbit(
        total<float>(reduction::sum, std::vector<float>(static_cast<std::size_t>(n), -0.0F))));
  }
}

TEST_CASE("the NaN of a long run is its maximum, wherever it is") {
  for (const std::size_t n : {300U, 1000U, 2500U, 4000U})
    for (const std::size_t at : {std::size_t{0}, n / 3, n / 2, n - 1}) {
      CAPTURE(n, at);
      std::vector<float> numbers(n, 2.0F);
      numbers[n / 4] = 3;
      CHECK(total<float>(reduction::max, numbers) == 3);
      numbers[at] = std::numeric_limits<float>::quiet_NaN();
      CHECK(std::isnan(total<float>(reduction::max, numbers)));
    }
}

TEST_CASE("short runs beside others have the bits that they have alone") {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  constexpr float numbers[]{0.0F, -0.0F, 1.5F, -2.0F, nan, 7.0F, -0.0F};
  for (const reduction kind : {reduction::sum, reduction::max, reduction::min})
    for (index_t count = 1; count < 40; count += 3)
      for (index_t n = 1; n < 20; ++n) {
        std::vector<float> from(static_cast<std::size_t>(count * n));
        for (std::size_t i = 0; i < from.size(); ++i) from[i] = numbers[i * i % 29 % 7];
        std::vector<float> together(static_cast<std::size_t>(count));
        run_reduce<float>(kind, fused::argument<0>{},
                          {strided<const float>{from.data(), {count, n}, {n, 1}}},
                          {together.data(), {count, n}, {1, 0}}, 2);
        for (index_t r = 0; r < count; ++r) {
          float alone = 0;
          run_reduce<float>(kind, fused::argument<0>{},
                            {strided<const float>{from.data() + r * n, {1, n}, {n, 1}}},
                            {&alone, {1, n}, {1, 0}}, 2);
          const float beside = together[static_cast<std::size_t>(r)];
          const bool are_same = std::isnan(alone) ? std::isnan(beside)
                                                  : std::memcmp(&alone, &beside, sizeof alone) == 0;
          CAPTURE(static_cast<int>(kind), count, n, r, alone, beside);
          if (!are_same) REQUIRE(are_same);
        }
      }
  SUCCEED();
}
