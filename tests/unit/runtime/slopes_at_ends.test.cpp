// SPDX-License-Identifier: BSL-1.0
// Derivatives of elementwise functions where their formulas lose digits or overflow: near the ends
// of the range of operands, and at infinities.
#include "support/catch.hpp"
#include "support/values.hpp"
#include <shardwise/shardwise.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>
#include <vector>

using namespace shardwise;

namespace {

struct pair : mesh<axis<"x", 2>> {};

template <class T>
using row = std::vector<T>;

template <class T>
any_tensor<T> tensor_of(const row<T>& x) {
  static const device_pool pool(pair{}, 2);
  using line = sharded_tensor<T, extents<dyn>, layout<pair, P<"x">, partial<>, uneven>>;
  return any_tensor<T>(distribute<line>(pool, x, static_cast<index_t>(x.size())));
}

/// The derivative of `f`, which is applied to each element, as a function of tensors.
template <class F>
auto slope_of(const F& f) {
  return [f](const auto& x) { return gradient([&](const auto& v) { return sum(f(v)); })(x); };
}
template <class T, class F>
row<T> slopes(const F& f, const row<T>& x) {
  return values(slope_of(f)(tensor_of(x)));
}

/// Compares numbers within a few rounding errors of their type; the smallest numbers count as 0.
template <class T>
void check_near(const char* name, const row<T>& made, const row<double>& wanted) {
  using limits = std::numeric_limits<T>;
  REQUIRE(made.size() == wanted.size());
  for (std::size_t i = 0; i < made.size(); ++i) {
    const double found = static_cast<double>(made[i]);
    const double margin =
        std::max(static_cast<double>(limits::min()),
                 8 * static_cast<double>(limits::epsilon()) * std::abs(wanted[i]));
    CAPTURE(name, i, found, wanted[i]);
    CHECK((found == wanted[i] || std::abs(found - wanted[i]) <= margin));
  }
}

/// The derivative of the derivative.
template <class T, class F>
row<T> bends(const F& f, const row<T>& x) {
  return slopes(slope_of(f), x);
}

/// Checks the first and the second derivative of `f` at some points. No number may be expected but
/// from its limit there.
template <class T, class F>
void check_limits(const char* name, const F& f, const row<T>& at, const row<double>& first,
                  const row<double>& second) {
  check_near<T>(name, slopes(f, at), first);
  check_near<T>(name, bends(f, at), second);
}

template <class T>
void check_ends() {
  constexpr T inf = std::numeric_limits<T>::infinity(), most = std::numeric_limits<T>::max();
  const row<T> ends{inf, most, -most, -inf};
  const row<double> none{0, 0, 0, 0};
  const auto falls_to_none = [&](const char* name, const auto& f) {
    check_limits<T>(name, f, ends, none, none);
  };
  const auto rises = [&](const char* name, const auto& f) {
    check_limits<T>(name, f, ends, {1, 1, 0, 0}, none);
  };
  falls_to_none("tanh", [](const auto& x) { return tanh(x); });
  falls_to_none("sigmoid", [](const auto& x) { return sigmoid(x); });
  falls_to_none("atan", [](const auto& x) { return atan(x); });
  falls_to_none("erf", [](const auto& x) { return erf(x); });
  falls_to_none("erfc", [](const auto& x) { return erfc(x); });
  falls_to_none("soft_sign", [](const auto& x) { return soft_sign(x); });
  falls_to_none("atan2", [](const auto& y) { return atan2(y, T(1)); });
  falls_to_none("atan2", [](const auto& x) { return atan2(T(1), x); });
  rises("softplus", [](const auto& x) { return softplus(x); });
  rises("silu", [](const auto& x) { return silu(x); });
  rises("mish", [](const auto& x) { return mish(x); });
  rises("gelu", [](const auto& x) { return gelu(x); });
  rises("gelu_exact", [](const auto& x) { return gelu_exact(x); });
  rises("hard_swish", [](const auto& x) { return hard_swish(x); });
  rises("logaddexp", [](const auto& x) { return logaddexp(x, T(1)); });
  rises("elu", [](const auto& x) { return elu(x, T(1)); });
  const row<T> infinities{inf, -inf};
  check_limits<T>("asinh", [](const auto& x) { return asinh(x); }, infinities, {0, 0}, {0, 0});
  check_limits<T>("cbrt", [](const auto& x) { return cbrt(x); }, infinities, {0, 0}, {0, 0});
  check_limits<T>("hypot", [](const auto& x) { return hypot(x, T(3)); }, infinities, {1, -1},
                  {0, 0});
  check_limits<T>("acosh", [](const auto& x) { return acosh(x); }, row<T>{inf}, {0}, {0});
}

}  // namespace

