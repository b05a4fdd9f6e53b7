// SPDX-License-Identifier: BSL-1.0
#include "support/catch.hpp"
#include <shardwise/shardwise.hpp>

#include <type_traits>

using namespace shardwise;

namespace {

struct pod : mesh<axis<"x", 2>, axis<"y", 3>> {};
struct other : mesh<axis<"x", 2>, axis<"z", 3>> {};
struct rows_by_run : mesh<axis<"x", dyn>, axis<"y", 3>> {};
template <class Spec, class Policy = uneven>
using on_pod = layout<pod, Spec, partial<>, Policy>;
using M = sharded_tensor<float, extents<5, 4>, on_pod<P<"x", "y">>>;
using whole = sharded_tensor<float, extents<6, 6>, on_pod<P<none, none>, exact>>;
using rows = sharded_tensor<float, extents<6, 6>, on_pod<P<"x", none>, exact>>;

/// Checks that one function gives tensors with and without their types the same layouts and
/// elements.
template <class F, class X>
void same_without_type(const F& f, const X& x) {
  const sharded_tensor typed = f(x);
  const any_tensor<float> untyped = f(any_tensor<float>(x));
  REQUIRE(untyped.tensor() == typed.share()->tensor());
  REQUIRE(to_host(untyped) == to_host(typed));
}

}  // namespace

TEST_CASE("one reshard serves tensors with and without their types") {
  const device_pool pool{pod{}};
  const M m = iota<M>(pool);
  const whole w = iota<whole>(pool);
  same_without_type([](const auto& x) { return reshard<P<none, "x">>(x); }, m);
  same_without_type([](const auto& x) { return reshard<none, "x">(x); }, m);
  same_without_type([](const auto& x) { return reshard<P<none, by("x", "y")>, uneven>(x); }, m);
  same_without_type([](const auto& x) { return reshard<P<none, by("x", "y")>, single_cut>(x); }, m);
  same_without_type([](const auto& x) { return reshard<on_pod<P<none, "x">>>(x); }, m);
  same_without_type([](const auto& x) { return reshard<P<"y", none>, exact>(x); }, w);
  same_without_type([](const auto& x) { return reshard<P<"y", none>, uneven>(x + 1.0F); }, w);
  same_without_type([](const auto& x) { return exp(x, as<P<by("x", "y"), none>, single_cut>); }, m);
  same_without_type([](const auto& x) { return softmax<0>(x, as<P<none, "x">, uneven>); }, w);
  same_without_type([](const auto& x) { return softmax<0>(x, as<on_pod<P<none, "x">>>); }, m);
}

TEST_CASE("promises take layouts that are types of tensors without their types") {
  const device_pool pool{pod{}};
  const whole w = iota<whole>(pool);
  const rows r = iota<rows>(pool);
  same_without_type([](const auto& x) { return constrain<P<"x", "y">>(x); }, r);
  same_without_type([](const auto& x) { return constrain<P<"x", none>, uneven>(x * 2.0F); }, r);
  same_without_type([](const auto& x) { return mark_sharding<P<"y", none>>(x); }, w);
  same_without_type([](const auto& x) { return mark_sharding<P<by("x", "y")>, uneven>(x); },
                    iota<sharded_tensor<float, extents<5>, on_pod<P<none>>>>(pool));
  same_without_type([](const auto& x) { return mark_sharding<on_pod<P<"y", none>>>(x); }, w);
  const any_tensor<float> x = r;
  REQUIRE_THROWS_WITH((constrain<P<none, none>>(x)), contains("constraint_needs_communication") &&
                                                         contains("reshard<P<none, none>>"));
  REQUIRE_THROWS_WITH((mark_sharding<P<none, "y">>(x)), contains("tensor_is_marked_already"));
  REQUIRE(constrain(x, spec_desc{{"x", "y"}}, uneven{}).layout().uneven);
  REQUIRE(mark_sharding(any_tensor<float>(w), spec_desc{{"x", ""}}, uneven{}).layout() ==
          on_pod<P<"x", none>>::value);
}

TEST_CASE("manual sharding of a tensor without its type ends with a layout that is a type") {
  const device_pool pool{pod{}};
  const rows r = iota<rows>(pool);
  const auto doubled = [](const auto& x) {
    return disable_manual_sharding<P<"x", none>>(enable_manual_sharding(x) * 2.0F);
  };
  same_without_type(doubled, r);
  same_without_type(
      [](const auto& x) {
        return disable_manual_sharding<rows::layout_type>(exp(enable_manual_sharding(x)));
      },
      r);
  // Inside, a reshard keeps what is manual.
  same_without_type(
      [](const auto& x) {
        return disable_manual_sharding<P<"x", "y">>(
            reshard<P<none, "y">>(enable_manual_sharding(x)));
      },
      r);
  const any_tensor<float> mine = enable_manual_sharding(any_tensor<float>(r));
  REQUIRE(reshard(mine, spec_desc{{"", "y"}}).layout().manual == mine.layout().manual);
  REQUIRE_THROWS_WITH(reshard(mine, spec_desc{{"x", ""}}), contains("manual_axis_is_used"));
  REQUIRE_THROWS_WITH((disable_manual_sharding<P<"y", none>>(mine)),
                      contains("manual_axis_is_left"));
}

TEST_CASE("what a layout that is a type breaks is an error when the call is made") {
  const device_pool pool{pod{}};
  const any_tensor<float> x = iota<M>(pool);
  REQUIRE(reshard(x, spec_desc{{"", "x,y"}}, single_cut{}).layout() ==
          on_pod<P<none, by("x", "y")>, single_cut>::value);
  REQUIRE(reshard(x, spec_desc{{"", "x"}}, exact{}).layout() == on_pod<P<none, "x">, exact>::value);
  REQUIRE_THROWS_WITH((reshard<P<"y", none>, exact>(x)), contains("extent_is_not_divisible"));
  REQUIRE_THROWS_WITH((reshard<P<"z", none>>(x)), contains("axis_is_not_in_mesh"));
  REQUIRE_THROWS_WITH((reshard<layout<other, P<"x", none>>>(x)),
                      contains("operand_meshes_differ") &&
                          contains("the tensor is on mesh(x=2, y=3), its type on mesh(x=2, z=3)"));
  using target = layout<rows_by_run, P<none, "x">, partial<>, uneven>;
  REQUIRE(reshard<target>(x).layout() == target::value);
}
