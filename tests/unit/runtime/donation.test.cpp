// SPDX-License-Identifier: BSL-1.0
// Donated inputs are overwritten, on paper and in the run; no other value is.
#include "support/catch.hpp"
#include <shardwise/shardwise.hpp>

#include <limits>
#include <tuple>
#include <utility>

using namespace shardwise;

namespace {

struct pod : mesh<axis<"x", 2>, axis<"y", 2>> {};
using W = sharded_tensor<float, extents<8, 4>, layout<pod, P<"x", none>>>;
using rate = scalar<float, pod>;

constexpr auto update = [](const auto& w, const auto& dw, const auto& lr) { return w - dw * lr; };

/// Two results, of which only the first reads `w`.
constexpr auto two_updates = [](const auto& w, const auto& m, const auto& dw) {
  auto next = m * 0.5F + dw;
  return std::tuple(w - next, next);
};

/// The counters of a call of `f` with tensors that only `f` holds.
template <class F>
cost_ledger cost_of(const device_pool& pool, const F& f) {
  pool.reset_counters();
  f();
  return pool.counters();
}

}  // namespace

TEST_CASE("an input that nobody holds is written over, as the trace says of one given up") {
  const device_pool pool{pod{}};
  constexpr cost_ledger given =
      trace(update, donate(abstract<W>()), abstract<W>(), abstract<rate>());
  constexpr cost_ledger held = trace(update, abstract<W>(), abstract<W>(), abstract<rate>());
  static_assert(held.peak_bytes_per_device() - given.peak_bytes_per_device() == 4 * 4 * 4);
  static_assert(given.flops() == held.flops());

  const W dw = full<W>(pool, 2.0F);
  const rate lr = full<rate>(pool, 0.25F);
  W w = full<W>(pool, 1.0F);
  for (int step = 0; step < 3; ++step) {
    REQUIRE(cost_of(pool, [&] {
              w = update(w, dw, lr);
              sync(w);
            }) == given);
    REQUIRE(to_host(w)(3, 3) == 1.0F - 0.5F * static_cast<float>(step + 1));
  }
  const W kept = w;
  REQUIRE(cost_of(pool, [&] {
            w = update(w, dw, lr);
            sync(w);
          }).peak_bytes_per_device() == held.peak_bytes_per_device());
  REQUIRE(to_host(kept)(0, 0) == -0.5F);
  REQUIRE(to_host(w)(0, 0) == -1.0F);
}

TEST_CASE("a program of several steps writes over what its caller gave up") {
  const device_pool pool{pod{}};
  constexpr cost_ledger given =
      trace(two_updates, donate(abstract<W>()), donate(abstract<W>()), abstract<W>());
  constexpr cost_ledger held = trace(two_updates, abstract<W>(), abstract<W>(), abstract<W>());
  static_assert(held.peak_bytes_per_device() - given.peak_bytes_per_device() == 2 * 4 * 4 * 4);

  const W dw = full<W>(pool, 2.0F);
  W w = full<W>(pool, 1.0F);
  W m = full<W>(pool, 4.0F);
  REQUIRE(cost_of(pool, [&] {
            auto [next_w, next_m] = two_updates(w, m, dw);
            w = next_w;
            m = next_m;
            sync(w, m);
          }) == given);
  REQUIRE(to_host(w)(1, 2) == -3.0F);
  REQUIRE(to_host(m)(1, 2) == 4.0F);
}

TEST_CASE("a prepared program writes over what it was traced and run to write over") {
  const device_pool pool{pod{}};
  constexpr auto recorded =
      trace_program(update, donate(abstract<W>()), abstract<W>(), abstract<rate>());
  static_assert(recorded.code[0].donated && !recorded.code[1].donated);
  const prepared_program ready = prepare<float>(recorded);
  const any_tensor<float> dw = full<W>(pool, 2.0F);
  any_tensor<float> w = full<W>(pool, 1.0F);
  const cost_ledger given = ledger_of(recorded);
  for (const float lr : {0.5F, 0.25F, 0.125F})
    REQUIRE(cost_of(pool, [&] { w = run<float>(ready, std::move(w), dw, lr); }) == given);
  REQUIRE(to_host(w)(7, 0) == -0.75F);

  SECTION("what others hold stays") {
    const any_tensor<float> kept = w;
    const cost_ledger cost = cost_of(pool, [&] { w = run<float>(ready, std::move(w), dw, 1); });
    REQUIRE(cost.peak_bytes_per_device() > given.peak_bytes_per_device());
    REQUIRE(to_host(kept)(7, 0) == -0.75F);
    REQUIRE(to_host(w)(7, 0) == -2.75F);
  }
  SECTION("what is passed by its name stays") {
    const any_tensor<float> next = run<float>(ready, w, dw, 1.0F);
    REQUIRE(to_host(w)(7, 0) == -0.75F);
    REQUIRE(to_host(next)(7, 0) == -2.75F);
  }
  SECTION("one tensor for two inputs stays until both have been read") {
    const any_tensor<float> zero = run<float>(ready, w, w, 1.0F);
    REQUIRE(to_host(zero)(7, 0) == 0.0F);
    REQUIRE(to_host(w)(7, 0) == -0.75F);
  }
  SECTION("what another view shares stays") {
    const auto view =
        shards(as<sharded_tensor<float, extents<8, 4>, layout<pod, P<"x", none>>>>(w));
    w = run<float>(ready, std::move(w), dw, 1.0F);
    REQUIRE(view[0].elements()[0] == -0.75F);
    REQUIRE(to_host(w)(7, 0) == -2.75F);
  }
  SECTION("a refused call takes nothing") {
    REQUIRE_THROWS_AS((run<double>(ready, std::move(w), dw, 1.0F)), error);
    REQUIRE_THROWS_AS((run<float, float>(ready, std::move(w), dw, 1.0F)), error);
    any_tensor<float> other = full<sharded_tensor<float, extents<4, 4>, W::layout_type>>(pool, 1);
    REQUIRE_THROWS_AS(run<float>(ready, std::move(w), std::move(other), 1.0F), error);
    REQUIRE(to_host(w)(7, 0) == -0.75F);
    REQUIRE(to_host(other)(0, 0) == 1.0F);
  }
}

