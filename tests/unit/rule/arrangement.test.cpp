// SPDX-License-Identifier: BSL-1.0
#include "support/catch.hpp"
#include "unit/rule/arrangement_facts.hpp"

TEST_CASE("operations that arrange, look up and normalise give the layouts that the facts say") {
  for (const operation_fact& fact : arrangement::facts) {
    CAPTURE(static_cast<int>(&fact - arrangement::facts));
    CHECK(holds(fact));
  }
}
