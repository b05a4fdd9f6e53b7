// SPDX-License-Identifier: BSL-1.0
// The elements at one index of a split dimension, which the device that has them sends to the
// others.
#include "support/catch.hpp"
#include <shardwise/shardwise.hpp>

#include <type_traits>

using namespace shardwise;

namespace {

struct pod : mesh<axis<"x", 2>, axis<"y", 3>> {};
template <class Spec, index_t Rows = 12, class Policy = exact>
using field = sharded_tensor<float, extents<Rows, 4>, layout<pod, Spec, partial<>, Policy>>;

template <class X, int Dim, index_t At>
void check(device_pool& pool, collective kind, index_t bytes) {
  constexpr auto f = [](const auto& v) { return index_at<Dim, At>(v, across<"x", "y">); };
  const auto x = iota<X>(pool);
  CAPTURE(Dim, At, type_name<X>().c_str());
  pool.reset_counters();
  const auto y = f(x);
  sync(y);
  CHECK(pool.counters() == trace(f, abstract<X>()));
  CHECK(pool.counters().collectives(kind) == 1);
  CHECK(pool.counters().bytes_moved() == bytes);
  const auto wanted = to_host(index_at<Dim, At>(reshard<P<none, none>>(x)));
  CHECK(to_host(y) == wanted);
  // The same program with a layout that is a value.
  const any_tensor<float> any = x;
  CHECK(explain(f(any)) == explain(f(x)));
  CHECK(to_host(f(any)) == wanted);
  // The gradient is 1 at the index, and 0 elsewhere.
  const auto slope = to_host(gradient([&](const auto& v) { return sum(f(v)); })(x));
  constexpr index_t rows = X::extents_type::value[0], size = X::extents_type::value[Dim];
  int wrong = 0;
  for (index_t i = 0; i < rows; ++i)
    for (index_t j = 0; j < 4; ++j) {
      const bool is_read = (Dim == 0 ? i : j) == (At < 0 ? At + size : At);
      wrong += slope(i, j) == (is_read ? 1.0F : 0.0F) ? 0 : 1;
    }
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("The device that has the elements at an index sends them, or they are gathered") {
  device_pool pool{pod{}};
  // A row of 16 bytes, or what a device has of it.
  check<field<P<"x", none>>, 0, 0>(pool, collective::broadcast, 16);
  check<field<P<"x", none>>, 0, 7>(pool, collective::broadcast, 16);
  check<field<P<"y", "x">>, 0, -1>(pool, collective::broadcast, 8);
  check<field<P<"y", "x">>, 1, 1>(pool, collective::broadcast, 16);
  check<field<P<by("y", "x"), none>>, 0, 5>(pool, collective::broadcast, 16);
  check<field<P<none, "x">, 12, uneven>, 1, -4>(pool, collective::broadcast, 48);
  // What is not divided evenly, or not into contiguous parts, is gathered.
  check<field<P<"x", none>, 7, uneven>, 0, 3>(pool, collective::all_gather, 64);
  check<field<P<cyclic("x"), none>, 12, uneven>, 0, 3>(pool, collective::all_gather, 96);
}

TEST_CASE("The elements at an index have the layout of the other dimensions") {
  const auto last = [](const auto& x) { return index_at<0, -1>(x, across<"x", "y">); };
  using X = field<P<"y", "x">>;
  using Y = decltype(last(abstract<X>()));
  static_assert(std::is_same_v<Y, decltype(index_at<0, -1>(abstract<field<P<none, "x">>>()))>);
}
