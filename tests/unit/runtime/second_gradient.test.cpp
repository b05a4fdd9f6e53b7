// SPDX-License-Identifier: BSL-1.0
// With headers alone, a program that takes a gradient has the kernels of the gradient of what this
// gradient computes too.
#include "support/catch.hpp"
#include "support/values.hpp"
#include <shardwise/shardwise.hpp>

#include <cmath>
#include <cstddef>
#include <vector>

using namespace shardwise;

namespace {

struct pair : mesh<axis<"data", 2>> {};
using X = sharded_tensor<double, extents<4, 4>, layout<pair, P<"data", none>>>;

/// The gradient of the squares of the gradient of `f`, beside central differences of these squares.
template <class F>
void check_second_gradient(const device_pool& pool, const F& f) {
  const auto loss = [&](const auto& x) { return reshard<P<>>(sum(square(f(x)))); };
  const auto squares = [&](const auto& x) { return reshard<P<>>(sum(square(gradient(loss)(x)))); };
  const X x = uniform<X>(pool, random_key{1});
  const std::vector<double> found = values(gradient(squares)(x));
  std::vector<double> at = values(x);
  for (const std::size_t i : {std::size_t{0}, std::size_t{6}, std::size_t{15}}) {
    const double here = at[i], step = 1e-5;
    const auto moved = [&](double by) {
      at[i] = here + by;
      const double made = to_host(squares(distribute<X>(pool, at)))();
      at[i] = here;
      return made;
    };
    const double slope = (moved(step) - moved(-step)) / (2 * step);
    CHECK(std::abs(found[i] - slope) <= 1e-5 * std::max(1.0, std::abs(slope)));
  }
}

}  // namespace

TEST_CASE("gradients of gradients have their kernels") {
  const device_pool pool{pair{}};
  check_second_gradient(pool, [](const auto& x) { return sort<1>(x); });
  check_second_gradient(pool, [](const auto& x) { return top_k<1, 2>(x).first; });
  check_second_gradient(pool, [](const auto& x) { return median<1>(x); });
  check_second_gradient(pool, [](const auto& x) { return concatenate<1>(x, square(x)); });
  check_second_gradient(pool, [](const auto& x) { return stack<1>(x, square(x)); });
  check_second_gradient(pool, [](const auto& x) { return cumprod<1>(x); });
  check_second_gradient(pool, [](const auto& x) { return max<1>(x); });
  check_second_gradient(pool, [](const auto& x) {
    return linalg::determinant(reshape<extents<4, 2, 2>>(x) * reshape<extents<4, 2, 2>>(x));
  });
}
