// SPDX-License-Identifier: BSL-1.0
// Places in sorted sequences with NaNs, which a sort puts at the end.
#include "support/catch.hpp"
#include <shardwise/shardwise.hpp>

#include <cstdint>
#include <limits>
#include <vector>

using namespace shardwise;

namespace {

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
struct one : mesh<axis<"x", 1>> {};
struct four : mesh<axis<"x", 4>> {};

std::vector<std::int64_t> values(const auto& x) {
  const auto host = to_host(x);
  return {host.elements().begin(), host.elements().end()};
}
constexpr auto left = [](const auto& a, const auto& v) { return searchsorted(a, v); };
constexpr auto right = [](const auto& a, const auto& v) {
  return searchsorted<search_side::right>(a, v);
};

template <class Mesh, class Sorted, class Values>
void agree() {
  using S = sharded_tensor<float, extents<8>, layout<Mesh, Sorted>>;
  using V = sharded_tensor<float, extents<4>, layout<Mesh, Values>>;
  const device_pool pool{Mesh{}};
  const S sorted =
      reshard<Sorted>(sort<0>(distribute<sharded_tensor<float, extents<8>, layout<Mesh, P<none>>>>(
          pool, std::vector<float>{nan, 5, 1, 3, nan, 3, 2, nan})));
  const V v = distribute<V>(pool, std::vector<float>{3, nan, 6, 0});
  const auto check = [](const auto& f, const S& s, const V& x, const auto& want) {
    REQUIRE(values(reshard<P<none>>(f(s, x))) == want);
    REQUIRE(values(reshard<P<none>>(f(any_tensor<float>(s), any_tensor<float>(x)))) == want);
  };
  check(left, sorted, v, std::vector<std::int64_t>{2, 5, 5, 0});
  check(right, sorted, v, std::vector<std::int64_t>{4, 8, 5, 0});
}

}  // namespace

TEST_CASE("a value that is NaN is searched where a sort puts it") {
  agree<one, P<none>, P<none>>();
  agree<four, P<none>, P<none>>();
  agree<four, P<"x">, P<none>>();
  agree<four, P<none>, P<"x">>();
}

TEST_CASE("rows with NaNs are searched for a batch of values") {
  const device_pool pool{four{}};
  using rows = sharded_tensor<float, extents<2, 4>, layout<four, P<none, "x">>>;
  const auto sorted = distribute<rows>(pool, std::vector<float>{1, 2, 3, nan, 4, nan, nan, nan});
  const auto v = distribute<sharded_tensor<float, extents<2, 2>, layout<four, P<none, none>>>>(
      pool, std::vector<float>{nan, 2, 4, nan});
  REQUIRE(values(reshard<P<none, none>>(left(sorted, v))) == std::vector<std::int64_t>{3, 1, 0, 1});
  REQUIRE(values(reshard<P<none, none>>(right(sorted, v))) ==
          std::vector<std::int64_t>{4, 2, 1, 4});
}
