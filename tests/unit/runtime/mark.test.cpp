// SPDX-License-Identifier: BSL-1.0
#include "support/catch.hpp"
#include "support/values.hpp"
#include <shardwise/plan/mark.hpp>
#include <shardwise/runtime/any_mark.hpp>
#include <shardwise/shardwise.hpp>

#include <numeric>
#include <tuple>
#include <vector>

using namespace shardwise;

namespace {

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
struct slices : mesh<axis<"x", dyn>> {};
template <class Spec, class Partial = partial<>>
using X = sharded_tensor<float, extents<8, 16>, layout<pod, Spec, Partial>>;
using whole = X<P<none, none>>;
using rows = X<P<"x", none>>;

std::vector<float> counting() {
  std::vector<float> all(8 * 16);
  std::iota(all.begin(), all.end(), 0.0F);
  return all;
}

template <class Result, class Expected>
constexpr bool is = std::is_same_v<std::remove_cvref_t<Result>, Expected>;

}  // namespace

TEST_CASE("marking gives a new tensor by local slices and leaves the old one as it is") {
  const device_pool pool{pod{}};
  const whole x = iota<whole>(pool);
  pool.reset_counters();
  const sharded_tensor marked = mark_sharding<P<"x", "y">>(x);
  static_assert(is<decltype(marked), X<P<"x", "y">>>);
  REQUIRE(values(marked) == counting());
  REQUIRE(values(x) == counting());
  REQUIRE(local(marked, 5).range() == index_box{index_range{4, 8}, index_range{4, 8}});
  REQUIRE(local(x, 5).range() == index_box{index_range{0, 8}, index_range{0, 16}});
  REQUIRE(values(mark_sharding<P<"x", "y">>(marked)) == counting());
  REQUIRE(pool.counters().collectives() == 0);
  REQUIRE(pool.counters().bytes_moved() == 0);
}

TEST_CASE("a constraint on an intermediate costs nothing, and keeps what fuses fused") {
  const device_pool pool{pod{}};
  const rows x = iota<rows>(pool);
  const auto cost = [&](const auto& program) {
    pool.reset_counters();
    sync(sharded_tensor(program()));
    return pool.counters();
  };
  REQUIRE(cost([&] { return constrain<P<"x", none>>(x * 2.0F) + 1.0F; }) ==
          cost([&] { return x * 2.0F + 1.0F; }));
  REQUIRE(values(constrain<P<"x", none>>(x * 2.0F) + 1.0F) == values(x * 2.0F + 1.0F));

  pool.reset_counters();
  const sharded_tensor cut = constrain<P<"x", "y">>(relu(x));
  static_assert(is<decltype(cut), X<P<"x", "y">>>);
  REQUIRE(values(cut) == counting());
  REQUIRE(pool.counters().collectives() == 0);
}

TEST_CASE("clearing gathers by its name, and what is cleared is marked anew") {
  const device_pool pool{pod{}};
  const rows x = iota<rows>(pool);
  pool.reset_counters();
  const sharded_tensor cleared_x = clear_sharding(x);
  static_assert(is<decltype(cleared_x), whole>);
  REQUIRE(values(cleared_x) == counting());
  constexpr cost_ledger on_paper =
      trace([](const auto& t) { return clear_sharding(t); }, abstract<rows>());
  REQUIRE(pool.counters().collectives(collective::all_gather) == 1);
  REQUIRE(pool.counters().bytes_moved() == on_paper.bytes_moved());
  const sharded_tensor columns = mark_sharding<P<none, "y">>(cleared_x);
  REQUIRE(values(columns) == counting());
  REQUIRE(pool.counters().collectives() == 1);
  std::ostringstream words;
  words << explain(clear_sharding(iota<rows>(pool)));
  REQUIRE_THAT(words.str(), contains("all_gather") && contains("over x"));
}

TEST_CASE("shard_as gives the layout of another tensor, whatever it is") {
  const device_pool pool{pod{}};
  const rows x = iota<rows>(pool);
  const X<P<none, "y">> like = zeros<X<P<none, "y">>>(pool);
  const sharded_tensor y = shard_as(x + 0.0F, like);
  static_assert(is<decltype(y), X<P<none, "y">>>);
  REQUIRE(values(y) == counting());
  pool.reset_counters();
  sync(shard_as(y, like));
  REQUIRE(pool.counters().collectives() == 0);

  using D = sharded_tensor<float, extents<dyn>, layout<slices, P<"x">>>;
  const device_pool two{slices{2}};
  const device_pool three{slices{3}};
  const D a = zeros<D>(two, 6);
  const D b = zeros<D>(three, 6);
  REQUIRE_THROWS_WITH(shard_as(a, b), contains("operand_meshes_differ"));
  REQUIRE(values(shard_as(a, a)).size() == 6);
}

