// SPDX-License-Identifier: BSL-1.0
#include "unit/rule/arrangement_facts.hpp"

#include "support/catch.hpp"

TEST_CASE("operations that arrange, look up and normalise give the layouts that the facts say") {
  for (const operation_fact& fact : arrangement::facts) {
    CAPTURE(static_cast<int>(&fact - arrangement::facts));
    CHECK(holds(fact));
  }
}
