// SPDX-License-Identifier: BSL-1.0
#include "support/catch.hpp"
#include "unit/draw/golden.hpp"
#include "unit/draw/sound_svg.hpp"
#include <shardwise/draw/svg.hpp>
#include <shardwise/shardwise.hpp>

#include <string>

using namespace shardwise;

namespace {

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
struct cube : mesh<axis<"x", 2>, axis<"y", 2>, axis<"z", 3>> {};
struct grid : mesh<axis<"row", 2>, axis<"column", 3>> {};
struct large : mesh<axis<"x", 16>, axis<"y", 32>, axis<"z", 32>> {};

struct quad : mesh<axis<"x", 2>, axis<"y", 2>> {};
using tiles = sharded_tensor<float, extents<8, 16>, layout<pod, P<"data", "model">>>;
using terms =
    sharded_tensor<float, extents<512, 1024>, layout<pod, P<"data", none>, partial<"model">>>;

void check(const char* name, const std::string& svg) {
  require_sound(svg);
  golden::compare(golden::here() / "golden" / name, svg);
}
void check_of_docs(const char* name, const std::string& svg) {
  require_sound(svg);
  golden::compare(golden::pictures() / name, svg);
}

}  // namespace

TEST_CASE("a tensor: its blocks to scale, and the mesh in their colours") {
  check_of_docs("tiles.svg", to_svg<tiles>());
  check_of_docs("partial.svg", to_svg<terms>());
}

TEST_CASE("pages for higher ranks, of the tensor and of the mesh") {
  check("cube.svg",
        to_svg<sharded_tensor<float, extents<4, 6, 8>, layout<cube, P<"x", "z", "y">>>>());
  check("scalar.svg", to_svg<sharded_tensor<double, extents<>, layout<pod, P<>>>>());
  check("layout.svg", to_svg<layout<pod, P<by("data", "model"), none>>>());
}

TEST_CASE("uneven shards are drawn to scale, empty ones as holes of the mesh") {
  using ragged = layout<pod, P<by("data", "model")>, partial<>, uneven>;
  check("uneven.svg", to_svg<sharded_tensor<float, extents<5>, ragged>>());
}

TEST_CASE("cyclic blocks are drawn where they are") {
  using blocks =
      layout<grid, P<block_cyclic<2>("row"), block_cyclic<2>("column")>, partial<>, uneven>;
  using matrix = sharded_tensor<float, extents<9, 9>, blocks>;
  check_of_docs("block_cyclic.svg", to_svg<matrix>());
  check("cyclic.svg", to_svg<layout<grid, P<cyclic("row"), strided_by<2>("column")>>>());
  check(
      "pages_to_cyclic.svg",
      to_svg<sharded_tensor<float, extents<4, 2, 6>, layout<grid, P<"row%1", none, "column">>>>());
  check("gathered_blocks.svg", to_svg<matrix, P<"row", none>>());

  // Rows in contiguous shards that become cyclic: one exchange within the dimension.
  const tensor_desc rows{element::f32, {12, 4}, layout<grid, P<"column", none>>::value};
  const redistribution way =
      redistribute(grid::value, rows, layout<grid, P<cyclic("column"), none>>::value);
  REQUIRE(way.moves.size() == 1);
  check_of_docs("contiguous_to_cyclic.svg", to_svg(grid::value, rows, way.moves[0]));
  tensor_desc tall = rows;
  tall.extents[0] = 12000;
  REQUIRE(to_svg(grid::value, tall, way.moves[0]).find("too many blocks to draw") !=
          std::string::npos);
}

TEST_CASE("a reshard has a panel for each collective") {
  check_of_docs("reshard.svg", to_svg<tiles, P<"model", none>>());
  check("reduce.svg", to_svg<terms, P<by("data", "model"), none>>());
}

TEST_CASE("each collective has a diagram: who sends what to whom") {
  check_of_docs("slice.svg", to_svg(collective::slice));
  check_of_docs("reduce_scatter.svg", to_svg(collective::reduce_scatter));
  check_of_docs("all_to_all.svg", to_svg(collective::all_to_all));
  check_of_docs("all_reduce.svg", to_svg(collective::all_reduce));
  check_of_docs("all_gather.svg", to_svg(collective::all_gather));
  check_of_docs("shift.svg", to_svg(collective::collective_permute));
  check_of_docs("broadcast.svg", to_svg(collective::broadcast));
  check_of_docs("halo_exchange.svg", to_svg(collective::halo_exchange));
}

