// SPDX-License-Identifier: BSL-1.0
#include "support/catch.hpp"
#include "support/paper.hpp"
#include "unit/plan/mark_facts.hpp"

using namespace shardwise;

namespace {

/// The reference, by the elements of devices: a layout can be reached by slices if the shard of
/// each device lies inside its present shard and the same reductions are pending.
bool every_part_is_there(const mesh_desc& mesh, const tensor_desc& from, const layout_desc& to) {
  for (std::uint8_t a = 0; a < mesh.rank(); ++a)
    if (mesh.size(a) > 1 && from.layout.is_pending(a) != to.is_pending(a)) return false;
  for (index_t d = 0; d < mesh.devices(); ++d) {
    const index_box wanted = shard_box(mesh, to, from.extents, d);
    if (intersect(wanted, shard_box(mesh, from.layout, from.extents, d)) != wanted) return false;
  }
  return true;
}

std::string words(const mesh_desc& mesh, const tensor_desc& x, const layout_desc& to,
                  const diagnosis& verdict) {
  return promise_advice(mesh, x, to, verdict).c_str();
}

}  // namespace

TEST_CASE("every fact about promised layouts holds") {
  for (const mark_fact& fact : mark_facts) {
    CAPTURE(fact.from.rows.data(), fact.from.columns.data(), fact.to.rows.data(),
            fact.to.columns.data());
    CHECK(holds(fact));
  }
}

TEST_CASE("what a constraint allows is in place on every device, and a marking is a constraint") {
  for (int axes = 0; axes <= 3; ++axes)
    for (const mesh_desc& mesh : paper::meshes(axes, axes == 3 ? 2 : 3))
      for (int rank = 0; rank <= 2; ++rank) {
        const std::vector<layout_desc> all = paper::layouts(axes, rank, true);
        extents_desc extents;
        for (int d = 0; d < rank; ++d) extents.push_back(72);
        bool ones = false;
        for (const axis_desc& axis : mesh.axes) ones = ones || axis.size == 1;
        for (const layout_desc& from : all)
          for (const layout_desc& to : all) {
            if (created_pending(from, to) != 0) continue;
            const tensor_desc x{element::f32, extents, from};
            const diagnosis constraint = check_constraint(mesh, x, to);
            const diagnosis marking = check_marking(mesh, from, to);
            INFO(paper::show(mesh, x) << " to " << paper::show(mesh, {x.type, extents, to}));
            REQUIRE(constraint.ok() == first_communication(mesh, extents, from, to).axes.empty());
            if (constraint.ok() || !ones)
              REQUIRE(constraint.ok() == every_part_is_there(mesh, x, to));
            if (marking.ok()) REQUIRE(constraint.ok());
            const redistribution way = redistribute(mesh, x, to);
            REQUIRE((way.total_bytes() == 0) >= constraint.ok());
            if (from == cleared(from)) REQUIRE(marking.ok());
          }
      }
}

TEST_CASE("the words of a refused promise name the collective and the calls that help") {
  const mesh_desc mesh{{axis_desc{"x", 2}, axis_desc{"y", 3}}};
  const auto on = [&](spec_desc spec, partial_desc pending = {}) {
    return resolve(mesh, spec, pending).layout;
  };
  const tensor_desc rows{element::f32, {12, 6}, on({{"x,y", ""}})};
  const layout_desc whole = on({{"", ""}});
  CHECK(words(mesh, rows, whole, check_constraint(mesh, rows, whole)) ==
        "f32[12@(x,y), 6] would need all_gather over (x,y); try reshard<P<none, none>>(operand 0)");
  CHECK(words(mesh, rows, on({{"", "x"}}), check_marking(mesh, rows.layout, on({{"", "x"}}))) ==
        "f32[12@(x,y), 6] is marked; try clear_sharding(operand 0) first; try reshard<P<none, "
        "\"x\">>(operand 0)");
  const tensor_desc terms{element::f32, {12, 6}, on({{"", ""}}, {"x,y"})};
  const layout_desc fewer = on({{"", ""}}, {"y"});
  CHECK(words(mesh, terms, fewer, check_constraint(mesh, terms, fewer)) ==
        "f32[12, 6]{partial sum: x, y} would need all_reduce over x; try reshard to [-, -]{partial "
        "sum: y}");
  CHECK(check_constraint(mesh, rows, on({{"x"}})).rule == violation::rank_differs_from_spec);
  CHECK(check_constraint(mesh, rows, fewer).rule == violation::reshard_would_create_partial);
  CHECK(check_constraint(mesh, {element::f32, {12, 7}, whole}, on({{"", "y"}})).rule ==
        violation::extent_is_not_divisible);
}
