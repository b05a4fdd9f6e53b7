// SPDX-License-Identifier: BSL-1.0
#include "support/catch.hpp"
#include "unit/draw/golden.hpp"
#include <shardwise/draw/ascii.hpp>
#include <shardwise/draw/before_after.hpp>
#include <shardwise/draw/visualize.hpp>
#include <shardwise/paper.hpp>

#include <algorithm>
#include <sstream>
#include <string>

using namespace shardwise;

namespace {

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
struct large : mesh<axis<"x", 16>, axis<"y", 32>, axis<"z", 32>> {};

template <class Layout>
std::string drawn(const extents_desc& extents, const picture_style& style = {}) {
  std::ostringstream out;
  visualize(out, Layout::mesh_type::value, {element::f32, extents, Layout::value}, style);
  return out.str();
}

std::size_t longest_line(const std::string& text) {
  std::istringstream lines(text);
  std::size_t longest = 0;
  for (std::string line; std::getline(lines, line);) longest = std::max(longest, line.size());
  return longest;
}

/// The text without the escape sequences of colours.
std::string plain(const std::string& text) {
  std::string kept;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\x1b')
      i = text.find('m', i);
    else
      kept += text[i];
  }
  return kept;
}

}  // namespace

TEST_CASE("a layout is drawn without a tensor: its blocks are named by mesh coordinates") {
  std::ostringstream out;
  visualize<layout<pod, P<by("data", "model"), none>, partial<>>>(out);
  visualize<layout<pod, P<none, "data">, partial<"model">>>(out);
  visualize<layout<pod, P<>>>(out);
  golden::compare(golden::here() / "golden" / "layouts.txt", out.str());
}

TEST_CASE("cyclic blocks and chunks are drawn in the order of their indices") {
  std::ostringstream out;
  const extents_desc square{9, 9};
  const picture_style colour{.colour = true};
  out << drawn<layout<pod, P<block_cyclic<2>("data"), block_cyclic<2>("model")>>>(square);
  out << drawn<layout<pod, P<cyclic("model"), none>, partial<"data">>>({6, 2});
  out << drawn<layout<pod, P<strided_by<2>("data"), none>>>({8, 2}, colour);
  out << drawn<layout<pod, P<cyclic("data"), none, "model">>>({3, 2, 8});
  out << drawn<layout<pod, P<block_cyclic<100>("data", "model")>>>({100'000'000});
  visualize<layout<pod, P<block_cyclic<32>("data"), strided_by<2>("model")>>>(out);
  visualize(out, pod::value, {element::f32, {8}, layout<pod, P<"data">>::value},
            layout<pod, P<cyclic("data")>>::value);
  golden::compare(golden::here() / "golden" / "cyclic.txt", out.str());
}

TEST_CASE("many devices are written as ranges, many blocks and pages are left out in the middle") {
  std::string all = drawn<layout<large, P<"x">>>({1024});
  all += drawn<layout<large, P<none, none>>>({64, 1024});
  all += drawn<layout<large, P<"x", none>>>({16, 4});
  all += drawn<layout<large, P<none, "z">>>({4, 256}, {.width = 60});
  all += drawn<layout<large, P<"x", none>, partial<"z">>>({16, 4});
  all += drawn<layout<large, P<by("x", "y", "z")>>>({16384});
  const std::string pages = drawn<layout<large, P<by("x", "y"), none, "z">>>({512, 4, 32});
  REQUIRE(pages.find("... 504 more pages\n") != std::string::npos);
  REQUIRE(pages.find("[511:512, .., ..]\n") != std::string::npos);
  golden::compare(golden::here() / "golden" / "large.txt", all);
}

TEST_CASE("no picture of text is longer than a hundred thousand characters, nor wider than asked") {
  for (const extents_desc& extents : {extents_desc{16384, 16384}, extents_desc{16384, 5}}) {
    for (const char* rows : {"", "x", "x,y", "x,y,z"})
      for (const char* columns : {"", "z"}) {
        if (std::string(rows).find('z') != std::string::npos && *columns != '\0') continue;
        const resolved_layout layout = resolve(large::value, {{rows, columns}}, {}, uneven{});
        REQUIRE(layout.verdict.ok());
        std::ostringstream out;
        visualize(out, large::value, {element::f32, extents, layout.layout});
        REQUIRE(out.str().size() < 100000);
        REQUIRE(longest_line(out.str()) <= 100);
      }
  }
}

TEST_CASE("a reshard is drawn step by step with the bytes that move") {
  std::ostringstream out;
  const tensor_desc tiles{element::f32, {8, 16}, layout<pod, P<"data", "model">>::value};
  visualize(out, pod::value, tiles, layout<pod, P<"model", none>>::value);
  const tensor_desc terms{
      element::f32, {8, 16}, layout<pod, P<none, none>, partial<"model">>::value};
  visualize(out, pod::value, terms, layout<pod, P<by("data", "model"), none>>::value);
  visualize(out, pod::value, tiles, layout<pod, P<none, none>, partial<"model">>::value);
  golden::compare(golden::here() / "golden" / "reshards.txt", out.str());
}

TEST_CASE("colours change nothing but the colours") {
  using tiles = layout<pod, P<"data", "model">>;
  const std::string coloured = drawn<tiles>({8, 16}, {.colour = true});
  REQUIRE(plain(coloured) == drawn<tiles>({8, 16}));
  REQUIRE(std::count(coloured.begin(), coloured.end(), '\x1b') == 16);
  golden::compare(golden::here() / "golden" / "colours.txt", coloured);
  std::ostringstream file;
  REQUIRE_FALSE(style_for(file).colour);
}

TEST_CASE("what is not known yet is said") {
  std::ostringstream out;
  const mesh_desc unknown{{axis_desc{"x", dyn}}};
  const layout_desc rows = resolve(unknown, {{"x"}}, {}).layout;
  visualize(out, unknown, {element::f32, {8}, rows});
  visualize(out, unknown, rows);
  visualize(out, pod::value, {element::f32, {dyn}, layout<pod, P<"data">>::value});
  REQUIRE(out.str() ==
          "f32[8@x] on mesh(x=?)\n(sizes are not known yet)\n"
          "[x] on mesh(x=?)\n(sizes are not known yet)\n"
          "f32[?@data] on mesh(data=2, model=4)\n(sizes are not known yet)\n");
}