TEST_CASE("shards that go to other devices as they are") {
  const tensor_desc rows{element::f32, {8, 8}, layout<quad, P<"x", none>>::value};
  const redistribution way = redistribute(quad::value, rows, layout<quad, P<"y", none>>::value);
  REQUIRE(way.moves.size() == 1);
  check_of_docs("collective_permute.svg", to_svg(quad::value, rows, way.moves[0]));
}

TEST_CASE("a diagram of some devices of many, and of shards that are empty") {
  const tensor_desc ragged{
      element::f32, {5, 7}, layout<pod, P<"model", none>, partial<>, uneven>::value};
  const layout_desc columns = layout<pod, P<none, "model">, partial<>, uneven>::value;
  check("empty_sender.svg",
        to_svg(pod::value, ragged, redistribute(pod::value, ragged, columns).moves[0]));
  tensor_desc now{
      element::f32, {1024, 4096, 64}, layout<large, P<"x", none, "y">, partial<"z">>::value};
  const redistribution way =
      redistribute(large::value, now, layout<large, P<none, "y", none>>::value);
  for (const planned_transfer& step : way.moves) {
    require_sound(to_svg(large::value, now, step));
    REQUIRE(to_svg(large::value, now, step).size() < 30000);
    now.layout = step.after;
  }
}

TEST_CASE("pictures of very many devices stay small") {
  using many = sharded_tensor<float, extents<1024, 64, 64>, layout<large, P<"x", "y", "z">>>;
  const std::string svg = to_svg<many>();
  require_sound(svg);
  REQUIRE(svg.size() < 200000);
  REQUIRE(svg.find("13 more pages") != std::string::npos);
  require_sound(to_svg<many, P<none, by("y", "x"), "z">>());
}

TEST_CASE("every layout of a small mesh has a sound picture") {
  const char* entries[] = {"", "x", "y", "z", "x,y", "y,x", "z,x%3", "y*2", "x%1", "x,y,z"};
  const char* pendings[] = {"", "x", "y", "x,z"};
  const extents_desc sizes[] = {{12, 12}, {1, 7}, {5, 1000}, {100000, 3}, {1'000'000'000'000, 2}};
  for (const char* rows : entries)
    for (const char* columns : entries)
      for (const char* pending : pendings) {
        const resolved_layout layout = resolve(cube::value, {{rows, columns}}, {pending}, uneven{});
        if (!layout.verdict.ok()) continue;
        for (const extents_desc& extents : sizes) {
          const tensor_desc tensor{element::f32, extents, layout.layout};
          require_sound(to_svg(cube::value, tensor));
          layout_desc rows_by_z;
          rows_by_z.dims = {axis_list{2}, axis_list{}};
          rows_by_z.uneven = true;
          require_sound(to_svg(cube::value, tensor, rows_by_z));
          tensor_desc now = tensor;
          for (const planned_transfer& step : redistribute(cube::value, tensor, rows_by_z).moves) {
            require_sound(to_svg(cube::value, now, step));
            now.layout = step.after;
          }
        }
      }
}

TEST_CASE("what cannot be drawn is said, and text is escaped") {
  const layout_desc rows = layout<pod, P<"data">>::value;
  const std::string unknown = to_svg(pod::value, {element::f32, {dyn}, rows});
  require_sound(unknown);
  REQUIRE(unknown.find("sizes are not known yet") != std::string::npos);
  REQUIRE(to_svg(pod::value, {element::f32, {0}, rows}).find("no elements") != std::string::npos);
  const layout_desc pending = layout<pod, P<none>, partial<"model">>::value;
  const std::string refused = to_svg(pod::value, {element::f32, {8}, rows}, pending);
  require_sound(refused);
  REQUIRE(refused.find("reshard_would_create_partial: ") != std::string::npos);
  const std::string same = to_svg(pod::value, {element::f32, {8}, rows}, rows);
  REQUIRE(same.find("nothing moves") != std::string::npos);
  REQUIRE(same.find(" -&gt; ") != std::string::npos);
}

TEST_CASE("a tensor and an expression are drawn as their types are, and nothing is computed") {
  device_pool pool{pod{}};
  const auto x = zeros<tiles>(pool);
  REQUIRE(to_svg(x) == to_svg<tiles>());
  REQUIRE(to_svg(x + x) == to_svg<tiles>());
}