TEST_CASE("derivatives at infinities are their limits") {
  check_ends<float>();
  check_ends<double>();
}

TEST_CASE("derivatives of 16-bit elements have no NaN where float has none") {
  const auto is_number = [](float16 x) { return !std::isnan(static_cast<float>(x)); };
  const row<float16> at{float16(std::numeric_limits<float>::infinity()),
                        float16(6e4F),
                        float16(300.F),
                        float16(9.F),
                        float16(-9.F),
                        float16(-300.F)};
  const auto check = [&](const char* name, const auto& f) {
    CAPTURE(name);
    for (const auto& found : {slopes(f, at), bends(f, at)})
      CHECK(std::all_of(found.begin(), found.end(), is_number));
  };
  check("atan", [](const auto& x) { return atan(x); });
  check("asinh", [](const auto& x) { return asinh(x); });
  check("erf", [](const auto& x) { return erf(x); });
  check("silu", [](const auto& x) { return silu(x); });
  check("mish", [](const auto& x) { return mish(x); });
  check("soft_sign", [](const auto& x) { return soft_sign(x); });
  check("gelu_exact", [](const auto& x) { return gelu_exact(x); });
  check("elu", [](const auto& x) { return elu(x, float16(1.F)); });
}

TEST_CASE("slopes are finite where the squares of operands overflow or are 0") {
  const row<float> large{1e25F, 3e38F, -1e25F};
  row<double> inverse, sign_of;
  for (const float x : large) inverse.push_back(1 / std::abs(static_cast<double>(x)));
  check_near<float>("asinh", slopes([](const auto& x) { return asinh(x); }, row<float>{large[0]}),
                    {inverse[0]});
  check_near<float>("acosh", slopes([](const auto& x) { return acosh(x); }, row<float>{large[0]}),
                    {inverse[0]});
  for (const float x : {1e25F, 1e-25F}) {
    // Of the angle of (x, x): half of 1 / x.
    const double half = 0.5 / static_cast<double>(x);
    const auto by_y = [&](const auto& y) { return atan2(y, x); };
    const auto by_x = [&](const auto& v) { return atan2(x, v); };
    check_near<float>("atan2", slopes(by_y, row<float>{x}), {half});
    check_near<float>("atan2", slopes(by_x, row<float>{x}), {-half});
  }
}

TEST_CASE("formulas that avoid overflow and cancellation keep second derivatives") {
  const row<double> at{-1, 1, 0.5, 2};
  row<double> first(4), second(4);
  for (std::size_t i = 0; i < at.size(); ++i) {
    first[i] = 1 / std::sqrt(1 + at[i] * at[i]);
    second[i] = -at[i] * std::pow(first[i], 3);
  }
  check_limits<double>(
      "asinh", [](const auto& x) { return asinh(x); }, at, first, second);
  const row<float> inside{1e-30F, -1e-4F, 0.5F, 0.9F};
  for (const bool is_root : {true, false}) {
    row<double> slope, bend;
    for (const float x : inside) {
      const double rest = (1.0 - x) * (1.0 + x);
      slope.push_back(is_root ? 1 / std::sqrt(rest) : 1 / rest);
      bend.push_back(is_root ? x * std::pow(rest, -1.5) : 2 * x / (rest * rest));
    }
    if (is_root)
      check_limits<float>(
          "asin", [](const auto& x) { return asin(x); }, inside, slope, bend);
    else
      check_limits<float>(
          "atanh", [](const auto& x) { return atanh(x); }, inside, slope, bend);
  }
}

