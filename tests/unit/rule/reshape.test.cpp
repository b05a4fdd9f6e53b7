// SPDX-License-Identifier: BSL-1.0
#include "support/catch.hpp"
#include "unit/rule/reshape_facts.hpp"

using namespace shardwise;

TEST_CASE("reshapes have the factors that the facts say") { CHECK(reshape_structure_facts_hold()); }

TEST_CASE("reshapes give the layouts that the facts say") {
  for (const reshape_fact& fact : reshape_facts) {
    CAPTURE(static_cast<int>(&fact - reshape_facts));
    CHECK(holds(fact));
  }
}

TEST_CASE("each kind of factor is judged as the facts say") { CHECK(kind_facts_hold()); }

TEST_CASE("a reshape of more factors than a rule has room for keeps the dimensions that stay") {
  const extents_desc from{5, 4, 4, 4, 4, 4, 4, 7};
  const extents_desc to{5, 2, 4, 4, 4, 4, 8, 7};
  const factor_rule rule = reshape_rule(from, to);
  CHECK(rule.factors.ssize() <= max_factors);
  CHECK(rule.operands[0].ssize() == 8);
  mesh_desc mesh = mesh_of_sizes({5, 7});
  layout_desc ends;
  ends.dims.resize(8);
  ends.dims[0].push_back(0);
  ends.dims[7].push_back(1);
  CHECK(propagate(mesh, rule, {tensor_desc{element::f32, from, ends}}).result.layout == ends);
}
