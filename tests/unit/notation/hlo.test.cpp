// SPDX-License-Identifier: BSL-1.0
#include "support/catch.hpp"
#include "unit/notation/hlo_facts.hpp"

using namespace shardwise;

TEST_CASE("a mesh and a spec become the tiles that the facts say") {
  for (const op_fact& fact : op_facts) {
    CAPTURE(std::string(fact.mesh.data()), std::string(fact.spec.data()));
    CHECK(holds(fact));
  }
}

TEST_CASE("named shardings become tiles") {
  for (const named_fact& fact : named_facts) {
    CAPTURE(std::string(fact.named.data()), std::string(tiles_of(fact.named).c_str()));
    CHECK(holds(fact));
  }
}

TEST_CASE("orders of devices have one form, and lists find it") {
  for (const order_fact& fact : order_facts) {
    CAPTURE(std::string(fact.ordered.data()));
    CHECK(holds(fact));
  }
}

TEST_CASE("HLO shardings are read and written") {
  for (const text_fact& fact : hlo_text_facts)
    CHECK(std::string(printed_hlo(fact.given).c_str()) == fact.printed.data());
  for (const text_fact& fact : hlo_named_text_facts)
    CHECK(std::string(printed_hlo_named(fact.given).c_str()) == fact.printed.data());
}

TEST_CASE("shardings are equal where every device holds the same") {
  for (const equality_fact& fact : equality_facts) {
    CAPTURE(std::string(fact.a.data()), std::string(fact.b.data()));
    CHECK(holds(fact));
  }
}

TEST_CASE("meshes are made of lists of devices, sizes and names") {
  for (const listed_mesh_fact& fact : listed_mesh_facts) {
    CAPTURE(std::string(fact.says.data()));
    CHECK(holds(fact));
  }
}

TEST_CASE("every position has its box") {
  for (const tile_fact& fact : tile_facts) {
    CAPTURE(std::string(fact.sharding.data()), fact.position);
    CHECK(holds(fact));
  }
}
