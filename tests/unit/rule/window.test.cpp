// SPDX-License-Identifier: BSL-1.0
#include "support/catch.hpp"
#include "unit/rule/window_facts.hpp"

TEST_CASE("windows of a split dimension lack the neighbours that the facts say") {
  for (const windowed::halo_fact& fact : windowed::facts) {
    const auto found = shardwise::halo_of(windowed::line_of(fact.devices), shardwise::axis_list{0},
                                          fact.reads, fact.size);
    CAPTURE(static_cast<int>(&fact - windowed::facts), found.before, found.behind);
    CHECK(holds(fact));
  }
}
