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

/// Compares numbers within a few rounding errors of their type.
template <class T>
void check_near(const char* name, const row<T>& made, const row<double>& wanted) {
  REQUIRE(made.size() == wanted.size());
  for (std::size_t i = 0; i < made.size(); ++i) {
    const double epsilon =
        static_cast<double>(static_cast<float>(std::numeric_limits<T>::epsilon()));
    const double found = static_cast<double>(made[i]);
    CAPTURE(name, i, found, wanted[i]);
    CHECK((found == wanted[i] || std::abs(found - wanted[i]) <= 8 * epsilon * std::abs(wanted[i])));
  }
}

}  // namespace

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
