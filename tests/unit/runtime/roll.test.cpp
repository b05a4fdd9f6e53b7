// SPDX-License-Identifier: BSL-1.0
// Rolls of split dimensions, whose devices exchange the elements that cross their boundaries.
#include "support/catch.hpp"
#include <shardwise/shardwise.hpp>

#include <utility>
#include <vector>

using namespace shardwise;

namespace {

struct pod : mesh<axis<"x", 2>, axis<"y", 3>> {};
template <index_t Rows, class Spec>
using field = sharded_tensor<float, extents<Rows, 4>, layout<pod, Spec, partial<>, uneven>>;

/// The number of elements of a roll along dimension 0 of consecutive numbers that are not where
/// they belong.
template <class Y>
int wrong_in(const Y& y, index_t rows, index_t places) {
  const auto all = to_host(y);
  int wrong = 0;
  for (index_t i = 0; i < rows; ++i)
    for (index_t j = 0; j < 4; ++j) {
      const index_t from = ((i - places) % rows + rows) % rows;
      wrong += all(i, j) == static_cast<float>(from * 4 + j) ? 0 : 1;
    }
  return wrong;
}

template <class X, index_t Places>
void check_roll(device_pool& pool) {
  constexpr index_t rows = X::extents_type::value[0];
  constexpr auto rolled = [](const auto& v) { return roll<0, Places>(v, across<"x", "y">); };
  const auto x = iota<X>(pool);
  CAPTURE(rows, Places, type_name<X>().c_str());
  pool.reset_counters();
  const auto y = rolled(x);
  CHECK(wrong_in(y, rows, Places) == 0);
  CHECK(pool.counters() == trace(rolled, abstract<X>()));
  // The same program with a layout that is a value.
  const any_tensor<float> any = x;
  const auto z = rolled(any);
  CHECK(explain(rolled(any)) == explain(rolled(x)));
  CHECK(wrong_in(z, rows, Places) == 0);
  // The gradient of a product with a constant is the constant, rolled back.
  const auto slope = gradient([&](const auto& v) { return sum(rolled(v) * stop_gradient(x)); })(x);
  CHECK(wrong_in(slope, rows, -Places) == 0);
}
template <class X>
void check_rolls(device_pool& pool) {
  [&]<index_t... Places>(std::integer_sequence<index_t, Places...>) {
    (check_roll<X, Places>(pool), ...);
  }
  (std::integer_sequence<index_t, 1, -1, 2, 5, 12, 13, -29>{});
}

}  // namespace

TEST_CASE("Devices that split a dimension roll it, or it is gathered") {
  device_pool pool{pod{}};
  check_rolls<field<12, P<"x", none>>>(pool);
  check_rolls<field<12, P<by("y", "x"), none>>>(pool);
  check_rolls<field<6, P<by("x", "y"), none>>>(pool);
  check_rolls<field<18, P<"y", "x">>>(pool);
  check_rolls<field<7, P<"x", none>>>(pool);
  check_rolls<field<12, P<cyclic("x"), none>>>(pool);
}

TEST_CASE("A roll moves what crosses the boundaries of shards") {
  using X = field<12, P<by("x", "y"), none>>;
  constexpr auto bytes = [](auto rolled) { return trace(rolled, abstract<X>()).bytes_moved(); };
  // A row of 4 floats; a shard of 2 rows; a row to one device and a row to the next.
  static_assert(bytes([](const auto& x) { return roll<0, 1>(x, across<"x", "y">); }) == 16);
  static_assert(bytes([](const auto& x) { return roll<0, -2>(x, across<"x", "y">); }) == 32);
  static_assert(bytes([](const auto& x) { return roll<0, 5>(x, across<"x", "y">); }) == 32);
  static_assert(bytes([](const auto& x) { return roll<0, 12>(x, across<"x", "y">); }) == 0);
  // With a request for a layout, every axis is permitted.
  static_assert(bytes([](const auto& x) {
                  return roll<0, 1>(x, as<layout<pod, P<by("x", "y"), none>, partial<>, uneven>>);
                }) == 16);
}
