// SPDX-License-Identifier: BSL-1.0
#include <shardwise/draw/ascii.hpp>
#include <shardwise/draw/before_after.hpp>
#include <shardwise/mesh/ordered_mesh.hpp>
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 2>> {};

// ascii.hpp: the compiler draws.
static_assert(picture_of<layout<pod, P<"model">>>() ==
              "[model] on mesh(data=2, model=2)\n"
              "  model=0   model=1\n"
              "+---------+---------+\n"
              "|   0 2   |   1 3   |\n"
              "+---------+---------+\n");
static_assert(
    picture_of<sharded_tensor<float, extents<4>, layout<pod, P<"data">, partial<"model">>>>() ==
    "f32[4@data]{partial sum: model} on mesh(data=2, model=2)\n"
    "  0:2   2:4\n"
    "+-----+-----+\n"
    "| 0+1 | 2+3 |\n"
    "+-----+-----+\n");
static_assert(
    picture_of<sharded_tensor<float, extents<3, 2>,
                              layout<pod, P<by("data", "model"), none>, partial<>, uneven>>>() ==
    "f32[3@(data,model), 2] on mesh(data=2, model=2)\n"
    "      0:2\n"
    "    +-----+\n"
    "0:1 |  0  |\n"
    "    +-----+\n"
    "1:2 |  1  |\n"
    "    +-----+\n"
    "2:3 |  2  |\n"
    "    +-----+\n");
static_assert(picture_of<sharded_tensor<float, extents<dyn>, layout<pod, P<"data">>>>() ==
              "f32[?@data] on mesh(data=2, model=2)\n(sizes are not known yet)\n");

// before_after.hpp
constexpr bounded_text<1000> gathered = [] {
  bounded_text<1000> out;
  write_reshard(out, pod::value, {element::f32, {4}, layout<pod, P<"data">>::value},
                layout<pod, P<none>>::value);
  return out;
}();
static_assert(gathered ==
              "f32[4@data] on mesh(data=2, model=2)\n"
              "  0:2   2:4\n"
              "+-----+-----+\n"
              "| 0 1 | 2 3 |\n"
              "+-----+-----+\n"
              "  |  all_gather over data of dimension 0, each device receives 8 B\n"
              "  v\n"
              "f32[4] on mesh(data=2, model=2)\n"
              "  0:4\n"
              "+---------+\n"
              "| 0 1 2 3 |\n"
              "+---------+\n");

// holders.hpp: ranges, distances, and runs of runs.
constexpr mesh_desc large{{axis_desc{"x", 16}, axis_desc{"y", 8}, axis_desc{"z", 4}}};
constexpr auto written = [](const axis_list& axes, index_t first) {
  bounded_text<100> out;
  detail::device_set(large, axes, first).write(out);
  return out;
};
static_assert(written({}, 7) == "7");
static_assert(written({0, 1, 2}, 0) == "0-511" && written({1, 2}, 32) == "32-63");
static_assert(written({1}, 1) == "1,5,9..29" && written({0}, 2) == "2,34,66..482");
static_assert(written({0, 2}, 0) == "0-3 32-35 .. 480-483");

namespace {
// A mesh with an explicit order shows its devices; manual axes are shown separately.
inline constexpr index_t swapped[] = {3, 1, 2, 0};
struct reordered : ordered_mesh<mesh<axis<"x", 2>, axis<"y", 2>>, swapped> {};
static_assert(picture_of<layout<reordered, P<"x", "y">>>() ==
              "[x, y] on mesh(x=2, y=2)[3,1,2,0]\n"
              "      y=0   y=1\n"
              "    +-----+-----+\n"
              "x=0 |  3  |  1  |\n"
              "    +-----+-----+\n"
              "x=1 |  2  |  0  |\n"
              "    +-----+-----+\n");
static_assert(picture_of<layout<reordered, P<none>, manual<"x", partial<"y">>>>() ==
              "[-]{partial sum: y}{manual: x} on mesh(x=2, y=2)[3,1,2,0]\n"
              "  -\n"
              "+---------+\n"
              "| 3+1/2+0 |\n"
              "+---------+\n");
}  // namespace
