// SPDX-License-Identifier: BSL-1.0
#include "shardwise/tensor/random.hpp"

#include "shardwise/kernel/random_work.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

using namespace shardwise;

namespace {

struct number_pair {
  double first, second;
};

struct words {
  std::uint32_t a, b, c, d;
  friend constexpr bool operator==(const words&, const words&) = default;
};

constexpr words philox_of(words counter, std::uint32_t key0, std::uint32_t key1) {
  philox<1> block{{{counter.a}, {counter.b}, {counter.c}, {counter.d}}};
  block.run(key0, key1);
  return {block.words[0][0], block.words[1][0], block.words[2][0], block.words[3][0]};
}

// The known answers that are published with the generator.
static_assert(philox_of({0, 0, 0, 0}, 0, 0) ==
              words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
static_assert(philox_of({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, 0xffffffff, 0xffffffff) ==
              words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
static_assert(philox_of({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, 0xa4093822, 0x299f31d0) ==
              words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});

static_assert(uniform<float>(random_key{1}, 0) >= 0 && uniform<float>(random_key{1}, 0) < 1);
static_assert(uniform<double>(random_key{1}, 5) != uniform<double>(random_key{2}, 5));
static_assert(random_key{1}.fold_in(0) != random_key{1}.split(0));
static_assert(random_key{1}.split(0) != random_key{1}.split(1));
static_assert(random_key{1}.split(0) != random_key{2}.split(0));
static_assert(random_key{1}.fold_in(7) == random_key{1}.fold_in(7));

template <class T>
std::vector<T> many(bool normal, random_key source, std::uint64_t first, std::size_t n) {
  std::vector<T> numbers(n);
  if (normal)
    fill_normal(source, first, numbers.data(), static_cast<index_t>(n));
  else
    fill_uniform(source, first, numbers.data(), static_cast<index_t>(n));
  return numbers;
}

/// The largest distance between the distribution of a sample and the expected one.
template <class T, class Cumulative>
double kolmogorov(std::vector<T> sample, Cumulative cumulative) {
  std::sort(sample.begin(), sample.end());
  double worst = 0;
  const double n = static_cast<double>(sample.size());
  for (std::size_t i = 0; i < sample.size(); ++i) {
    const double expected = cumulative(static_cast<double>(sample[i]));
    worst = std::max({worst, std::abs(expected - static_cast<double>(i) / n),
                      std::abs(expected - static_cast<double>(i + 1) / n)});
  }
  return worst;
}

double mean_of_products(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum / static_cast<double>(a.size());
}

template <class T>
void check_blocks() {
  for (const bool is_normal : {false, true}) {
    const random_key source{0x123456789abcdef};
    for (const std::uint64_t first : {std::uint64_t{0}, (std::uint64_t{1} << 34U) - 9}) {
      std::vector<T> one(300);
      for (std::size_t i = 0; i < one.size(); ++i)
        one[i] = is_normal ? normal<T>(source, first + i) : uniform<T>(source, first + i);
      for (std::size_t from = 0; from < 40; ++from)
        for (std::size_t n = 0; from + n <= one.size(); n += n < 70 ? 1 : 37) {
          const auto block = many<T>(is_normal, source, first + from, n);
          const bool same =
              n == 0 || std::memcmp(block.data(), one.data() + from, n * sizeof(T)) == 0;
          if (!same) REQUIRE((same && from == n));
        }
    }
  }
}

template <class T>
void check_distributions() {
  constexpr std::size_t n = 200000;
  const double bound =
      1.63 / std::sqrt(static_cast<double>(n));  // one sample in a hundred is beyond
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    const auto u = many<T>(false, random_key{seed}, 0, n),
               g = many<T>(true, random_key{seed}, 0, n);
    CHECK(*std::min_element(u.begin(), u.end()) >= 0);
    CHECK(*std::max_element(u.begin(), u.end()) < 1);
    CHECK(kolmogorov(u, [](double x) { return x; }) < bound);
    CHECK(kolmogorov(g, [](double x) { return std::erfc(-x / std::sqrt(2.0)) / 2; }) < bound);
    double mean = 0, variance = 0, fourth = 0;
    for (T x : g) {
      const double d = static_cast<double>(x);
      mean += d / n;
      variance += d * d / n;
      fourth += d * d * d * d / n;
    }
    CHECK(std::abs(mean) < 0.01);
    CHECK(std::abs(variance - 1) < 0.015);
    CHECK(std::abs(fourth - 3) < 0.15);
  }
}

}  // namespace

TEST_CASE("a block has the bits of its elements wherever it begins") {
  check_blocks<float>();
  check_blocks<double>();
}

TEST_CASE("numbers are distributed as they should be") {
  check_distributions<float>();
  check_distributions<double>();
}

TEST_CASE("keys, folded keys and neighbours are independent") {
  constexpr std::size_t n = 100000;
  const random_key source{7};
  const auto base = many<double>(true, source, 0, n);
  for (const random_key other :
       {random_key{8}, source.fold_in(0), source.fold_in(1), source.split(0)})
    CHECK(std::abs(mean_of_products(base, many<double>(true, other, 0, n))) < 0.015);
  CHECK(std::abs(mean_of_products(base, many<double>(true, source, 1, n))) < 0.015);
  CHECK(std::abs(mean_of_products(base, many<double>(true, source, 2, n))) < 0.015);
}

template <class Bits>
number_pair normal_of(Bits a, Bits b) {
  internal::normal_arguments<1> x;
  internal::set_argument(x, 0, a, b);
  internal::normal_pairs(x, sizeof(Bits) == 4 ? 33 : 53);
  return {x.turn[0], x.odd[0]};
}

TEST_CASE("normal numbers are Box and Muller's within the documented error") {
  const double pi = std::acos(-1.0);
  double worst = 0;
  const auto check = [&](double u, double turn, number_pair pair) {
    const double radius = std::sqrt(-2 * std::log(u));
    worst = std::max({worst, std::abs(pair.first - radius * std::cos(2 * pi * turn)) / radius,
                      std::abs(pair.second - radius * std::sin(2 * pi * turn)) / radius});
  };
  for (std::uint64_t i = 0; i < 100000; ++i) {
    const auto block = internal::random_words<1>(3, internal::stream::normal, i);
    const std::uint32_t a = block.words[0][0], b = block.words[1][0];
    check((a + 0.5) * 0x1p-32, b * 0x1p-32, normal_of(a, b));
    const std::uint64_t c = internal::join(block.words[2][0], a);
    const std::uint64_t d = internal::join(block.words[3][0], b);
    check((static_cast<double>(c >> 12U) + 0.5) * 0x1p-52, static_cast<double>(d) * 0x1p-64,
          normal_of(c, d));
  }
  CHECK(worst < 1e-7);
  // The ends of the range: the largest radius, and no square root of a negative number.
  CHECK(normal_of(0U, 0U).first == Approx(6.7637).epsilon(1e-4));
  CHECK(normal_of(0xffffffffU, 0U).first < 1e-4);
  CHECK(normal_of(std::uint64_t{0}, std::uint64_t{0}).first == Approx(8.5717).epsilon(1e-4));
  CHECK(normal_of(~std::uint64_t{0}, std::uint64_t{0}).first >= 0);
}

TEST_CASE("random bits never change") {
  // A sum over many numbers, which detects any different bit on any compiler or machine.
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < 100000; ++i) {
    sum = sum * 31 + std::bit_cast<std::uint32_t>(normal<float>(random_key{42}, i));
    sum = sum * 31 + std::bit_cast<std::uint64_t>(normal<double>(random_key{42}, i));
    sum = sum * 31 + std::bit_cast<std::uint32_t>(uniform<float>(random_key{42}, i));
    sum = sum * 31 + std::bit_cast<std::uint64_t>(uniform<double>(random_key{42}, i));
  }
  CHECK(sum == 0x97fde23a09e9e8fcU);
}
