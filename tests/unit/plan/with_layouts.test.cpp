// SPDX-License-Identifier: BSL-1.0
#include "support/catch.hpp"
#include "unit/plan/with_layouts_facts.hpp"

TEST_CASE("the reshards are inserted that propagated layouts need") {
  for (const propagated::with_layouts_fact& fact : propagated::reshards) {
    CAPTURE(std::string_view(fact.label.data(), fact.label.size()));
    CHECK(holds(fact));
  }
}
