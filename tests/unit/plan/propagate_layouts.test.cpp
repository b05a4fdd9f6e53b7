// SPDX-License-Identifier: BSL-1.0
#include "support/catch.hpp"
#include "unit/plan/propagate_layouts_facts.hpp"

TEST_CASE("layouts are propagated through programs as the facts say") {
  for (const propagated::propagated_fact& fact : propagated::facts) {
    CAPTURE(std::string_view(fact.label.data(), fact.label.size()));
    CHECK(holds(fact));
  }
}
