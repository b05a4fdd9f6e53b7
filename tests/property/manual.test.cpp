// SPDX-License-Identifier: BSL-1.0
// Computation on manual shards, compared with the same computation on unsplit tensors.
#include "property/every_owner.hpp"
#include "property/generated.hpp"
#include "support/catch.hpp"
#include <shardwise/runtime/any_manual.hpp>

using namespace generated;

namespace {

/// The layout without `uneven`, which manual tensors do not support.
layout_desc even(layout_desc layout) {
  layout.uneven = false;
  return layout;
}

}  // namespace

TEST_CASE("a tensor that becomes manual and ceases to be is the same, under every layout") {
  for (const mesh_desc& mesh : meshes({{2}, {2, 3}, {2, 1}, {2, 2, 2}}))
    for_all_owners(mesh, 3, [&](const device_pool& pool, every pick) {
      const extents_desc extents{24, 24};
      const std::vector<float> host = whole_numbers(element_count(extents), 1);
      for (const layout_desc& uneven_layout : layouts(mesh, 2, false)) {
        if (!pick()) continue;
        const layout_desc layout = even(uneven_layout);
        const auto x = distribute(pool, std::span<const float>(host), extents, layout);
        pool.reset_counters();
        const auto mine = enable_manual_sharding(x);
        require(mine.layout().splitting_axes().empty());
        for (std::uint8_t a : layout.splitting_axes())
          require(mine.layout().manual_axes().contains(a));
        for (index_t d : pool.state()->own_devices()) {
          const auto before = local(x, d), after = local(mine, d);
          require(before.extents() == mine.extents());
          require(std::equal(before.elements().begin(), before.elements().end(),
                             after.elements().begin(), after.elements().end()));
        }
        const auto twice = mine + mine;
        const auto back = disable_manual_sharding(twice, layout);
        require(values(back) == values(x + x));
        if (mine.layout().manual != 0) require(is_refused([&] { (void)to_host(mine); }));
        require(pool.counters().collectives() == 0);
      }
    });
}

TEST_CASE("what all devices reduce manually is the reduction of the whole tensor") {
  for (const mesh_desc& mesh : meshes({{2}, {2, 3}, {2, 2, 2}}))
    for_all_owners(mesh, 5, [&](const device_pool& pool, every pick) {
      for (reduction kind : {reduction::sum, reduction::max, reduction::min}) {
        const extents_desc extents{24, 24};
        const std::vector<float> host = whole_numbers(element_count(extents), 3);
        for (const layout_desc& uneven_layout : layouts(mesh, 2, false)) {
          if (!pick()) continue;
          const layout_desc layout = even(uneven_layout);
          const auto x = distribute(pool, std::span<const float>(host), extents, layout);
          const auto mine = enable_manual_sharding(x);
          const any_tensor<float> reduced =
              apply_collective(reduce(kind, mine, over{0, 1}),
                               {.reduce = kind, .axes = mine.layout().manual_axes()});
          require(reduced.layout() == layout_desc{});
          require(values(reduced) == values(reduce(kind, x, over{0, 1})));
        }
      }
    });
}

TEST_CASE("several axes are reduced one after another, in any order, or at once") {
  const mesh_desc mesh = meshes({{2, 3}}).front();
  const device_pool pool(mesh, 2);
  const std::vector<float> host = whole_numbers(36, 5);
  const layout_desc layout = resolve(mesh, {{"x", "y"}}).layout;
  const auto mine =
      enable_manual_sharding(distribute(pool, std::span<const float>(host), {6, 6}, layout));
  const auto at_once = values(all_reduce<"x", "y">(mine));
  REQUIRE(at_once == values(all_reduce<"y">(all_reduce<"x">(mine))));
  REQUIRE(at_once == values(all_reduce<"x">(all_reduce<"y">(mine))));
  REQUIRE(at_once == values(apply_collective(mine, {.axes = mine.layout().manual_axes()})));
  REQUIRE_THROWS_AS(all_reduce<"x">(all_reduce<"x">(mine)), error);
  REQUIRE(values(all_reduce<reduction::max, "y">(all_reduce<"x">(mine))) ==
          values(apply_collective(apply_collective(mine, {.axes = {0}}),
                                  {.reduce = reduction::max, .axes = {1}})));
  REQUIRE_THROWS_WITH(all_reduce<"z">(mine), Catch::Contains("axis_is_not_manual"));
}

namespace {

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
using X = sharded_tensor<float, extents<8, 4>, layout<pod, P<"data", none>>>;
using K = sharded_tensor<float, extents<4, 4>, layout<pod, P<none, none>>>;

constexpr auto with_collectives = [](const auto& x, const auto& k) {
  const auto mine = enable_manual_sharding(x);
  const auto y = einsum<"bi,io->bo">(mine, k);
  const auto total = all_reduce<"data">(sum<0>(y * y));
  return disable_manual_sharding<P<"data", none>>(y * total);
};
constexpr auto as_usual = [](const auto& x, const auto& k) {
  const auto y = einsum<"bi,io->bo">(x, k);
  const auto total = reshard<P<none>>(sum<0>(y * y));
  return y * total;
};

}  // namespace

TEST_CASE("a manual program costs what its trace says, and gives what the usual one gives") {
  const device_pool pool{pod{}};
  const std::vector<float> host = whole_numbers(32, 7), kernel = whole_numbers(16, 8);
  const X x = distribute<X>(pool, host);
  const K k = distribute<K>(pool, kernel);
  pool.reset_counters();
  const auto y = with_collectives(x, k);
  sync(y);
  constexpr cost_ledger paper = trace(with_collectives, abstract<X>(), abstract<K>());
  const cost_ledger counted = pool.counters();
  REQUIRE(counted.collectives() == paper.collectives());
  REQUIRE(counted.bytes_moved() == paper.bytes_moved());
  REQUIRE(counted.flops() == paper.flops());
  REQUIRE(counted.peak_bytes_per_device() == paper.peak_bytes_per_device());
  REQUIRE(to_host(y) == to_host(as_usual(x, k)));
}
