// SPDX-License-Identifier: BSL-1.0
#include "support/catch.hpp"
#include "unit/plan/with_layouts_facts.hpp"

TEST_CASE("the reshards are inserted that propagated layouts need") {
  const auto check = [](const auto& facts) {
    for (const propagated::with_layouts_fact& fact : facts) {
      CAPTURE(std::string_view(fact.label.data(), fact.label.size()));
      CHECK(holds(fact));
    }
  };
  check(propagated::reshards);
  check(propagated::reshards_of_longer_programs);
}
