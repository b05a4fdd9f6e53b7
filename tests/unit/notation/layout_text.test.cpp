// SPDX-License-Identifier: BSL-1.0
#include "support/catch.hpp"
#include "support/paper.hpp"
#include <shardwise/notation.hpp>

#include <numeric>
#include <sstream>
#include <tuple>

using namespace shardwise;

namespace {

// A mesh of one axis with its devices in reverse order.
struct backwards {
  explicit backwards(index_t count) : devices(static_cast<std::size_t>(count)) {
    std::iota(devices.rbegin(), devices.rend(), index_t{0});
    mesh = {{axis_desc{"x", count}}, device_order(devices, devices)};  // its own inverse
  }
  backwards(const backwards&) = delete;

  std::vector<index_t> devices;
  mesh_desc mesh{};
};

constexpr notation forms[] = {notation::hlo_listed, notation::hlo_ordered, notation::hlo_named,
                              notation::sdy,        notation::jax,         notation::dtensor};

}  // namespace

TEST_CASE("every layout is written and read back without a buffer") {
  static_assert(std::size(forms) == notation_count);
  for (const mesh_desc& mesh : paper::meshes(3))
    for (const layout_desc& any : paper::layouts(3, 2, true)) {
      layout_desc layout = without_unit_axes(mesh, any);
      layout.uneven = false;  // of which no text has a word
      for (const notation form : forms) {
        message_text words;
        REQUIRE(write_layout_as(words, form, mesh, layout).ok());
        REQUIRE(to_text(form, mesh, layout) == words);
        REQUIRE(layout_of(form, words, mesh, 2) == layout);
        REQUIRE(layout_of(words, mesh, 2) == layout);
        const read_layout alone = parse_layout(form, words, mesh);
        const bool lists =
            form != notation::dtensor && words.data()[1] != 'r' && !(words == "{unreduced}");
        REQUIRE(alone.verdict.ok() == lists);
        if (lists) REQUIRE(alone.layout == layout);
      }
    }
}

TEST_CASE("the longest names have room in a text") {
  mesh_desc mesh;
  layout_desc layout;
  layout.dims.resize(max_rank);
  for (std::uint8_t a = 0; a < max_axes; ++a) {
    bounded_text<short_name::capacity> label("abcdefghijklmnopqrstuv");
    label << char('a' + a);
    mesh.axes.push_back({text_view(label), 16});
    layout.dims[a % 2 == 0 ? 7 : 0].push_back(a);
  }
  layout_desc pending;
  pending.dims.resize(max_rank);
  pending.pending = 127;
  pending.kind = reduction::product;
  for (const layout_desc& one : {layout, pending})
    for (const notation form : forms) {
      if (form == notation::hlo_listed) continue;
      if (form == notation::hlo_ordered && one.pending != 0) continue;  // of sums alone
      CHECK(longest_text(form, mesh) == 1000);
      CHECK(to_text(form, mesh, one).size() < 700);
    }
}

TEST_CASE("lists of 4096 devices need no buffer, longer ones do") {
  const backwards most(most_listed);
  const backwards more(most_listed + 1);
  const layout_desc split = layout_of(notation::jax, "P('x')", most.mesh);
  for (const notation form : forms) {
    constexpr std::size_t room = 1000 + 4096 * 6;
    REQUIRE(longest_text(form, most.mesh) == (form <= notation::sdy ? room : 1000));
    const bounded_text<room> words = to_text<room>(form, most.mesh, split);
    CHECK(layout_of(form, words, most.mesh, 1) == split);

    std::ostringstream out;
    const parse_verdict verdict = write_layout_as(out, form, more.mesh, split);
    CHECK(verdict.ok() == (form > notation::hlo_ordered));
    if (!verdict.ok())
      CHECK(verdict.reason == "a list of more than 4096 devices needs a buffer of the caller's");
  }
  // The buffer has space for all devices, once for writing and twice for reading.
  std::vector<index_t> memory(2 * (most_listed + 1));
  device_buffer once(memory.data(), most_listed + 1);
  std::ostringstream out;
  REQUIRE(write_layout_as(out, notation::hlo_listed, more.mesh, split, once).ok());
  const std::string words = out.str();
  CHECK(parse_layout(words, more.mesh).verdict.reason ==
        "a list of more than 4096 devices needs a buffer of the caller's");
  device_buffer twice(memory.data(), 2 * (most_listed + 1));
  CHECK(parse_layout(words, more.mesh, 1, twice).layout == split);
}

TEST_CASE("a plain mesh of any size is listed on a stream") {
  const mesh_desc mesh = mesh_from_text("data=128,model=512");
  const layout_desc layout = layout_of(notation::jax, "P('model', 'data')", mesh);
  std::ostringstream out;
  REQUIRE(write_layout_as(out, notation::hlo_listed, mesh, layout).ok());
  CHECK(out.str().substr(0, 32) == "{devices=[512,128]0,512,1024,153");
  CHECK(out.str().size() < longest_text(notation::hlo_listed, mesh));
}

