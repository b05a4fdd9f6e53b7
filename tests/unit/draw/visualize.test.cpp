// SPDX-License-Identifier: BSL-1.0
#include "support/catch.hpp"
#include <shardwise/shardwise.hpp>

#include <algorithm>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>

using namespace shardwise;

namespace {

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};

template <class X>
std::string picture() {
  std::ostringstream out;
  visualize<X>(out);
  return out.str();
}

}  // namespace

TEST_CASE("a matrix is a table whose cells list the devices that hold them") {
  REQUIRE(picture<sharded_tensor<float, extents<8, 16>, layout<pod, P<"data", none>>>>() ==
          "f32[8@data, 16] on mesh(data=2, model=4)\n"
          "      0:16\n"
          "    +---------+\n"
          "0:4 | 0 1 2 3 |\n"
          "    +---------+\n"
          "4:8 | 4 5 6 7 |\n"
          "    +---------+\n");
}

TEST_CASE("devices that hold terms of one value are joined") {
  REQUIRE(picture<sharded_tensor<float, extents<2>, layout<pod, P<none>, partial<"model">>>>() ==
          "f32[2]{partial sum: model} on mesh(data=2, model=4)\n"
          "  0:2\n"
          "+-----------------+\n"
          "| 0+1+2+3 4+5+6+7 |\n"
          "+-----------------+\n");
}

TEST_CASE("empty shards have no cell, and uneven ones show their ranges") {
  REQUIRE(picture<sharded_tensor<float, extents<5>,
                                 layout<pod, P<by("data", "model")>, partial<>, uneven>>>() ==
          "f32[5@(data,model)] on mesh(data=2, model=4)\n"
          "  0:1   1:2   2:3   3:4   4:5\n"
          "+-----+-----+-----+-----+-----+\n"
          "|  0  |  1  |  2  |  4  |  5  |\n"
          "+-----+-----+-----+-----+-----+\n");
}

TEST_CASE("higher ranks have a page for each part of the dimensions before the last two") {
  const std::string pages = picture<
      sharded_tensor<float, extents<2, 2, 4, 4>, layout<pod, P<"data", none, none, "model">>>>();
  REQUIRE(pages.find("[0:1, 0:2, .., ..]\n") != std::string::npos);
  REQUIRE(pages.find("[1:2, 0:2, .., ..]\n") != std::string::npos);
  REQUIRE(std::count(pages.begin(), pages.end(), '[') == 3);
}

TEST_CASE("wide tables are cut to the width") {
  std::ostringstream out;
  const mesh_desc mesh{{axis_desc{"x", 64}}};
  layout_desc layout;
  layout.dims.resize(1);
  layout.dims[0] = {std::uint8_t{0}};
  visualize(out, mesh, {element::f32, {256}, layout}, 60);
  std::istringstream lines(out.str());
  for (std::string line; std::getline(lines, line);) REQUIRE(line.size() <= 60);
  REQUIRE(out.str().find(" 63 ") != std::string::npos);
}

TEST_CASE("a tensor without elements says so") {
  REQUIRE(picture<sharded_tensor<float, extents<0, 4>, layout<pod, P<none, none>>>>() ==
          "f32[0, 4] on mesh(data=2, model=4)\n(no elements)\n");
}

TEST_CASE("of several processes, the first draws on the standard output") {
  using X = sharded_tensor<float, extents<8>, layout<pod, P<"data">>>;
  std::ostringstream out;
  std::streambuf* const before = std::cout.rdbuf(out.rdbuf());
  spawn(3, [] {
    visualize<X>();
    visualize<X::layout_type>();
    visualize(std::cout, pod::value, desc_of<X>(extents_desc{8}));
    // What a process keeps for itself is drawn by each.
    std::ostringstream own;
    visualize<X>(own);
    if (own.str() != picture<X>()) throw std::logic_error("a picture of its own");
  });
  std::cout.rdbuf(before);
  std::ostringstream one;
  visualize<X>(one);
  visualize<X::layout_type>(one);
  visualize(one, pod::value, desc_of<X>(extents_desc{8}));
  REQUIRE(out.str() == one.str());
}
