// SPDX-License-Identifier: BSL-1.0
#include "support/catch.hpp"
#include "unit/notation/dtensor_facts.hpp"
#include "unit/notation/names_facts.hpp"
#include <shardwise/mesh.hpp>

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

TEST_CASE("parts of an axis are refused, however many there are") {
  const shardwise::mesh_desc mesh{{shardwise::axis_desc{"x", 65536}}};
  std::string words;
  for (int part = 32768; part > 0; part /= 2)
    words += (words.empty() ? "[{\"x\":(" : ", \"x\":(") + std::to_string(part) + ")2";
  CHECK(!shardwise::parse_open_layout(words + "}]", mesh).verdict.ok());
}

namespace {
struct names_square : shardwise::mesh<shardwise::axis<"x", 2>, shardwise::axis<"y", 2>> {};
constexpr shardwise::index_t names_order[] = {3, 1, 2, 0};
}  // namespace

TEST_CASE("groups of a mesh with an order have the devices of that order") {
  const shardwise::mesh_desc mesh = shardwise::ordered_mesh<names_square, names_order>::value;
  shardwise::index_t room[8];
  shardwise::device_buffer buffer(room, 8);
  const shardwise::groups_result made = shardwise::to_groups(mesh, shardwise::axis_list{1}, buffer);
  REQUIRE(made.verdict.ok());
  CHECK(made.groups.member(0, 0) == 3);
  CHECK(made.groups.member(0, 1) == 1);
  CHECK(made.groups.member(1, 0) == 2);
}

TEST_CASE("the factors of strided shards need the sizes of the mesh") {
  using namespace shardwise;
  const mesh_desc mesh{{axis_desc{"a", dyn}, axis_desc{"b", dyn}}};
  layout_desc layout;
  layout.dims.push_back({1, 0});
  layout.grains[0] = grain::strided(2);
  const read_placements swapped = to_placements(mesh, layout, dtensor_form::ordered);
  CHECK(swapped.verdict.reason == "every size of the mesh is known");
  // In the order of the mesh, a factor counts only chunks.
  layout.dims[0] = {0, 1};
  const read_placements in_order = to_placements(mesh, layout, dtensor_form::ordered);
  REQUIRE(in_order.verdict.ok());
  CHECK(in_order.placements[0].factor == 2);
  CHECK(in_order.placements[1].factor == 2);
}

TEST_CASE("Shardy lists all axes of a whole tensor that is manual or unreduced") {
  using namespace shardwise;
  const auto in_shardy = [](text_view words) {
    tile_list<64> memory;
    const named_result read = parse_hlo_named(words, memory.buffer);
    REQUIRE(read.verdict.ok());
    bounded_text<200> out;
    write_sdy(out, "m", read.sharding);
    return out;
  };
  CHECK(in_shardy("{mesh['x'=2,'y'=4], manual}") == R"(#sdy.sharding<@m, [], manual={"x", "y"}>)");
  CHECK(in_shardy("{mesh['x'=2,'y'=4], unreduced}") ==
        R"(#sdy.sharding<@m, [], unreduced={"x", "y"}>)");
  CHECK(in_shardy("{mesh['x'=2,'y'=4], replicated}") == "#sdy.sharding<@m, []>");
}

namespace {

/// A sink of words and characters alone, to which a number would be a character.
struct letters {
  std::string words;

  letters& operator<<(shardwise::text_view more) {
    words.append(more.data(), more.size());
    return *this;
  }
  letters& operator<<(char c) {
    words += c;
    return *this;
  }
};

}  // namespace

TEST_CASE("texts are written to any sink of words and characters") {
  using namespace shardwise;
  const mesh_desc mesh{{axis_desc{"x", 2}, axis_desc{"y", 65}}};
  letters named;
  named_sharding sharding;
  sharding.on.mesh = mesh;
  write_hlo_named(named, sharding);
  CHECK(named.words == "{mesh['x'=2,'y'=65], []}");
  letters inside;
  write_sdy_mesh(inside, sharding.on);
  CHECK(inside.words == R"(<["x"=2, "y"=65]>)");
  letters placements;
  write_placements(placements, parse_placements("S(0) SS(1,65)").placements);
  CHECK(placements.words == "S(0) SS(1,65)");
}