TEST_CASE("copies, expressions, assignments and sync keep the layout") {
  const device_pool pool{pod{}};
  rows x = iota<rows>(pool);
  const rows copy = x;
  x = x + copy;
  sync(x);
  REQUIRE(any_tensor<float>(x).layout() == rows::layout_type::value);
  REQUIRE(any_tensor<float>(copy).layout() == rows::layout_type::value);
  REQUIRE(values(copy) == counting());
  static_assert(is<decltype(sharded_tensor(relu(x) * 2.0F)), rows>);
}

TEST_CASE("marking one of several results leaves the others as they are") {
  const device_pool pool{pod{}};
  const auto two = [](const auto& t) {
    return std::tuple(sharded_tensor(t + 1.0F), sharded_tensor(t * 1.0F));
  };
  const auto [a, b] = two(iota<whole>(pool));
  const sharded_tensor marked = mark_sharding<P<"x", none>>(a);
  sync(marked, a, b);
  const layout_desc replicated = whole::layout_type::value;
  REQUIRE(any_tensor<float>(a).layout() == replicated);
  REQUIRE(any_tensor<float>(b).layout() == replicated);
  REQUIRE(any_tensor<float>(marked).layout() == rows::layout_type::value);
  REQUIRE(values(b) == counting());
}

TEST_CASE("every device of a replicated tensor has the whole range and is a replica of its own") {
  const device_pool pool{pod{}};
  index_t device = 0;
  for (const auto& shard : shards(iota<whole>(pool))) {
    REQUIRE(shard.device() == device);
    REQUIRE(shard.replica() == device);
    REQUIRE(shard.range() == index_box{index_range{0, 8}, index_range{0, 16}});
    REQUIRE(std::vector<float>(shard.elements().begin(), shard.elements().end()) == counting());
    ++device;
  }
  REQUIRE(device == 8);
}

TEST_CASE("at run time the same promises are kept, and refused in the same words") {
  const device_pool pool{pod{}};
  const any_tensor<float> x = iota<rows>(pool);
  const any_tensor<float> all = iota<whole>(pool);
  REQUIRE(constrain(x, spec_desc{{"x", "y"}}).layout().dims[1].size() == 1);
  REQUIRE(values(mark_sharding(all, spec_desc{{"", "y"}})) == counting());
  REQUIRE(mark_sharding(x, x.layout()).layout() == x.layout());
  REQUIRE(values(mark_sharding(clear_sharding(x), spec_desc{{"", "y"}})) == counting());
  REQUIRE(shard_as(all, x).layout() == x.layout());

  REQUIRE_THROWS_WITH(constrain(x, spec_desc{{"", ""}}),
                      contains("constraint_needs_communication: a constraint is met without "
                               "communication; only a reshard moves data (operand 0, dimension "
                               "0, axis 'x'); f32[8@x, 16] would need all_gather over x; try "
                               "reshard<P<none, none>>(operand 0)"));
  REQUIRE_THROWS_WITH(
      mark_sharding(x, spec_desc{{"x", "y"}}),
      contains("tensor_is_marked_already: only a replicated tensor is marked; clear_sharding "
               "removes an earlier mark (operand 0, dimension 0, axis "
               "'x')") &&
          contains("clear_sharding(operand 0)"));
  REQUIRE_THROWS_WITH(mark_sharding(all, spec_desc{{"x"}}), contains("rank_differs_from_spec"));
  REQUIRE_THROWS_WITH(constrain(all, spec_desc{{"z", ""}}), contains("axis_is_not_in_mesh"));
  const any_tensor<float> terms = sum<0>(iota<rows>(pool));
  REQUIRE_THROWS_WITH(clear_sharding(terms),
                      contains("partial_value_is_read") && contains("reshard<P<none>>(operand 0)"));
  const device_pool other(2);
  const any_tensor<float> elsewhere =
      distribute(other, std::span<const float>(), {0}, layout_desc{{axis_list{}}});
  REQUIRE_THROWS_WITH(shard_as(x, elsewhere), contains("operand_meshes_differ"));
}