TEST_CASE("what has no text, and what is no layout, is thrown") {
  const mesh_desc pod = mesh_from_text("data=64,model=64");
  const layout_desc blocks = layout_of(notation::jax, "P('data'%2)", pod);
  CHECK_THROWS_WITH(to_text(notation::sdy, pod, blocks),
                    "layout_has_no_text: a layout can be expressed in its notation, and the text "
                    "fits its capacity; only contiguous parts of a dimension can be written so");
  const layout_desc rows = layout_of(notation::jax, "P('data')", pod);
  CHECK_THROWS_WITH(to_text(notation::hlo_listed, pod, rows),
                    "layout_has_no_text: a layout can be expressed in its notation, and the text "
                    "fits its capacity; the text is longer: to_text<N> has room for N characters");
  const layout_desc columns = layout_of(notation::jax, "P(None, 'model')", pod);
  CHECK(to_text<16>(notation::jax, pod, columns) == "P(None, 'model')");
  CHECK_THROWS_AS(to_text<15>(notation::jax, pod, columns), error);
  CHECK_THROWS_WITH(layout_of(notation::jax, "P('data', 'modle')", pod),
                    "text_is_malformed: a text follows the syntax of its notation (10 of 18 "
                    "characters); axes are those of the mesh, in \"P('data', 'modle')\" at "
                    "\"'modle')\"");
  CHECK_THROWS_WITH(
      layout_of("S(0) R", pod),
      "text_is_malformed: a text follows the syntax of its notation (0 of 6 characters); "
      "a text without dimensions needs the rank of the tensor, in \"S(0) R\" at "
      "\"S(0) R\"");
}

TEST_CASE("a type with halos is written and read back") {
  const mesh_desc mesh{{axis_desc{"x", 4}, axis_desc{"y", 2}}};
  for (const text_view words :
       {"f32[8@x~1:1]", "f32[64@x~3:2, 8]", "bf16[16@(x,y)~0:1, 8]", "f32[8@y~32767:0, 8@x]"}) {
    const read_tensor read = parse_type(words, mesh);
    REQUIRE(read.verdict.ok());
    REQUIRE(to_text(mesh, read.tensor) == words);
  }
  for (const text_view words : {"f32[8@x~1]", "f32[8@x~:1]", "f32[8@x~32768:1]", "f32[8~1:1]"})
    REQUIRE_FALSE(parse_type(words, mesh).verdict.ok());
  // DTensor has no word for them.
  message_text out;
  REQUIRE_FALSE(
      write_layout_as(out, notation::dtensor, mesh, parse_type("f32[8@x~1:1]", mesh).tensor.layout)
          .ok());
  REQUIRE_FALSE(parse_partition_spec("P('x')", mesh, 9).verdict.ok());
}

TEST_CASE("a layout without a tensor is written and read back") {
  const mesh_desc mesh{{axis_desc{"x", 4}, axis_desc{"y", 2}, axis_desc{"z", 2}}};
  for (const text_view words :
       {"[]", "[-]", "[x, -]", "[(x,y), z]", "[x%32, (y,z)*1]", "[y*2, x~3:2]", "[-, -, z, -]",
        "[x, -]{partial sum: y, z}", "[-]{partial max: x}{manual: y}", "[x]{manual: z}"}) {
    const read_layout read = parse_shown_layout(words, mesh, uneven{});
    REQUIRE(read.verdict.ok());
    message_text written;
    write_layout(written, mesh, read.layout);
    REQUIRE(text_view(written) == words);
  }
  constexpr mesh_desc pod{{axis_desc{"data", 2}, axis_desc{"model", 4}}};
  static_assert(parse_shown_layout("[data, -]", pod).layout ==
                layout_of(notation::jax, "P('data', None)", pod));
  for (const auto& [words, position, reason] :
       {std::tuple{"x, -", 0, "dimensions are in brackets"},
        std::tuple{"[x, w]", 4, "axes are those of the mesh"},
        std::tuple{"[x, x]", 4, "an axis is used once"},
        std::tuple{"[x, -", 5, "dimensions end with ]"},
        std::tuple{"[(x,y]", 5, "several axes are in parentheses"},
        std::tuple{"[-,-,-,-,-,-,-,-,-]", 17, "a tensor has at most 8 dimensions"},
        std::tuple{"[x] on mesh(x=4)", 4, "nothing follows the end"}}) {
    const parse_verdict verdict = parse_shown_layout(words, mesh).verdict;
    CHECK(verdict.position == std::size_t(position));
    CHECK(verdict.reason == reason);
  }
}
