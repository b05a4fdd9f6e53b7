// SPDX-License-Identifier: BSL-1.0
// Quantiles of lines with infinities and NaN, and at fractions at and beyond the ends.
#include "support/catch.hpp"
#include <shardwise/shardwise.hpp>

#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

using namespace shardwise;

namespace {

struct line : mesh<axis<"x", 2>> {};
using lines = sharded_tensor<float, extents<4, 3>, layout<line, P<"x", none>>>;

constexpr float infinity = std::numeric_limits<float>::infinity();

}  // namespace

TEST_CASE("quantiles of lines with infinities and NaN") {
  const device_pool pool(line{}, 2);
  const std::vector<float> elements{infinity,  2, 1,         infinity, 1, infinity,
                                    -infinity, 4, -infinity, 1,        2, std::nanf("")};
  const auto x = distribute<lines>(pool, [&](const global_index& at) {
    return elements[static_cast<std::size_t>(3 * at[0] + at[1])];
  });

  const auto middle = to_host(median<1>(x));
  CHECK(middle(0) == 2.0F);
  CHECK(middle(1) == infinity);
  CHECK(middle(2) == -infinity);
  CHECK(std::isnan(middle(3)));

  const auto between = to_host(quantile<1>(x, 0.25));
  CHECK(between(0) == 1.5F);
  CHECK(between(1) == infinity);
  CHECK(between(2) == -infinity);
  CHECK(std::isnan(between(3)));

  for (const double fraction : {0.0, -3.0, std::nan("")})
    CHECK(to_host(quantile<1>(x, fraction))(0) == 1.0F);
  for (const double fraction : {1.0, 7.0}) CHECK(to_host(quantile<1>(x, fraction))(2) == 4.0F);
}

TEST_CASE("the median of two elements whose difference is no number") {
  const device_pool pool(line{}, 2);
  using pairs = sharded_tensor<float, extents<2, 2>, layout<line, P<"x", none>>>;
  constexpr float largest = std::numeric_limits<float>::max();
  const auto x = distribute<pairs>(pool, std::vector<float>{-infinity, 1, largest, -largest});
  CHECK(to_host(median<1>(x))(0) == -infinity);
  CHECK(to_host(median<1>(x))(1) == 0.0F);
}
