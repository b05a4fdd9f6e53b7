// SPDX-License-Identifier: BSL-1.0
#include <shardwise/mesh/ordered_mesh.hpp>
#include <shardwise/mesh/submesh.hpp>
#include <shardwise/paper.hpp>

#include <type_traits>

using namespace shardwise;

namespace {

struct grid : mesh<axis<"x", 2>, axis<"y", 2>> {};
constexpr index_t swapped[] = {3, 1, 2, 0};
struct pod : ordered_mesh<grid, swapped> {};

// device_order.hpp
constexpr index_t positions[] = {3, 1, 2, 0};
constexpr device_order order(swapped, positions);
static_assert(device_order{}.empty() && device_order{}.at(5) == 5 && device_order{}.find(5) == 5);
static_assert(order.at(0) == 3 && order.find(3) == 0 && !order.empty());
static_assert(order == pod::value.order && !(order == device_order{}));

constexpr index_t plain[] = {0, 1, 2, 3};
static_assert(device_order(plain, plain) == device_order{});
static_assert(!(device_order(plain, plain) == order));

constexpr diagnosis judged(device_numbers devices, index_t size) {
  index_t room[8]{};
  return invert(devices, size, {room, devices.size()});
}
constexpr index_t twice[] = {0, 1, 1, 3}, high[] = {0, 1, 2, 4}, low[] = {0, -1, 2, 3};
static_assert(judged(swapped, 4).ok());
static_assert(judged(swapped, 5) ==
              diagnosis{.rule = violation::device_count_differs, .have = 4, .want = 5});
static_assert(judged(twice, 4) == diagnosis{.rule = violation::device_is_repeated, .have = 1});
static_assert(judged(high, 4) ==
              diagnosis{.rule = violation::device_is_out_of_range, .have = 4, .want = 4});
static_assert(judged(low, 4).rule == violation::device_is_out_of_range);
static_assert(describe(judged(twice, 4)) ==
              "device_is_repeated: each device appears once in a mesh (device 1)");

// A mesh with an order is its grid with permuted devices.
static_assert(Mesh<pod> && std::is_empty_v<pod> && pod::devices == 4 && pod{}.desc() == pod::value);
static_assert(pod::value != grid::value && pod::value.axes == grid::value.axes);
static_assert(pod::value.at(3) == coordinates{0, 0} && pod::value.device({1, 1}) == 0);
static_assert(validate(pod::value).ok());
static_assert(validate(mesh_desc{{axis_desc{"x", 3}}, order}).rule ==
              violation::device_count_differs);

constexpr message_text shown = [] {
  message_text out;
  out << pod::value;
  return out;
}();
static_assert(shown == "mesh(x=2, y=2)[3,1,2,0]");

// Shards and groups are those of the devices.
using rows = layout<pod, P<"x", none>>;
static_assert(shard_box(pod::value, rows::value, {4, 2}, 3) ==
              index_box{index_range{0, 2}, index_range{0, 2}});
static_assert(shard_box(pod::value, rows::value, {4, 2}, 0) ==
              index_box{index_range{2, 4}, index_range{0, 2}});
constexpr device_groups along_y(pod::value, {1});
static_assert(along_y.member(0, 0) == 3 && along_y.member(0, 1) == 1 && along_y.group_of(0) == 1);

// On paper a program costs the same; tensors of different orders cannot be combined.
using X = sharded_tensor<float, extents<4, 2>, rows>;
static_assert(type_name<X>() == "f32[4@x, 2]");
constexpr auto cost = trace([](auto x) { return reshard<P<none, none>>(x); }, abstract<X>());
static_assert(cost.collectives() == 1 && cost.bytes_moved() == 16);

// submesh.hpp
struct cube : mesh<axis<"data", 2>, axis<"stage", 3>, axis<"model", 4>> {};
static_assert(submesh_of(cube::value, {"model"}).mesh == mesh_desc{{axis_desc{"model", 4}}});
static_assert(submesh_of(cube::value, {"model", "data"}).mesh.devices() == 8);
static_assert(submesh_of(cube::value, {}).mesh.devices() == 1);
static_assert(submesh_of(cube::value, {"modle"}).verdict ==
              diagnosis{.rule = violation::submesh_axis_is_not_in_mesh, .axis = "modle"});
static_assert(submesh_of(cube::value, {"data", "data"}).verdict.rule ==
              violation::submesh_axis_is_not_in_mesh);
static_assert(submesh_groups(cube::value, {"model"}).count() == 6);
static_assert(submesh_groups(cube::value, {"model"}).member(5, 3) == 23);
static_assert(submesh_groups(pod::value, {"y"}).member(0, 0) == 3);

static_assert(std::is_same_v<submesh<cube, "model">, mesh<axis<"model", 4>>>);
static_assert(
    std::is_same_v<submesh<cube, "stage", "data">, mesh<axis<"stage", 3>, axis<"data", 2>>>);
static_assert(submesh<mesh<axis<"x", dyn>, axis<"y", 2>>, "x">{3}.desc().devices() == 3);

static_assert(flatten(cube::value).mesh == mesh_desc{{axis_desc{"data_stage_model", 24}}});
static_assert(flatten(cube::value, "rank").mesh == mesh_desc{{axis_desc{"rank", 24}}});
static_assert(flatten(pod::value).mesh.device({0}) == 3 && flatten(pod::value).mesh.order == order);
static_assert(flatten(cube::value, "a b").verdict.rule == violation::axis_name_is_malformed);
static_assert(flatten(mesh_desc{{axis_desc{"abcdefghijklm", 2}, axis_desc{"nopqrstuvwxyz", 2}}})
                  .verdict.rule == violation::axis_name_is_malformed);
static_assert(std::is_same_v<flattened<cube>, mesh<axis<"data_stage_model", 24>>>);
static_assert(
    std::is_same_v<flattened<submesh<cube, "data", "model">, "rank">, mesh<axis<"rank", 8>>>);
static_assert(mesh_1d<"data">{8}.desc() == mesh_1d<"data", 8>::value);

}  // namespace
