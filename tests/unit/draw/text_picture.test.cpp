// SPDX-License-Identifier: BSL-1.0
#include "support/catch.hpp"
#include "unit/draw/golden.hpp"
#include "unit/draw/sound_svg.hpp"
#include <shardwise/draw/visualize_text.hpp>
#include <shardwise/shardwise.hpp>

#include <algorithm>
#include <sstream>
#include <string>

using namespace shardwise;

namespace {

constexpr mesh_desc pod{{axis_desc{"data", 2}, axis_desc{"model", 4}}};

std::string drawn(text_view words, const sharding_context& about = {},
                  const picture_style& style = {.width = 80}) {
  std::ostringstream out;
  visualize(out, words, about, style);
  return out.str();
}

std::size_t longest_line(const std::string& text) {
  std::istringstream lines(text);
  std::size_t longest = 0;
  for (std::string line; std::getline(lines, line);) longest = std::max(longest, line.size());
  return longest;
}

void check(const char* name, const std::string& svg) {
  require_sound(svg);
  golden::compare(golden::here() / "golden" / name, svg);
}

}  // namespace

TEST_CASE("texts of every notation are drawn as tables") {
  std::string all;
  const auto add = [&](text_view words, const sharding_context& about = {}) {
    all += drawn(words, about) + '\n';
  };
  add("{devices=[4,1,2]0,1,2,3,4,5,6,7 last_tile_dim_replicate}");
  add("{devices=[2,2,2]<=[8]}");
  add("{devices=[2,1,3]<=[6]}", extents_desc{3, 4, 5});
  add("{devices=[8]<=[8]}", extents_desc{3});
  add("{devices=[2,2,2,2]<=[2,2,4]T(2,1,0) last_tile_dims={manual, replicated}}",
      extents_desc{4, 4});
  add("{devices=[4,1,2,4]<=[8,4]T(1,0) last_tile_dims={unreduced, replicated}}");
  add("{devices=[2,64]<=[64,2]T(1,0) last_tile_dim_replicate}");
  add("{devices=[64]<=[2,4,8]T(2,1,0)}");
  add("{replicated}", extents_desc{2, 2});
  add("{{replicated}, {devices=[2,1]1,0}, {mesh['a'=2,'b'=2], [{'a'}, {}]}}");
  add("{mesh['a'=2,'b'=2], device_ids=(3,1,2,0), [{'b'}, {}]}");
  add("{mesh['x'=8,'y'=4], [{'x':(1)2}, {'x':(2)4}]}", extents_desc{8, 8});
  add("{mesh['x'=2,'y'=2], [{'x', 'y'}]}", extents_desc{5});
  add("{mesh['x'=2], [{}], unreduced=max{'x'}}", extents_desc{5});
  add("#sdy.sharding<@m, [{\"data\"}, {\"model\", ?}p1]>", {pod, {4, 8}});
  add("#sdy.sharding<mesh<[\"a\"=2]>, [{\"a\"}]>");
  add("#sdy.sharding_per_value<[<@m, [{\"data\"}, {}]>, <@m, []>]>", pod);
  add("P('data', None)", {pod, {4, 8}});
  add("P(None, ('model', 'data'))", pod);
  add("(1, None)", pod);
  add("float32[8@data,16@model]", pod);
  add("f32[8, 16@data]{partial max: model}", pod);
  add("SS(0,4) S(0)", {pod, {8}});
  add("[Shard(1), Replicate()]", {pod, {4, 8}});
  add("R SS(0,2)", {pod, {8}});
  add("SS(0,2) S(0)", {pod, {19}});
  add("SS(-1,4) S(0)", {pod, {7, 13}});
  add("P(max) SS(0,3)", pod);
  add("P('data')", {pod, {dyn}});
  add("{devices=[2]<=[2]}", extents_desc{dyn});
  add("{devices=[2]<=[2]}", extents_desc{0});
  golden::compare(golden::here() / "golden" / "texts.txt", all);
}

TEST_CASE("a text that is no sharding is marked where it stops making sense") {
  std::string all;
  const auto add = [&](text_view words, const sharding_context& about = {}) {
    std::ostringstream out;
    const parse_verdict verdict = visualize(out, words, about, {.width = 60});
    CHECK_FALSE(verdict.ok());
    require_sound(to_svg(words, about));
    all += out.str();
  };
  add("");
  add("devices=2,2");
  add("{devices=[2,2]0,1,2}");
  add("{devices=[2,2]<=[8]}");
  add("{{replicated}, {devices=[2,1]1,0}, {manuel}}");
  add("{devices=[16]0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15 last_tile_dim_replicated}");
  add("{devices=[2,2]<=[4]}", extents_desc{8});
  add("{devices=[2,2]<=[4]}", pod);
  add("{mesh['a'=2], [{'a'}]}", extents_desc{8, 8});
  add("#sdy.sharding<@m, [{\"a\"}]>");
  add("P('data', 'modle')", pod);
  add("P('data', None)", {pod, {8}});
  add("S(0) R");
  add("S(0) Q", pod);
  add("S(2) R", {pod, {8}});
  add("S(0) SS(0,5000)", {pod, {100000}});
  add("SS(0,2) S(0)[0]", {pod, {8}});
  add("float32[8@x]", pod);
  add("P('data')", {named_mesh{pod, {}}, {}});
  add("{replicated}", extents_desc{-5});
  add("{replicated}", extents_desc{INT64_MAX, INT64_MAX, 0});
  add("f32[9223372036854775807,9223372036854775807]", pod);
  golden::compare(golden::here() / "golden" / "text_failures.txt", all);
}

