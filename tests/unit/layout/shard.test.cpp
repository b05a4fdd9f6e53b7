// SPDX-License-Identifier: BSL-1.0
#include "support/catch.hpp"
#include "unit/layout/shard_facts.hpp"

#include <sstream>

using namespace shardwise;

TEST_CASE("shards are where the facts say") {
  for (const shard_fact& fact : shard_facts) {
    CAPTURE(static_cast<int>(&fact - shard_facts));
    CHECK(holds(fact));
  }
}

TEST_CASE("a mesh is asked for its sizes when the program runs") {
  struct slice : mesh<axis<"data", dyn>, axis<"model", 4>> {};
  CHECK(slice{4}.desc().devices() == 16);
  CHECK_THROWS_AS(slice{0}, error);
  CHECK_THROWS_WITH(slice{-3},
                    contains("axis_size_is_not_positive: an axis of a mesh has at least one device "
                             "(axis 'data', -3 where 1 is needed)"));
  struct rack : mesh<axis<"x", dyn>, axis<"y", dyn>> {};
  CHECK(rack{{2, 3}}.desc().devices() == 6);
  CHECK_THROWS_AS((rack{{2, 0}}), error);
  CHECK_THROWS_WITH(slice{dyn}, contains("mesh_size_is_unknown"));
}

TEST_CASE("text is written to a stream") {
  std::ostringstream out;
  out << text_view("f32") << message_text("[8@x]");
  CHECK(out.str() == "f32[8@x]");
}