TEST_CASE("a tensor that was moved from is not read, and says so") {
  const device_pool pool{pod{}};
  const auto moved = Catch::Contains("tensor_was_moved");
  W w = full<W>(pool, 1.0F);
  const W other = std::move(w);
  REQUIRE_THROWS_WITH(to_host(w), moved);
  REQUIRE_THROWS_WITH(w + other, moved);
  REQUIRE_THROWS_WITH((reshard<P<none, none>>(w)), moved);
  REQUIRE_THROWS_WITH(sync(w), moved);
  w = other * 2.0F;
  REQUIRE(to_host(w)(0, 0) == 2.0F);

  const prepared_program ready =
      prepare<float>(trace_program(update, donate(abstract<W>()), abstract<W>(), abstract<rate>()));
  any_tensor<float> a = other;
  const any_tensor<float> b = run<float>(ready, std::move(a), w, 1.0F);
  REQUIRE(to_host(b)(0, 0) == -1.0F);
  REQUIRE_THROWS_WITH(a * 2.0F, moved);
  REQUIRE_THROWS_WITH((run<float>(ready, a, w, 1.0F)), moved);
  REQUIRE_THROWS_WITH(a.extents(), moved);
}

TEST_CASE("numbers stand for inputs of rank 0, and for nothing else") {
  const device_pool pool{pod{}};
  using counts = sharded_tensor<std::int32_t, extents<4>, layout<pod, P<"x">>>;
  constexpr auto raise = [](const auto& n, const auto& by) { return n + by; };
  const prepared_program whole = prepare<std::int32_t>(
      trace_program(raise, abstract<counts>(), abstract<scalar<std::int32_t, pod>>()));
  const counts n = full<counts>(pool, 2);
  REQUIRE(to_host(run<std::int32_t>(whole, n, 3))(3) == 5);
  REQUIRE(to_host(run<std::int32_t>(whole, n, 3.0))(3) == 5);
  const auto words_of = [](const auto& call) -> std::string {
    try {
      (void)call();
    } catch (const error& refused) {
      return refused.what();
    }
    return "";
  };
  REQUIRE_THAT(words_of([&] { return run<std::int32_t>(whole, n, 2.5); }),
               Catch::Contains("input_differs") && Catch::Contains("input 1") &&
                   Catch::Contains("i32[] is wanted, not a number with a fraction"));
  for (const double number : {3e9, -3e9, std::numeric_limits<double>::infinity()})
    REQUIRE_THAT(words_of([&] { return run<std::int32_t>(whole, n, number); }),
                 Catch::Contains("a number that is out of its range"));
  REQUIRE_THAT(words_of([&] { return run<std::int32_t>(whole, n, 5000000000); }),
               Catch::Contains("a number that is out of its range"));
  REQUIRE_THAT(words_of([&] { return run<std::int32_t>(whole, 2, 3); }),
               Catch::Contains("pool_is_not_in_use"));
  REQUIRE_THAT(words_of([&] {
                 return run<std::int32_t>(whole, 2, full<scalar<std::int32_t, pod>>(pool, 3));
               }),
               Catch::Contains("i32[4@x] is wanted, not a number"));
}

TEST_CASE("what a program moved from, and somebody reads later, keeps its value") {
  const device_pool pool{pod{}};
  const any_tensor<float> x = full<W>(pool, 1.0F);
  any_tensor<float> tripled = [&] {
    const any_tensor<float> gathered = reshard(x, spec_desc{{"", ""}});
    return gathered * 3.0F + gathered;
  }();
  const any_tensor<float> large = std::move(tripled) * 100.0F;
  REQUIRE(to_host(large)(0, 0) == 400.0F);
  REQUIRE(to_host(tripled)(0, 0) == 4.0F);

  any_tensor<float> twice = any_tensor<float>(full<W>(pool, 1.0F)) * 2.0F;
  const any_tensor<float> hundred = std::move(twice) * 50.0F;
  REQUIRE(to_host(hundred)(0, 0) == 100.0F);
  REQUIRE(to_host(twice)(0, 0) == 2.0F);
}