TEST_CASE("mish and soft_sign have limits at infinities, and slopes with all digits elsewhere") {
  constexpr float inf = std::numeric_limits<float>::infinity();
  const auto x = tensor_of(row<float>{inf, -inf});
  CHECK(values(mish(x)) == row<float>{inf, 0});
  CHECK(values(soft_sign(x)) == row<float>{1, -1});
  const row<double> at{-30, -1, 0, 0.5, 1, 3, 1000};
  row<double> mish_slope, mish_bend, soft_slope, soft_bend;
  for (const double v : at) {
    const double share = 1 / (1 + std::exp(-v)), t = std::tanh(std::log1p(std::exp(v)));
    const double steep = v > 100 ? 0 : share / std::pow(std::cosh(std::log1p(std::exp(v))), 2);
    mish_slope.push_back(v > 100 ? 1 : t + v * steep);
    mish_bend.push_back(steep * (2 + v * (1 - share - 2 * t * share)));
    soft_slope.push_back(1 / std::pow(1 + std::abs(v), 2));
    soft_bend.push_back(v == 0 ? 0 : -2 * std::copysign(1.0, v) / std::pow(1 + std::abs(v), 3));
  }
  check_limits<double>(
      "soft_sign", [](const auto& v) { return soft_sign(v); }, at, soft_slope, soft_bend);
  const auto of_mish = [](const auto& v) { return mish(v); };
  check_near<double>("mish", slopes(of_mish, at), mish_slope);
  require_close(bends(of_mish, at), mish_bend);
}

TEST_CASE("slopes of inverse functions keep their digits near the ends of their domains") {
  const float near_one = 1 - std::numeric_limits<float>::epsilon();
  for (const float x : {near_one, 0.9999F, 0.99F, 0.5F}) {
    const double exact = x, rest = (1 - exact) * (1 + exact);
    const row<float> at{x, -x};
    const double root = 1 / std::sqrt(rest);
    check_near<float>("asin", slopes([](const auto& v) { return asin(v); }, at), {root, root});
    check_near<float>("acos", slopes([](const auto& v) { return acos(v); }, at), {-root, -root});
    check_near<float>("atanh", slopes([](const auto& v) { return atanh(v); }, at),
                      {1 / rest, 1 / rest});
  }
}

TEST_CASE("slopes of elu and celu far below 0 are those of an exponential") {
  const row<float> at{-1, -10, -20, -80};
  row<double> exponentials, scaled;
  for (const float x : at) {
    exponentials.push_back(std::exp(x));
    scaled.push_back(std::exp(x) * 1e4);
  }
  check_near<float>("elu", slopes([](const auto& v) { return elu(v, 1.0F); }, at), exponentials);
  check_near<float>("elu", slopes([](const auto& v) { return elu(v, 1e4F); }, at), scaled);
  check_near<float>("celu", slopes([](const auto& v) { return celu(v, 1.0F); }, at), exponentials);
  const row<float16> narrow{float16(-1.F), float16(-4.F), float16(-8.F)};
  check_near<float16>("celu", slopes([](const auto& v) { return celu(v, 1.0F); }, narrow),
                      {std::exp(-1.0), std::exp(-4.0), std::exp(-8.0)});
}

TEST_CASE("sinc and its derivatives keep their digits near 0") {
  const auto f = [](const auto& x) { return sinc(x); };
  // The first terms of its series, up to 0.01.
  const auto series = [](double x, double value, double second, double fourth) {
    const double square = std::pow(x * std::numbers::pi, 2);
    return value - square * (second - square * fourth);
  };
  const auto check = [&]<class T>(T) {
    const row<T> at{0, T(1e-30), T(-1e-10), T(1e-4), T(-1e-3), T(0.002)};
    row<double> value, first, second;
    constexpr double curve = std::numbers::pi * std::numbers::pi / 3;
    for (const T given : at) {
      const double x = given;
      value.push_back(series(x, 1, 1.0 / 6, 1.0 / 120));
      first.push_back(-curve * x * series(x, 1, 1.0 / 10, 1.0 / 280));
      second.push_back(-curve * series(x, 1, 3.0 / 10, 5.0 / 280));
    }
    check_near<T>("sinc", values(f(tensor_of(at))), value);
    check_limits<T>("sinc", f, at, first, second);
  };
  check(float{});
  check(double{});
  // On both sides of the point where the formula changes, and there.
  const row<double> at{-0.126, 0.124, 0.125, 0.25, 1.5};
  row<double> first, second;
  for (const double x : at) {
    const double a = x * std::numbers::pi;
    const double slope = (std::cos(a) - std::sin(a) / a) / x;
    first.push_back(slope);
    second.push_back(-std::numbers::pi * std::sin(a) / x - 2 * slope / x);
  }
  const auto slope = slopes(f, at), bend = bends(f, at);
  for (std::size_t i = 0; i < at.size(); ++i) {
    CHECK(slope[i] == Approx(first[i]).epsilon(1e-13));
    CHECK(bend[i] == Approx(second[i]).epsilon(1e-12));
  }
}
