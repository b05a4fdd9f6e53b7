// SPDX-License-Identifier: BSL-1.0
#include "support/catch.hpp"
#include "unit/notation/groups_facts.hpp"

using namespace shardwise;

TEST_CASE("groups of devices are read and written in every form") {
  for (const groups_fact& fact : groups_facts) {
    tile_list<64> memory;
    CAPTURE(std::string(fact.given.data()),
            std::string(said_of_groups(parse_groups(fact.given, memory.buffer).verdict).c_str()));
    CHECK(holds(fact));
  }
  for (const named_groups_fact& fact : named_groups_facts) {
    CAPTURE(std::string(fact.given.data()));
    CHECK(holds(fact));
  }
}

TEST_CASE("the axes of Shardy's collectives are read and written") {
  for (const axes_fact& fact : axis_lists_facts) {
    CAPTURE(std::string(fact.given.data()),
            std::string(said_of_groups(parse_axis_lists(fact.given, axes_mesh).verdict).c_str()));
    CHECK(holds_lists(fact));
  }
  for (const axes_fact& fact : axis_moves_facts) {
    CAPTURE(std::string(fact.given.data()),
            std::string(said_of_groups(parse_axis_moves(fact.given, axes_mesh).verdict).c_str()));
    CHECK(holds_moves(fact));
  }
}
