// SPDX-License-Identifier: BSL-1.0
// The layout of a result, asked for: the same elements as without, and what moves is on paper.
#include "support/catch.hpp"
#include <shardwise/shardwise.hpp>

#include <string>

using namespace shardwise;

namespace {

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
template <class Spec, index_t... N>
using tensor = sharded_tensor<double, extents<N...>, layout<pod, Spec>>;
using X = tensor<P<"data", "model">, 8, 16>;
using W = tensor<P<"model", none>, 16, 32>;

constexpr auto scattered = [](const auto& x, const auto& w) {
  return einsum<"bi,io->bo">(x, w, as<P<"data", "model">>);
};
constexpr auto cut = [](const auto& x) { return reshape<extents<128>>(x, as<P<"model">>); };

}  // namespace

TEST_CASE("a result gets the layout that it is asked for, at the cost on paper") {
  const device_pool pool{pod{}};
  const auto x = iota<X>(pool);
  const auto w = iota<W>(pool);
  sync(pool);
  pool.reset_counters();
  const auto y = scattered(x, w);
  sync(pool);
  constexpr auto cost = trace(scattered, abstract<X>(), abstract<W>());
  REQUIRE(pool.counters() == cost);
  REQUIRE(to_host(y) == to_host(reshard<P<none, none>>(einsum<"bi,io->bo">(x, w))));
}

TEST_CASE("a reshape fetches what has no place in its result") {
  const device_pool pool{pod{}};
  const auto x = iota<X>(pool);
  sync(pool);
  pool.reset_counters();
  const auto flat = cut(x);
  REQUIRE(to_text(pod::value, desc_of(flat)) == "f64[128@model]");
  sync(pool);
  constexpr auto cost_of_cut = trace(cut, abstract<X>());
  REQUIRE(pool.counters() == cost_of_cut);
  REQUIRE(to_host(flat) == to_host(iota<tensor<P<none>, 128>>(pool)));
}

TEST_CASE("tensors whose layouts are values take it too, and explain says what moves") {
  const device_pool pool{pod{}};
  const any_tensor<double> x = iota<X>(pool), w = iota<W>(pool);
  const auto y = einsum<"bi,io->bo">(x, w, as<P<"data", "model">>);
  REQUIRE(std::string(explain(y)).find("reduce_scatter") != std::string::npos);
  REQUIRE(y.layout() == layout<pod, P<"data", "model">>::value);
  REQUIRE(to_host(y) == to_host(scattered(as<X>(x), as<W>(w))));
  // Axes that have no place in the result are fetched.
  const auto flat = reshape<extents<128>>(x, as<P<"model">>);
  REQUIRE(to_host(flat) == to_host(iota<tensor<P<none>, 128>>(pool)));
}
