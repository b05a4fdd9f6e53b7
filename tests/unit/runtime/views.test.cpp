// SPDX-License-Identifier: BSL-1.0
// Operations that keep the order of elements reuse the memory of an operand without other readers,
// on paper and in the run.
#include "support/catch.hpp"
#include <shardwise/shardwise.hpp>

#include <sstream>
#include <string>
#include <utility>

using namespace shardwise;

namespace {

struct pod : mesh<axis<"x", 2>, axis<"y", 2>> {};
template <class Layout, index_t... N>
using tensor = sharded_tensor<float, extents<N...>, Layout>;
using X = tensor<layout<pod, P<"x", "y">>, 8, 4>;
constexpr index_t bytes_of_x = 4 * 2 * 4;

constexpr auto split = [](const auto& x) { return reshape<extents<4, 2, 4>>(relu(x) * 2.0F); };
constexpr auto there_and_back = [](const auto& x) {
  return squeeze<0>(reshape<extents<1, 8, 4>>(unsqueeze<0>(split(x)))) + 1.0F;
};

/// Returns the counters of a call of `f`.
template <class F>
cost_ledger cost_of(const device_pool& pool, const F& f) {
  pool.reset_counters();
  f();
  return pool.counters();
}

}  // namespace

TEST_CASE("a reshape of an intermediate value takes its memory") {
  static_assert(trace(split, abstract<X>()).peak_bytes_per_device() == 2 * bytes_of_x);
  static_assert(trace(there_and_back, abstract<X>()).peak_bytes_per_device() == 2 * bytes_of_x);
  const device_pool pool{pod{}};
  const X x = iota<X>(pool);
  const cost_ledger run = cost_of(pool, [&] {
    const auto y = there_and_back(x);
    REQUIRE(to_host(y)(7, 3) == 63.0F);
    REQUIRE(to_host(y)(2, 1) == 19.0F);
  });
  REQUIRE(run == trace(there_and_back, abstract<X>()));
  std::ostringstream words;
  words << explain(split(x));
  CHECK(words.str().find("in the memory of %1") != std::string::npos);
  REQUIRE(to_host(x)(7, 3) == 31.0F);

  const any_tensor<float> any = x;
  REQUIRE(to_host(there_and_back(any)) == to_host(there_and_back(x)));
}

TEST_CASE("a reshape of a tensor that nobody holds any more is the same memory") {
  const device_pool pool{pod{}};
  const float* before = nullptr;
  const auto made = [&] {
    const X x = iota<X>(pool);
    sync(x);
    before = local(x, 3).elements().data();
    return reshape<extents<4, 2, 4>>(x);
  };
  const auto taken = [&] {
    const auto y = made();
    sync(y);
    REQUIRE(local(y, 3).elements().data() == before);
    return unsqueeze<1>(y);
  };
  const auto z = taken();
  sync(z);
  REQUIRE(local(z, 3).elements().data() == before);
  REQUIRE(to_host(z)(3, 0, 1, 2) == 30.0F);
}

TEST_CASE("a reshape of a tensor that is still held copies it") {
  const device_pool pool{pod{}};
  const X x = iota<X>(pool);
  sync(x);
  auto y = reshape<extents<4, 2, 4>>(x);
  sync(y);
  REQUIRE(local(y, 0).elements().data() != local(x, 0).elements().data());
  y = y * -1.0F;
  REQUIRE(to_host(y)(3, 1, 3) == -31.0F);
  REQUIRE(to_host(x)(7, 3) == 31.0F);
}

TEST_CASE("uneven shards and pending sums keep their memory, and their values") {
  const device_pool pool{pod{}};
  using U = tensor<layout<pod, P<"x", none>, partial<"y">, uneven>, 5, 4>;
  constexpr auto f = [](const auto& x) {
    return reshape<extents<5, 2, 2>>(unsqueeze<2>(x * 3.0F)) * 2.0F;
  };
  static_assert(trace(f, abstract<U>()).peak_bytes_per_device() == 2 * 3 * 4 * 4);
  const U x = [&]() -> U {
    const auto a = iota<tensor<layout<pod, P<"x", "y">, partial<>, uneven>, 5, 4>>(pool);
    const auto all = ones<tensor<layout<pod, P<"y", none>>, 4, 4>>(pool);
    const U made = einsum<"bi,io->bo">(a, all);
    sync(made);
    return made;
  }();
  REQUIRE(cost_of(pool, [&] { sync(f(x)); }) == trace(f, abstract<U>()));
  REQUIRE(to_host(reshard<P<none, none, none>>(f(x)))(4, 1, 1) == 6.0F * (16 + 17 + 18 + 19));
}
