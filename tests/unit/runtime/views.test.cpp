// SPDX-License-Identifier: BSL-1.0
// Operations that keep the order of elements reuse the memory of an operand without other readers,
// on paper and in the run.
#include "support/catch.hpp"
#include <shardwise/shardwise.hpp>

#include <cstddef>
#include <cstdint>
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

namespace {
/// Returns the number of steps that compute something.
template <std::size_t Capacity>
constexpr std::int32_t steps_of(const planned_program<Capacity>& planned) {
  std::int32_t count = 0;
  for (std::int32_t s = 0; s < planned.count; ++s)
    if (planned.steps[s].kind != step_kind::input) ++count;
  return count;
}
template <class F, class... X>
constexpr std::int32_t steps_in(const F& f, const X&... x) {
  return steps_of(plan_program(trace_program(f, x...)));
}
constexpr auto x_on_paper = abstract<X>();
}  // namespace

TEST_CASE("unnamed views are no steps") {
  static_assert(steps_in([](const auto& x) { return transpose<1, 0>(x); }, x_on_paper) == 1);
  static_assert(steps_in([](const auto& x) { return einsum<"ij,ik->jk">(transpose<1, 0>(x), x); },
                         abstract<tensor<layout<pod, P<none, none>>, 4, 4>>()) == 1);
  // A pass reads all views but a transpose that moves the last dimension.
  static_assert(steps_in([](const auto& x) { return relu(unsqueeze<0>(x)); }, x_on_paper) == 1);
  static_assert(steps_in([](const auto& x) { return relu(transpose<1, 0>(x)); }, x_on_paper) == 2);
  static_assert(steps_in([](const auto& x) { return relu(transpose<1, 0, 2>(unsqueeze<0>(x))); },
                         x_on_paper) == 1);
  static_assert(steps_in([](const auto& x) { return sum<0>(reshape<extents<4, 2, 4>>(x)); },
                         x_on_paper) == 1);
  // A sort reads contiguous memory.
  static_assert(steps_in([](const auto& x) { return sort<0>(unsqueeze<0>(x)); }, x_on_paper) == 2);
  // Names are steps.
  static_assert(steps_in(
                    [](const auto& x) {
                      const auto first = unsqueeze<0>(x);
                      return first + 1.0F;
                    },
                    x_on_paper) == 2);
}

TEST_CASE("what a view reads is not overwritten") {
  const device_pool pool{pod{}};
  using W = tensor<layout<pod, P<"x", none>>, 8, 4>;
  constexpr auto f = [](const auto& x) {
    const auto y = x * 2.0F;
    return y + flip<1>(y);
  };
  // The pass does not write over `y`, as it would without the flip.
  static_assert(trace(f, abstract<W>()).peak_bytes_per_device() == 3 * 4 * 4 * 4);
  const W w = iota<W>(pool);
  const auto sums = to_host(f(w));
  for (index_t i = 0; i < 8; ++i)
    for (index_t j = 0; j < 4; ++j) REQUIRE(sums(i, j) == static_cast<float>(16 * i + 6));
}

TEST_CASE("a view that is read in place can still be read by itself") {
  const device_pool pool{pod{}};
  using W = tensor<layout<pod, P<"x", none>>, 8, 4>;
  any_tensor<float> view = [&] {
    const any_tensor<float> x = iota<W>(pool);
    return flip<1>(relu(x));
  }();
  any_tensor<float> held = view;
  const any_tensor<float> read = std::move(view) + 1.0F;
  REQUIRE(to_host(read)(1, 0) == 8.0F);
  REQUIRE(to_host(held)(1, 0) == 7.0F);
  REQUIRE(to_host(held)(7, 3) == 28.0F);
}

TEST_CASE("compiled steps read views in place") {
  const device_pool pool{pod{}};
  using W = tensor<layout<pod, P<"x", none>>, 8, 4>;
  const auto next = [](const auto& x) { return x - flip<1>(x) * 0.5F; };
  auto compiled = step(next);
  W x = iota<W>(pool), y = x;
  for (int i = 0; i < 4; ++i) {
    x = next(x);
    y = compiled(y);
    sync(x);
    REQUIRE(to_host(x) == to_host(y));
  }
}

TEST_CASE("products pass temporaries on, whether their layouts are types or values") {
  const device_pool pool{pod{}};
  using W = tensor<layout<pod, P<none, none>>, 5, 4>;
  constexpr auto product = [](const auto& x, const auto& w) {
    return matmul(flip<1>(x), transpose<1, 0>(w));
  };
  using R = tensor<layout<pod, P<"x", none>>, 8, 4>;
  static_assert(steps_in(product, abstract<R>(), abstract<W>()) == 1);
  const R x = iota<R>(pool);
  const W w = iota<W>(pool);
  const any_tensor<float> any_x = x, any_w = w;
  const auto want = to_host(product(x, w));
  REQUIRE(want(1, 2) == 7 * 8 + 6 * 9 + 5 * 10 + 4 * 11);
  REQUIRE(to_host(product(any_x, any_w)) == want);
  REQUIRE(to_host(product(x, any_w)) == want);
  REQUIRE(to_host(product(any_x, w)) == want);
  pool.reset_counters();
  sync(product(any_x, w));
  REQUIRE(pool.counters() == trace(product, abstract<R>(), abstract<W>()));
}