TEST_CASE("pictures of texts are as wide as they may be, in colour too") {
  for (std::size_t width : {40U, 60U, 100U}) {
    CHECK(longest_line(drawn("{devices=[64]<=[64]}", extents_desc{640}, {.width = width})) <=
          width);
    CHECK(
        longest_line(drawn("{devices=[2,2,2,2,2,2]<=[64] metadata={op_name=a long remark on this}}",
                           {}, {.width = width})) <= width);
  }
  const std::string coloured = drawn("{devices=[2]1,0}", {}, {.colour = true});
  CHECK_THAT(coloured, contains("\x1b[30;48;5;117m 1 \x1b[0m"));
  CHECK_THAT(coloured, contains("\x1b[30;48;5;215m 0 \x1b[0m"));
}

TEST_CASE("texts have images") {
  const std::string groups =
      to_svg("{devices=[2,2,2]0,1,4,5,2,3,6,7 last_tile_dim_replicate}", extents_desc{5, 3});
  require_sound(groups);
  golden::compare(golden::pictures() / "text.svg", groups);
  check("text_tiles.svg", to_svg("{devices=[2,2]0,2,1,3}", extents_desc{5, 3}));
  check("text_groups.svg",
        to_svg("{devices=[2,2,2,2]<=[2,2,4]T(2,1,0) last_tile_dims={manual, unreduced}}"));
  check("text_tuple.svg", to_svg("{{replicated}, {devices=[4]3,1,2,0}}", extents_desc{3}));
  check("text_strided.svg", to_svg("S(0) SS(0,2)", {pod, {18}}));
  check("text_names.svg", to_svg("{mesh['a'=2,'b'=2], device_ids=(3,1,2,0), [{'b'}, {}]}"));
  CHECK(to_svg("float32[8@data,16@model]", pod)
            .find("f32[8@data, 16@model] on mesh(data=2, model=4), 64 B per device") !=
        std::string::npos);
}

TEST_CASE("very many devices are drawn at once") {
  for (text_view words :
       {text_view("{devices=[1073741824]<=[1073741824]}"),
        text_view("{devices=[2,536870912]<=[1073741824] last_tile_dim_replicate}"),
        text_view("{devices=[536870912,2]<=[2,536870912]T(1,0) last_tile_dims={unreduced}}"),
        text_view("{mesh['x'=32768,'y'=32768], [{'x', 'y'}]}"),
        text_view("{mesh['x'=32768,'y'=32768], [{'y'}], unreduced={'x'}}")})
    for (index_t size : {index_t{3}, index_t{1} << 30, index_t{1} << 56}) {
      CHECK(drawn(words, extents_desc{size}).size() < 100000);
      require_sound(to_svg(words, extents_desc{size}));
      require_sound(to_svg(words));
    }
}

TEST_CASE("strided shards are drawn where DTensor puts them") {
  const mesh_desc mesh{{axis_desc{"a", 3}, axis_desc{"b", 2}}};
  const dtensor_placement shards[] = {{.kind = dtensor_placement::replicate},
                                      {.kind = dtensor_placement::shard},
                                      {.kind = dtensor_placement::strided, .factor = 2},
                                      {.kind = dtensor_placement::strided, .factor = 3},
                                      {.kind = dtensor_placement::strided, .factor = 5}};
  for (const dtensor_placement& a : shards)
    for (const dtensor_placement& b : shards)
      for (index_t size = 1; size < 40; ++size) {
        const dtensor_placements placements{a, b};
        const detail::placement_tiles tiles(mesh, placements, {size}, true);
        CAPTURE(a.factor, b.factor, size);
        index_t count = 0;
        index_t covered = 0;
        (void)tiles.part(0, 0, count);
        for (index_t i = 0; i < count; ++i) {
          const detail::shown_part part = tiles.part(0, i, count);
          REQUIRE(part.range.begin == covered);
          covered = part.range.end;
          const detail::holders who = tiles.who({part.number});
          for (index_t device = 0; device < mesh.devices(); ++device) {
            bool holds = false, drawn_here = false;
            for (index_t x = 0; x < placed_size(mesh, placements, 0, size, device); ++x)
              holds =
                  holds || placed_index(mesh, placements, 0, size, device, x) == part.range.begin;
            for (index_t r = 0; r < who.replicas.count(); ++r)
              drawn_here = drawn_here || who.replicas[r] == device;
            REQUIRE(holds == drawn_here);
          }
        }
        REQUIRE(covered == size);
      }
}

TEST_CASE("a layout and its texts have the same picture") {
  // The picture below the two lines of text; texts with axis names also have a line with the
  // layout.
  const auto table = [](const std::string& all, int lines) {
    std::size_t at = 0;
    for (int i = 0; i < lines; ++i) at = all.find('\n', at) + 1;
    return all.substr(at);
  };
  const char* entries[] = {"", "data", "model", "data,model", "model,data"};
  const char* pendings[] = {"", "data", "model", "data,model"};
  const extents_desc extents{8, 16, 2};
  int seen = 0;
  for (const char* first : entries)
    for (const char* second : entries)
      for (const char* third : {"", "data"})
        for (const char* pending : pendings) {
          const resolved_layout layout = resolve(pod, {{first, second, third}}, {pending});
          if (!layout.verdict.ok() || !validate(pod, layout.layout, extents).ok()) continue;
          std::ostringstream own;
          write_picture(own, pod, tensor_desc{element::f32, extents, layout.layout});
          for (int form = 0; form < notation_count; ++form) {
            const message_text words = to_text(static_cast<notation>(form), pod, layout.layout);
            INFO(words.c_str());
            REQUIRE(table(drawn(words, {pod, extents}, {}), 2) == table(own.str(), 1));
            ++seen;
          }
        }
  CHECK(seen == 132);  // 22 layouts in 6 notations
}
