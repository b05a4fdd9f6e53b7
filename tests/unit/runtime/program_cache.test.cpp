// SPDX-License-Identifier: BSL-1.0
// A pool remembers the programs of graphs that are requested again. What differs in anything that a
// program depends on is another graph: operations, parameters, numbers, layouts, and what handles
// hold. Results are those of the first run, bit by bit.
#include "support/catch.hpp"
#include <shardwise/engine/program_cache.hpp>
#include <shardwise/kernel.hpp>
#include <shardwise/shardwise.hpp>

#include <atomic>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

using namespace shardwise;

namespace {

struct pod : mesh<axis<"x", 2>, axis<"y", 2>> {};
using X = sharded_tensor<float, extents<8, 8>, layout<pod, P<"x", none>>>;

/// An operation that throws on request.
struct fragile : elementwise_function<"fragile_when_remembered"> {
  static constexpr bool on_elements = true;
  static inline std::atomic<bool> throws{false};
};

[[nodiscard]] const internal::program_cache& cache_of(const device_pool& pool) {
  return pool.state()->programs();
}

/// Calls `f` three times, and requires equal results, of which the last comes from a program that
/// is remembered.
template <class F>
auto three_times(const device_pool& pool, const F& f) {
  const auto first = to_host(f());
  const auto second = to_host(f());
  const std::uint64_t before = cache_of(pool).hits();
  const auto third = to_host(f());
  REQUIRE(cache_of(pool).hits() == before + 1);
  REQUIRE(second == first);
  REQUIRE(third == first);
  return first;
}

}  // namespace

template <>
struct shardwise::kernel<fragile> {
  template <class Result>
  static Result of(Result x) {
    if (fragile::throws) throw std::runtime_error("as requested");
    return x + 1;
  }
};

TEST_CASE("a graph that is requested again runs a program that is remembered") {
  const device_pool pool{pod{}};
  const X x = iota<X>(pool);
  REQUIRE(to_host(x)(1, 1) == 9);
  const auto softened = three_times(pool, [&] { return softmax<1>(x * 0.1F); });
  REQUIRE(softened(0, 7) > softened(0, 0));
  const auto sums = three_times(pool, [&] { return sum<1>(relu(x - 20.0F)); });
  REQUIRE(sums(7) == 8 * (56 - 20) + 28);
  // The peak and the bytes moved are those of the plan, each time.
  const auto run = [&] {
    pool.reset_counters();
    (void)to_host(reshard<P<none, "y">>(exp(x * 0.01F) + x));
    return pool.counters();
  };
  const cost_ledger first = run();
  for (int i = 0; i < 4; ++i) REQUIRE(run() == first);
}

TEST_CASE("graphs that differ in a number, a parameter or an operation are not mistaken") {
  const device_pool pool{pod{}};
  const X x = iota<X>(pool);
  for (int round = 0; round < 4; ++round) {
    for (const float by : {2.0F, 3.0F, -1.0F})
      REQUIRE(to_host(relu(x * by) + x)(0, 3) == (by > 0 ? 3 * by : 0) + 3);
    REQUIRE(to_host(reshard<P<none>>(sum<0>(x + x)))(1) ==
            2 * (1 + 9 + 17 + 25 + 33 + 41 + 49 + 57));
    REQUIRE(to_host(sum<1>(x + x))(1) == 2 * (8 * 8 + 28));
    REQUIRE(to_host(max<1>(x + x))(1) == 30);
    REQUIRE(to_host(slice_in_dim<1, 2, 4>(x + x))(0, 0) == 4);
    REQUIRE(to_host(slice_in_dim<1, 4, 6>(x + x))(0, 0) == 8);
    REQUIRE(to_host((x + x) - x)(1, 1) == 9);
    REQUIRE(to_host(x - (x + x))(1, 1) == -9);
  }
}

TEST_CASE("what handles hold is kept, whether or not an earlier run of the graph kept it") {
  const device_pool pool{pod{}};
  for (int round = 0; round < 6; ++round) {
    const bool holds = round % 2 == 1;
    std::optional<X> held;
    const auto result = [&] {
      const X x = iota<X>(pool);
      const X inner = X(exp(x * 0.0F)) + x;
      if (holds) held = inner;
      return X(X(inner * 2.0F) + 1.0F);
    }();
    REQUIRE(to_host(result)(1, 2) == 2 * 11 + 1);
    if (holds) REQUIRE(to_host(*held)(1, 2) == 11);
  }
}

TEST_CASE("inputs are overwritten only if nothing holds them") {
  const device_pool pool{pod{}};
  const auto twice = [](const auto& x) { return softmax<1>(X(x + 1.0F)) + 0.0F; };
  std::vector<float> all;
  for (int round = 0; round < 6; ++round) {
    X x = iota<X>(pool);
    (void)to_host(x);
    if (round % 2 == 0) {
      all.push_back(to_host(twice(x))(0, 7));
      REQUIRE(to_host(x)(7, 7) == 63);
    } else {
      const auto y = twice(std::move(x));
      x = X(iota<X>(pool) * 0.0F);
      all.push_back(to_host(y)(0, 7));
    }
    REQUIRE(all.back() == all.front());
  }
}

TEST_CASE("a failure of a program that is remembered does not outlive its nodes") {
  const device_pool pool{pod{}};
  const X x = iota<X>(pool);
  const auto run = [&] { return to_host(sum<1>(elementwise<fragile>(x) + x)); };
  const auto first = run();
  (void)run();
  (void)run();
  fragile::throws = true;
  REQUIRE_THROWS(run());
  REQUIRE_THROWS(run());
  fragile::throws = false;
  REQUIRE(run() == first);
  pool.reset_counters();
  REQUIRE(run() == first);
}

TEST_CASE("a pool remembers the programs that ran last, not all") {
  const device_pool pool{pod{}};
  const X x = iota<X>(pool);
  for (int round = 0; round < 3; ++round)
    for (int by = 0; by < 50; ++by) {
      const auto y = to_host(relu(x - static_cast<float>(by)) * 2.0F);
      REQUIRE(y(7, 7) == static_cast<float>(2 * (63 - by)));
      REQUIRE(to_host(relu(x - static_cast<float>(by)) * 2.0F) == y);
    }
  REQUIRE(cache_of(pool).size() == internal::program_cache::most_programs);
}

TEST_CASE("several threads run one graph, each on its own tensors") {
  const device_pool pool{pod{}};
  std::atomic<int> right{0};
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&, t] {
        for (int i = 0; i < 20; ++i) {
          const X x = iota<X>(pool) + static_cast<float>(t);
          const X y = x;
          if (to_host(sum<1>(exp(y * 0.0F) + y))(0) == 8.0F + 28 + 8.0F * static_cast<float>(t))
            ++right;
        }
      });
  }
  REQUIRE(right == 80);
}

TEST_CASE("a prepared program keeps its steps in a pool, and takes equal parts of other layouts") {
  static constexpr auto recorded =
      trace_program([](const auto& x) { return softmax<1>(relu(x - 3.0F) * 2.0F); }, abstract<X>());
  const prepared_program ready = prepare<float>(recorded);
  const device_pool pool{pod{}};
  const X x = iota<X>(pool);
  const auto first = to_host(run<float>(ready, x));
  for (int i = 0; i < 3; ++i) REQUIRE(to_host(run<float>(ready, x)) == first);
  const device_pool other{pod{}};
  REQUIRE(to_host(run<float>(ready, iota<X>(other))) == first);
  REQUIRE(to_host(run<float>(ready, x)) == first);
}
