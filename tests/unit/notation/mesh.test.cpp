// SPDX-License-Identifier: BSL-1.0
#include "support/catch.hpp"
#include "unit/notation/mesh_facts.hpp"

using namespace shardwise;

TEST_CASE("meshes are read from text") {
  for (const mesh_facts::said_mesh& fact : mesh_facts::said) {
    CAPTURE(std::string(fact.words.data()));
    CHECK(mesh_facts::holds(fact));
  }
}

TEST_CASE("a text that says no mesh is refused, where and why") {
  for (const mesh_facts::unsaid_mesh& fact : mesh_facts::unsaid) {
    CAPTURE(std::string(fact.words.data()));
    tile_list<32> room;
    const read_mesh read = parse_mesh(fact.words, room.buffer);
    CAPTURE(read.verdict.position, std::string(read.verdict.reason.data()));
    CHECK(mesh_facts::holds(fact));
  }
}

TEST_CASE("mesh_from_text gives the mesh, or throws what is wrong with the text") {
  CHECK(mesh_from_text("data=2,model=4").devices() == 8);
  tile_list<4> room;
  CHECK(mesh_from_text("x=2[1,0]", room.buffer).order.at(0) == 1);
  CHECK_THROWS_WITH(mesh_from_text("data=2,model"),
                    "text_is_malformed: a text follows the syntax of its notation (12 of 12 "
                    "characters); an axis has a size: data=2, or data=?, in \"data=2,model\" at "
                    "its end");
  CHECK_THROWS_WITH(mesh_from_text("x=2,x=4"),
                    "axis_is_repeated_in_mesh: the axes of a mesh have different names (axis 'x')");
  CHECK_THROWS_WITH(
      mesh_from_text("x=2[1,0]"),
      "text_is_malformed: a text follows the syntax of its notation (4 of 8 characters); "
      "the buffer has room for every device twice, in \"x=2[1,0]\" at \"1,0]\"");
  const std::string many = "x=2,y=" + std::string(70, '9') + ",z=" + std::string(70, '9');
  CHECK_THROWS_WITH(mesh_from_text(many), contains("in \"x=2,y=" + std::string(60, '9') +
                                                   "...\" at \"" + std::string(60, '9') + "...\""));
}

TEST_CASE("the text of a mesh is read as the same mesh") {
  CHECK(to_text(mesh_from_text("data=2,model=4")) == "mesh(data=2, model=4)");
  CHECK(to_text(mesh_from_text("data=?,model=4")) == "mesh(data=?, model=4)");
  std::string order;
  for (int d = 39; d >= 0; --d) order += (order.empty() ? "x=40[" : ",") + std::to_string(d);
  tile_list<80> room, again;
  const mesh_desc mesh = mesh_from_text(order + "]", room.buffer);
  const auto words = to_text(mesh);
  CHECK(mesh_from_text(words, again.buffer) == mesh);
  CHECK(words.size() > 100);
  CHECK_THROWS_WITH(to_text<40>(mesh), contains("layout_has_no_text") && contains("to_text<N>"));
}
