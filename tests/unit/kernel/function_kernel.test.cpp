// SPDX-License-Identifier: BSL-1.0
#include "shardwise/kernel/function_kernels.hpp"
#include "support/catch.hpp"

#include <Eigen/Core>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

using namespace shardwise;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// Applies a function to the same numbers in every lane of a packet; the lanes must be equal.
template <class F, class T, class... Numbers>
T of(Numbers... numbers) {
  using P = typename Eigen::internal::packet_traits<T>::type;
  T lanes[sizeof(P) / sizeof(T)];
  Eigen::internal::pstoreu(lanes,
                           kernel<F>::run(Eigen::internal::pset1<P>(static_cast<T>(numbers))...));
  for (T lane : lanes)
    if (std::memcmp(&lane, lanes, sizeof(T)) != 0) FAIL("lanes differ");
  return lanes[0];
}

/// Checks that packets and scalars give the same results up to rounding.
template <class F, class T, class... Numbers>
void check(double expected, Numbers... numbers) {
  const double results[] = {of<F, T>(numbers...), kernel<F>::run(static_cast<T>(numbers)...)};
  for (double result : results) {
    CAPTURE(F::symbol.data(), sizeof(T), result, expected);
    if (std::isnan(expected))
      CHECK(std::isnan(result));
    else if (std::isinf(expected) || expected == 0)
      CHECK(result == expected);
    else
      CHECK(std::abs(result - expected) <=
            4 * std::numeric_limits<T>::epsilon() * std::abs(expected));
  }
}

/// The largest error over an interval, relative to the larger of the value and `floor`.
template <class F, class T, class Reference>
double worst_error(double low, double high, double floor, Reference reference) {
  double worst = 0;
  for (int i = 0; i <= 20000; ++i) {
    const T number = static_cast<T>(low + (high - low) * i / 20000);
    const double expected = reference(static_cast<double>(number));
    const double error = std::abs(static_cast<double>(of<F, T>(number)) - expected);
    worst = std::max(worst, error / std::max(floor, std::abs(expected)));
  }
  return worst;
}

double exact_gelu(double v) {
  return 0.5 * v * (1 + std::tanh(0.79788456080286535588 * (v + 0.044715 * v * v * v)));
}

template <class T>
void check_special_numbers() {
  namespace g = functions;
  const double greatest = std::numeric_limits<T>::max();
  check<g::relu, T>(nan, nan);
  check<g::relu, T>(0, -infinity);
  check<g::relu, T>(infinity, infinity);
  check<g::relu, T>(0, -0.0);
  check<g::maximum, T>(nan, nan, 1);
  check<g::maximum, T>(nan, 1, nan);
  check<g::maximum, T>(2, 1, 2);
  check<g::maximum, T>(infinity, infinity, -infinity);
  check<g::minimum, T>(nan, nan, 1);
  check<g::minimum, T>(nan, 1, nan);
  check<g::minimum, T>(1, 1, 2);
  check<g::minimum, T>(-infinity, infinity, -infinity);
  check<g::abs, T>(nan, nan);
  check<g::abs, T>(infinity, -infinity);
  check<g::equal, T>(0, nan, nan);
  check<g::equal, T>(1, 3, 3);
  check<g::equal, T>(1, 0.0, -0.0);
  check<g::less, T>(0, nan, 1);
  check<g::less, T>(1, -1, 1);
  check<g::less, T>(0, 1, 1);
  for (double other : {-1.0, 1.0, nan, infinity}) {
    check<g::not_equal, T>(1, nan, other);
    check<g::not_equal, T>(1, other, nan);
    check<g::less_equal, T>(0, nan, other);
    check<g::less_equal, T>(0, other, nan);
    check<g::greater, T>(0, nan, other);
    check<g::greater, T>(0, other, nan);
    check<g::greater_equal, T>(0, nan, other);
    check<g::greater_equal, T>(0, other, nan);
  }
  check<g::not_equal, T>(0, 0.0, -0.0);
  check<g::not_equal, T>(1, -1, 1);
  check<g::less_equal, T>(1, -1, 1);
  check<g::less_equal, T>(1, 0.0, -0.0);
  check<g::less_equal, T>(0, 1, -infinity);
  check<g::greater, T>(1, 1, -1);
  check<g::greater, T>(0, 0.0, -0.0);
  check<g::greater, T>(1, infinity, 1);
  check<g::greater_equal, T>(0, -1, 1);
  check<g::greater_equal, T>(1, 1, 1);
  check<g::greater_equal, T>(1, infinity, infinity);
  check<g::where, T>(5, nan, 5, 6);
  check<g::where, T>(6, -0.0, 5, 6);
  check<g::where, T>(5, 0.25, 5, nan);
  check<g::where, T>(6, 0, nan, 6);
  check<g::divide, T>(infinity, 1, 0);
  check<g::sqrt, T>(infinity, infinity);
  check<g::sqrt, T>(nan, -1);
  check<g::sqrt, T>(nan, nan);
  check<g::sqrt, T>(0, 0);
  check<g::sqrt, T>(std::sqrt(greatest), greatest);
  check<g::exp, T>(0, -infinity);
  check<g::exp, T>(0, -greatest);
  check<g::exp, T>(infinity, infinity);
  check<g::exp, T>(infinity, 1000);
  check<g::exp, T>(nan, nan);
  check<g::exp, T>(1, 0);
  check<g::log, T>(-infinity, 0);
  check<g::log, T>(nan, -1);
  check<g::log, T>(nan, nan);
  check<g::log, T>(infinity, infinity);
  check<g::log, T>(0, 1);
  check<g::tanh, T>(1, infinity);
  check<g::tanh, T>(-1, -greatest);
  check<g::tanh, T>(nan, nan);
  check<g::tanh, T>(1e-30, 1e-30);
  check<g::sigmoid, T>(1, infinity);
  check<g::sigmoid, T>(0, -infinity);
  check<g::sigmoid, T>(1, greatest);
  check<g::sigmoid, T>(0, -greatest);
  check<g::sigmoid, T>(nan, nan);
  check<g::sigmoid, T>(0.5, 0);
  check<g::gelu, T>(infinity, infinity);
  check<g::gelu, T>(0, -infinity);
  check<g::gelu, T>(greatest, greatest);
  check<g::gelu, T>(0, -greatest);
  check<g::gelu, T>(nan, nan);
}

}  // namespace

