// SPDX-License-Identifier: BSL-1.0
#include "support/catch.hpp"
#include "unit/notation/dtensor_facts.hpp"
#include "unit/notation/names_facts.hpp"

TEST_CASE("Shardy meshes and shardings are read and written") {
  for (const sdy_fact& fact : sdy_mesh_facts) {
    CAPTURE(std::string(fact.given.data()));
    CHECK(holds_mesh(fact));
  }
  for (const sdy_fact& fact : sdy_facts) {
    CAPTURE(std::string(fact.given.data()));
    CHECK(holds(fact));
  }
}

TEST_CASE("layouts that propagation may complete are read and written") {
  for (const sdy_fact& fact : open_layout_facts) {
    CAPTURE(std::string(fact.given.data()));
    CHECK(holds_open(fact));
  }
}

TEST_CASE("axes are cut and joined") {
  for (const slice_fact& fact : slice_facts) {
    CAPTURE(std::string(fact.dim.data()), fact.factor);
    CHECK(holds(fact));
  }
  for (const append_fact& fact : append_facts) {
    CAPTURE(std::string(fact.dim.data()));
    CHECK(holds(fact));
  }
}

TEST_CASE("JAX types and specs are read and written") {
  for (const jax_fact& fact : type_facts) {
    CAPTURE(std::string(fact.given.data()));
    CHECK(holds_type(fact));
  }
  for (const jax_fact& fact : spec_facts) {
    CAPTURE(std::string(fact.given.data()));
    CHECK(holds_spec(fact));
  }
}

TEST_CASE("placements give every device what the facts say") {
  for (const placement_fact& fact : placement_facts) {
    CAPTURE(std::string(fact.placements.data()));
    CHECK(holds(fact));
  }
}

TEST_CASE("placements and specs say the same") {
  for (const order_of_axes_fact& fact : order_of_axes_facts) {
    CAPTURE(std::string(fact.spec.data()));
    CHECK(holds(fact));
  }
  for (const placement_text_fact& fact : placement_text_facts) {
    CAPTURE(std::string(fact.given.data()));
    CHECK(holds(fact));
  }
  for (const refused_placements& fact : refused_placements_facts) {
    CAPTURE(std::string(fact.placements.data()));
    CHECK(holds(fact));
  }
}
