// SPDX-License-Identifier: BSL-1.0
#include "support/catch.hpp"
#include "unit/plan/redistribute_facts.hpp"
#include <shardwise/notation.hpp>

using namespace shardwise;

TEST_CASE("redistributions take the collectives that the facts say") {
  for (const redistribute_fact& fact : redistribute_facts) {
    CAPTURE(static_cast<int>(&fact - redistribute_facts));
    CHECK(holds(fact));
  }
}

TEST_CASE("axes that arrive in another order are ordered at the end, not gathered") {
  const auto plan = [](const mesh_desc& mesh, text_view from, text_view to) {
    const tensor_desc source = parse_type(from, mesh).tensor, target = parse_type(to, mesh).tensor;
    const redistribution way = redistribute(mesh, source, target.layout);
    REQUIRE(way.verdict.ok());
    REQUIRE(way.moves.back().after == target.layout);
    return way.total_bytes();
  };
  // A hundred times as much is received if the last two axes are gathered early.
  const mesh_desc large{{axis_desc{"a", 64}, axis_desc{"b", 2}, axis_desc{"data", 3},
                         axis_desc{"model", 4}, axis_desc{"x", 64}}};
  REQUIRE(plan(large, "bf16[64@x, 320@a, 3, 1536@(b,data), 60@model]",
               "bf16[64, 320, 3, 1536@(model,a), 60@data]") == 37'008'000);
  const mesh_desc five{
      {axis_desc{"a", 2}, axis_desc{"b", 2}, axis_desc{"c", 2}, axis_desc{"d", 3}}};
  REQUIRE(plan(five, "f32[48@a, 96@(c,d), 48@b]", "f32[48, 96@(b,c,a,d), 48]") == 110'592);
}
