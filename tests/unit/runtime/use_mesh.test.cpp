// SPDX-License-Identifier: BSL-1.0
#include "support/catch.hpp"
#include <shardwise/mesh/ordered_mesh.hpp>
#include <shardwise/shardwise.hpp>

#include <thread>
#include <vector>

using namespace shardwise;

namespace {

struct pod : mesh<axis<"x", 2>, axis<"y", 2>> {};
using X = sharded_tensor<float, extents<4, 2>, layout<pod, P<"x", "y">>>;
using V = sharded_tensor<int, extents<dyn>, layout<pod, P<"x">>>;

constexpr index_t swapped[] = {3, 1, 2, 0};
struct other : ordered_mesh<mesh<axis<"x", 2>, axis<"y", 2>>, swapped> {};
using Z = sharded_tensor<float, extents<4, 2>, layout<other, P<"x", "y">>>;

}  // namespace

TEST_CASE("in the scope of a guard tensors are made in its pool") {
  REQUIRE(use_mesh::current() == nullptr);
  {
    const use_mesh here(pod{});
    REQUIRE(use_mesh::current() != nullptr);
    REQUIRE(use_mesh::pool().devices() == 4);
    const device_pool& pool = use_mesh::pool();
    REQUIRE(to_host(zeros<X>()) == to_host(zeros<X>(pool)));
    REQUIRE(to_host(ones<X>()) == to_host(ones<X>(pool)));
    REQUIRE(to_host(full<V>(7, 4)) == to_host(full<V>(pool, 7, 4)));
    REQUIRE(to_host(iota<V>(6)) == to_host(iota<V>(pool, 6)));
    REQUIRE(to_host(uniform<X>(random_key{3})) == to_host(uniform<X>(pool, random_key{3})));
    REQUIRE(to_host(normal<X>(random_key{3})) == to_host(normal<X>(pool, random_key{3})));
    const auto first = [](const global_index& at) { return float(at[0]); };
    REQUIRE(to_host(generate<X>(first)) == to_host(generate<X>(pool, first)));
    REQUIRE(to_host(distribute<X>(first)) == to_host(generate<X>(pool, first)));
    REQUIRE(to_host(distribute<V>(std::vector<int>{1, 2, 3, 4})).elements()[2] == 3);
    // All tensors of one scope are in one pool.
    REQUIRE(to_host(zeros<X>() + ones<X>()) == to_host(ones<X>()));
  }
  REQUIRE(use_mesh::current() == nullptr);
}

TEST_CASE("guards nest, and end on every path") {
  const device_pool outer{pod{}};
  const use_mesh here(outer);
  REQUIRE(use_mesh::current() == &outer);
  try {
    const device_pool inner{other{}};
    const use_mesh there(inner);
    REQUIRE(use_mesh::current() == &inner);
    (void)zeros<Z>();
    (void)zeros<X>();
    FAIL("a tensor of another mesh was made");
  } catch (const error& refused) {
    REQUIRE(refused.code() == violation::device_order_differs);
  }
  REQUIRE(use_mesh::current() == &outer);
}

TEST_CASE("without a guard a tensor needs a pool, and each thread has guards of its own") {
  REQUIRE_THROWS_WITH(zeros<X>(), contains("pool_is_not_in_use"));
  const use_mesh here(pod{});
  const device_pool* seen = use_mesh::current();
  std::thread([&] { seen = use_mesh::current(); }).join();
  REQUIRE(seen == nullptr);
}

TEST_CASE("shards of a mesh with an order of its own name their devices") {
  const device_pool pool{other{}};
  const Z x = iota<Z>(pool);
  REQUIRE(local(x, 3).elements()[0] == 0.0F);
  REQUIRE(local(x, 0).range() == index_box{index_range{2, 4}, index_range{1, 2}});
  index_t next = 0;
  for (const auto& shard : shards(x)) REQUIRE(shard.device() == next++);
}

TEST_CASE(
    "what is pending in the pool of the scope is computed by sync, and at the end of a step") {
  const use_mesh here(pod{});
  const X x = ones<X>();
  const X y = x + x;
  REQUIRE_FALSE(y.share()->ready());
  shardwise::sync();
  REQUIRE(y.share()->ready());
  const X z = step([&] { return y * x; });
  REQUIRE(z.share()->ready());
  step([&] { REQUIRE(to_host(z)(0, 0) == 2.0F); });
}

TEST_CASE("a guard does not take a pool that ends before it") {
  STATIC_REQUIRE(std::is_constructible_v<use_mesh, const device_pool&>);
  STATIC_REQUIRE_FALSE(std::is_constructible_v<use_mesh, device_pool>);
}
