// SPDX-License-Identifier: BSL-1.0
// Reversed dimensions that are split, whose devices exchange their shards.
#include "support/catch.hpp"
#include <shardwise/shardwise.hpp>

using namespace shardwise;

namespace {

struct pod : mesh<axis<"x", 2>, axis<"y", 3>> {};
template <index_t Rows, class Spec>
using field = sharded_tensor<float, extents<Rows, 4>, layout<pod, Spec, partial<>, uneven>>;

/// The number of elements of reversed consecutive numbers that are not where they belong.
template <class Y>
int wrong_in(const Y& y, index_t rows, bool columns_too) {
  const auto all = to_host(y);
  int wrong = 0;
  for (index_t i = 0; i < rows; ++i)
    for (index_t j = 0; j < 4; ++j) {
      const index_t from = (rows - 1 - i) * 4 + (columns_too ? 3 - j : j);
      wrong += all(i, j) == static_cast<float>(from) ? 0 : 1;
    }
  return wrong;
}

template <class X, int... Dims>
void check_flip(device_pool& pool, index_t bytes) {
  constexpr index_t rows = X::extents_type::value[0];
  constexpr auto reversed = [](const auto& v) { return flip<Dims...>(v, across<"x", "y">); };
  const auto x = iota<X>(pool);
  CAPTURE(rows, sizeof...(Dims), type_name<X>().c_str());
  pool.reset_counters();
  const auto y = reversed(x);
  sync(y);
  CHECK(pool.counters() == trace(reversed, abstract<X>()));
  CHECK(pool.counters().bytes_moved() == bytes);
  CHECK(wrong_in(y, rows, sizeof...(Dims) == 2) == 0);
  // The same program with a layout that is a value.
  const any_tensor<float> any = x;
  const auto z = reversed(any);
  CHECK(explain(reversed(any)) == explain(reversed(x)));
  CHECK(wrong_in(z, rows, sizeof...(Dims) == 2) == 0);
  // The gradient of a product with a constant is the constant, reversed.
  const auto slope =
      gradient([&](const auto& v) { return sum(reversed(v) * stop_gradient(x)); })(x);
  CHECK(wrong_in(slope, rows, sizeof...(Dims) == 2) == 0);
}

}  // namespace

TEST_CASE("Devices that split dimensions reverse them, or they are gathered") {
  device_pool pool{pod{}};
  // A shard of 6, 4 or 2 rows of 16 bytes.
  check_flip<field<12, P<"x", none>>, 0>(pool, 96);
  check_flip<field<12, P<"y", none>>, 0>(pool, 64);
  check_flip<field<12, P<by("y", "x"), none>>, 0, 1>(pool, 32);
  // 4 rows and 2 columns, along each axis.
  check_flip<field<12, P<"y", "x">>, 0, 1>(pool, 64);
  check_flip<field<12, P<"y", "x">>, 0>(pool, 32);
  // What is not divided evenly, or not into contiguous parts, is gathered.
  check_flip<field<7, P<"x", none>>, 0>(pool, 64);
  check_flip<field<12, P<cyclic("x"), none>>, 0>(pool, 96);
}

TEST_CASE("A flip over several axes keeps the layout") {
  using X = field<12, P<by("x", "y"), none>>;
  const auto y = [](const auto& x) { return flip<0>(x, across<"x", "y">); };
  static_assert(std::is_same_v<decltype(y(abstract<X>())), decltype(abstract<X>())>);
  static_assert(trace(y, abstract<X>()).collectives(collective::collective_permute) == 1);
}