TEST_CASE("NaN, infinities and ends are the same in packets and scalars") {
  check_special_numbers<float>();
  check_special_numbers<double>();
}

TEST_CASE("the errors of the functions are as documented") {
  namespace g = functions;
  const auto exp = [](double v) { return std::exp(v); };
  const auto log = [](double v) { return std::log(v); };
  const auto tanh = [](double v) { return std::tanh(v); };
  const auto sigmoid = [](double v) { return 1 / (1 + std::exp(-v)); };
  CHECK(worst_error<g::exp, float>(-87, 88, 0, exp) < 3.5e-7);
  CHECK(worst_error<g::exp, double>(-700, 700, 0, exp) < 5e-16);
  CHECK(worst_error<g::log, float>(1e-3, 10, 0, log) < 1.5e-7);
  CHECK(worst_error<g::log, double>(1e-3, 10, 0, log) < 4e-16);
  CHECK(worst_error<g::tanh, float>(-9, 9, 0, tanh) < 5e-7);
  CHECK(worst_error<g::tanh, double>(-9, 9, 0, tanh) < 6e-16);
  CHECK(worst_error<g::sigmoid, float>(-80, 80, 0, sigmoid) < 5e-7);
  CHECK(worst_error<g::sigmoid, double>(-80, 80, 0, sigmoid) < 1e-15);
  CHECK(worst_error<g::gelu, float>(-9, 9, 1, exact_gelu) < 1e-6);
  CHECK(worst_error<g::gelu, double>(-9, 9, 1, exact_gelu) < 2e-15);
}

TEST_CASE("square roots are correctly rounded") {
  for (std::uint32_t bits = 0x00000001; bits < 0x7f800000; bits += 6007) {
    const float number = std::bit_cast<float>(bits);
    if (of<functions::sqrt, float>(number) != std::sqrt(number)) REQUIRE(number == 0);
  }
  for (double number = 1e-300; number < 1e300; number *= 1.37)
    if (of<functions::sqrt, double>(number) != std::sqrt(number)) REQUIRE(number == 0);
}

TEST_CASE("integers wrap around and never trap") {
  namespace g = functions;
  constexpr std::int32_t least = std::numeric_limits<std::int32_t>::min();
  constexpr std::int32_t greatest = std::numeric_limits<std::int32_t>::max();
  CHECK(kernel<g::add>::run(greatest, 1) == least);
  CHECK(kernel<g::subtract>::run(least, 1) == greatest);
  CHECK(kernel<g::multiply>::run(greatest, 2) == -2);
  CHECK(kernel<g::negate>::run(least) == least);
  CHECK(kernel<g::abs>::run(least) == least);
  CHECK(kernel<g::abs>::run(-3) == 3);
  CHECK(kernel<g::divide>::run(7, 0) == 0);
  CHECK(kernel<g::divide>::run(least, -1) == least);
  CHECK(kernel<g::divide>::run(-7, 2) == -3);
  CHECK(kernel<g::maximum>::run(std::int64_t{-1}, std::int64_t{1}) == 1);
  CHECK(kernel<g::minimum>::run(std::int64_t{-1}, std::int64_t{1}) == -1);
  CHECK(kernel<g::relu>::run(std::int64_t{-1}) == 0);
  CHECK(kernel<g::square>::run(std::int64_t{-3}) == 9);
  CHECK(kernel<g::equal>::run(4, 4) == 1);
  CHECK(kernel<g::less>::run(4, 4) == 0);
  CHECK(kernel<g::less_equal>::run(4, 4) == 1);
  CHECK(kernel<g::less_equal>::run(least, greatest) == 1);
  CHECK(kernel<g::greater>::run(4, 4) == 0);
  CHECK(kernel<g::greater>::run(greatest, least) == 1);
  CHECK(kernel<g::greater_equal>::run(4, 4) == 1);
  CHECK(kernel<g::greater_equal>::run(least, greatest) == 0);
  CHECK(kernel<g::where>::run(7, 1, 2) == 1);
  CHECK(kernel<g::where>::run(0, 1, 2) == 2);
}
