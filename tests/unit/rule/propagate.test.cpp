// SPDX-License-Identifier: BSL-1.0
#include "support/catch.hpp"
#include "unit/rule/propagate_facts.hpp"

using namespace shardwise;

TEST_CASE("einsums give the layouts that the facts say") {
  for (const einsum_fact& fact : einsum_facts) {
    CAPTURE(static_cast<int>(&fact - einsum_facts));
    CHECK(holds(fact));
  }
}

TEST_CASE("functions of elements give the layouts that the facts say") {
  for (const elementwise_fact& fact : elementwise_facts) {
    CAPTURE(static_cast<int>(&fact - elementwise_facts));
    CHECK(holds(fact));
  }
}

TEST_CASE("reductions give the layouts that the facts say") {
  for (const reduction_fact& fact : reduction_facts) {
    CAPTURE(static_cast<int>(&fact - reduction_facts));
    CHECK(holds(fact));
  }
}

TEST_CASE("rules have the factors that the facts say") { CHECK(rule_facts_hold()); }
