// SPDX-License-Identifier: BSL-1.0
#include "support/catch.hpp"
#include "unit/mesh/topology_facts.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

using namespace shardwise;

namespace {

using ids = std::vector<index_t>;

struct laid {
  placed_mesh mesh;
  ids devices;
};

// The devices of a mesh, row-major, or the error.
laid lay(const std::vector<device_attributes>& devices, const mesh_shape& ici,
         const mesh_shape& dcn, const mesh_options& options = {}) {
  std::vector<index_t> order(devices.size());
  laid result{place_hybrid_mesh(devices, ici, dcn, order, options), {}};
  if (result.mesh.ok())
    for (index_t i : order) result.devices.push_back(devices.at(static_cast<std::size_t>(i)).id);
  return result;
}

std::vector<device_attributes> machine(const physical_shape& physical, index_t slices = 1,
                                       const ids& ordinals = {}) {
  const index_t devices = bounded_product(physical, 1 << 20) * slices;
  std::vector<device_attributes> all(static_cast<std::size_t>(devices));
  REQUIRE(describe_devices(physical, slices, ordinals, all) == devices);
  return all;
}

mesh_shape ones(const mesh_shape& shape) {
  mesh_shape all;
  for (int l = 0; l < shape.ssize(); ++l) all.push_back(1);
  return all;
}

laid lay(const physical_shape& physical, const mesh_shape& mesh, const mesh_options& options = {}) {
  return lay(machine(physical), mesh, ones(mesh), options);
}

std::string words(const laid& result) { return describe(result.mesh.verdict).c_str(); }

// The same devices, listed in another order.
template <class List>
List turned(List list, std::size_t by) {
  std::rotate(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(by % list.size()),
              list.end());
  std::reverse(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(list.size() / 2));
  return list;
}

}  // namespace

TEST_CASE("devices are where the facts say, in whatever order they are listed") {
  for (const assignment_fact& fact : assignment_facts) {
    if (fact.devices.empty()) continue;
    const std::vector<device_attributes> devices = machine(fact.machine);
    for (std::size_t by : {0U, 1U, 5U}) {
      const laid result = lay(turned(devices, by), fact.mesh, ones(fact.mesh));
      REQUIRE(result.mesh.ok());
      CHECK(result.mesh.shape == fact.mesh);
      for (std::size_t i = 0; i < result.devices.size(); ++i)
        CHECK(result.devices[i] == number_of(fact.devices, static_cast<index_t>(i)));
    }
  }
}

TEST_CASE("slices fill the mesh block by block") {
  // Two slices whose devices have arbitrary numbers.
  const std::vector<device_attributes> two{
      {0, {0, 1, 0}, 0, 0}, {1, {1, 0, 0}, 0, 0}, {2, {0, 0, 0}, 0, 0}, {3, {1, 1, 0}, 0, 0},
      {4, {0, 0, 0}, 0, 1}, {5, {1, 1, 0}, 0, 1}, {6, {0, 1, 0}, 0, 1}, {7, {1, 0, 0}, 0, 1}};
  const laid blocks = lay(two, {2, 2}, {2, 1});
  CHECK(blocks.mesh.shape == mesh_shape{4, 2});
  CHECK(blocks.mesh.slices == 2);
  CHECK(blocks.devices == ids{2, 1, 0, 3, 4, 7, 6, 5});
  CHECK(lay(machine({2, 2, 1}, 2, {2, 0, 1, 3, 4, 6, 7, 5}), {2, 2}, {2, 1}).devices ==
        blocks.devices);
  CHECK(lay(two, {2, 2}, {1, 2}).devices == ids{2, 1, 4, 7, 0, 3, 6, 5});

  CHECK(hybrid_shape({1, 4, 1}, {2, 1, 1}) == mesh_shape{2, 4, 1});
  CHECK(lay(machine({2, 2, 1}, 2), {1, 4, 1}, {2, 1, 1}).mesh.shape == mesh_shape{2, 4, 1});
  CHECK(lay(machine({2, 2, 1}, 2), {2, 2}, {2, 1}).devices == ids{0, 1, 2, 3, 4, 5, 6, 7});
  CHECK(lay(machine({2, 2, 1}, 4), {1, 4}, {4, 1}).devices ==
        ids{0, 2, 1, 3, 4, 6, 5, 7, 8, 10, 9, 11, 12, 14, 13, 15});
}

TEST_CASE("slices come by their index, whatever it is and however they are listed") {
  std::vector<device_attributes> devices = machine({2, 1, 1}, 3);
  const ids expected = lay(devices, {2}, {3}).devices;
  CHECK(expected == ids{0, 1, 2, 3, 4, 5});
  for (device_attributes& device : devices) device.slice_index = device.slice_index * 7 + 3;
  for (std::size_t by : {0U, 1U, 2U, 3U})
    CHECK(lay(turned(devices, by), {2}, {3}).devices == expected);
  for (device_attributes& device : devices) device.slice_index = 100 - device.slice_index;
  CHECK(lay(devices, {2}, {3}).devices == ids{4, 5, 2, 3, 0, 1});
}

TEST_CASE("a mesh is a permutation, and each of its blocks is one slice") {
  struct small {
    physical_shape physical;
    mesh_shape ici;
  };
  const small all[] = {{{2, 2, 1}, {2, 2, 1}}, {{2, 3, 1}, {1, 3, 2}}, {{2, 2, 2}, {4, 1, 2}},
                       {{1, 4, 1}, {2, 1, 2}}, {{3, 2, 2}, {2, 6, 1}}, {{1, 1, 1}, {1, 1, 1}}};
  const mesh_shape outer[] = {{1, 1, 1}, {2, 1, 1}, {1, 2, 3}, {2, 2, 2}, {1, 1, 5}};
  for (const auto& [physical, ici] : all)
    for (const mesh_shape& dcn : outer) {
      const auto devices = machine(physical, bounded_product(dcn, 100));
      const laid result = lay(devices, ici, dcn, {.allow_split_physical_axes = true});
      REQUIRE(result.mesh.ok());
      CHECK(result.mesh.alike);
      ids sorted = result.devices;
      std::sort(sorted.begin(), sorted.end());
      ids iota(devices.size());
      std::iota(iota.begin(), iota.end(), index_t{0});
      CHECK(sorted == iota);
      const mesh_shape& shape = result.mesh.shape;
      for (std::size_t i = 0; i < devices.size(); ++i) {
        index_t rest = static_cast<index_t>(i), block = 0, scale = 1;
        for (int l = 2; l >= 0; --l) {
          block += rest % shape[l] / ici[l] * scale;
          rest /= shape[l];
          scale *= dcn[l];
        }
        CHECK(result.devices[i] / bounded_product(ici, 100) == block);
      }
    }
}

TEST_CASE("slices may differ in shape and place") {
  std::vector<device_attributes> devices = machine({4, 1, 1});
  const std::vector<device_attributes> other = machine({2, 2, 1}, 1, {4, 5, 6, 7});
  for (device_attributes& device : devices) device.slice_index = 0;
  for (device_attributes device : other) {
    device.slice_index = 1;
    device.coords[2] -= 9;
    devices.push_back(device);
  }
  const laid result = lay(devices, {4}, {2});
  CHECK(result.devices == ids{0, 1, 2, 3, 4, 5, 6, 7});
  CHECK_FALSE(result.mesh.alike);
}

TEST_CASE("machines and meshes that don't fit are refused with the reason") {
  const auto check = [](const laid& result, topology_rule rule, error_family family,
                        const std::string& sentence) {
    CHECK(result.mesh.verdict.rule == rule);
    CHECK(family_of(rule) == family);
    CHECK_THAT(words(result), contains(sentence));
  };
  const auto one = machine({2, 2, 1});
  const auto two = machine({2, 2, 1}, 2);
  check(lay(two, {2, 2}, {2}), topology_rule::ici_and_dcn_ranks_differ, error_family::assertion,
        "one entry for each axis, not 2 and 1");
  check(lay(machine({2, 2, 2}), {2, 2}, {1, 1}), topology_rule::device_count_differs,
        error_family::value,
        "Number of devices 8 must equal the product of mesh_shape (2, 2), which is 4");
  check(lay(two, {2, 2}, {4, 1}), topology_rule::slice_count_differs, error_family::value,
        "Number of slices 2 must equal the product of dcn_mesh_shape (4, 1), which is 4");
  check(lay(two, {2, 2}, {1, 1}), topology_rule::dcn_shape_is_missing, error_family::value,
        "Provide dcn_mesh_shape to create a mesh for multislice");
  check(lay(one, {2, 2}, {2, 1}), topology_rule::dcn_shape_needs_slices, error_family::value,
        "Invalid dcn_mesh_shape for single slice mesh");
  check(lay(machine({4, 4, 4}), {2, 1, 32}, {1, 1, 1}), topology_rule::axis_has_no_match,
        error_family::not_implemented, "axis 2 of size 32");
  check(lay(one, {0, 4}, {1, 1}), topology_rule::shape_is_not_positive, error_family::value,
        "(0, 4)");
  check(lay(one, {4, 1}, {-1, 1}), topology_rule::shape_is_not_positive, error_family::value,
        "(-1, 1)");
  check(lay({}, {1}, {1}), topology_rule::device_count_differs, error_family::value, "devices 0");

  auto mixed = two;
  mixed[5].slice_index = -1;
  check(lay(mixed, {2, 2}, {2, 1}), topology_rule::slice_index_is_missing, error_family::value,
        "device 6 has none");
  mixed[5].slice_index = -2;  // any negative number says that there is none
  CHECK(lay(mixed, {2, 2}, {2, 1}).mesh.verdict.rule == topology_rule::slice_index_is_missing);
  auto unnumbered = one;
  unnumbered[2].slice_index = -5;
  CHECK(lay(unnumbered, {2, 2}, {1, 1}).devices == lay(one, {2, 2}, {1, 1}).devices);
  auto uneven = two;
  uneven[5].slice_index = 0;
  check(lay(uneven, {2, 2}, {2, 1}), topology_rule::device_count_differs, error_family::value,
        "Number of devices 5");

  index_t memory[3];
  CHECK(place_mesh(one, {4}, memory).verdict.rule == topology_rule::order_does_not_fit);
  auto single = one;  // a machine that numbers its only slice
  for (device_attributes& device : single) device.slice_index = 0;
  CHECK(lay(single, {2, 2}, {1, 1}).mesh.ok());
}

TEST_CASE("devices in any order fill the box of their coordinates") {
  for (const physical_shape& shape :
       {physical_shape{1, 2, 1}, physical_shape{4, 4, 4}, physical_shape{8, 8, 16}}) {
    auto devices = turned(machine(shape), 3);
    for (device_attributes& device : devices) device.coords[1] += 5;
    std::vector<index_t> places(devices.size());
    const auto [verdict, grid] = grid_of(devices, places);
    REQUIRE(verdict.ok());
    CHECK(grid.shape == shape);
    for (std::size_t i = 0; i < places.size(); ++i) {
      const device_attributes& device = devices[static_cast<std::size_t>(places[i])];
      const index_t place =
          (device.coords[0] * shape[1] + device.coords[1] - 5) * shape[2] + device.coords[2];
      CHECK(place == static_cast<index_t>(i));
    }
  }
}

TEST_CASE("holes and doubles are found") {
  // Part of a grid: the bounding box is computed for each axis, so that a long row beside a short
  // one is handled.
  auto part = machine({4, 2, 1});
  std::vector<device_attributes> holed;
  for (const device_attributes& device : part)
    if (&device != &part[3]) holed.push_back(device);
  std::vector<index_t> places(part.size());
  const topology_verdict hole = grid_of(holed, places).verdict;
  CHECK(hole.rule == topology_rule::devices_are_not_a_cuboid);
  CHECK(hole.have == 7);
  CHECK(hole.want == 8);
  CHECK(family_of(hole.rule) == error_family::assertion);
  auto doubled = holed;
  doubled.push_back(holed[1]);
  CHECK_THAT(std::string(describe(grid_of(doubled, places).verdict).c_str()),
             contains("not a contiguous cuboid"));
  for (std::size_t missing = 0; missing < part.size(); ++missing)
    for (std::size_t twice = 0; twice < part.size(); ++twice) {
      auto broken = part;
      broken[missing] = part[twice];
      CHECK(grid_of(broken, places).verdict.ok() == (missing == twice));
      CHECK(lay(broken, {2, 4}, {1, 1}).mesh.ok() == (missing == twice));
    }
  const std::vector<device_attributes> corner{
      {0, {1, 0, 0}}, {1, {0, 0, 0}}, {2, {0, 1, 0}}, {3, {0, 2, 0}}};
  CHECK(grid_of(corner, places).verdict.want == 6);
  const std::vector<device_attributes> far{{0, {-2147483647 - 1, -2147483647, 0}},
                                           {1, {2147483647, 2147483647, 2147483647}}};
  CHECK(grid_of(far, places).verdict.rule == topology_rule::devices_are_not_a_cuboid);
}

TEST_CASE("split axes are used where whole ones don't suffice") {
  const mesh_options split{.allow_split_physical_axes = true};
  // 4x4 as 2x2x4: all of x for the last axis, halves of y for the others.
  CHECK(lay({4, 4, 1}, {2, 2, 4}, split).devices ==
        ids{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15});
  CHECK(lay({4, 4, 4}, {1, 16, 4}, split).devices == lay({4, 4, 4}, {1, 16, 4}).devices);
  for (const split_fact& fact : split_facts) {
    const laid result = lay(fact.machine, fact.mesh, split);
    REQUIRE(result.mesh.ok());
    for (int p = 0; p < 3; ++p)
      for (int l = 0; l < fact.mesh.ssize(); ++l)
        CHECK(result.mesh.plan.assignment.factor[p][l] == fact.factor[p][l]);
  }
}

TEST_CASE("contiguous submeshes exist for some machines and shapes") {
  const mesh_options contiguous{.contiguous_submeshes = true};
  CHECK_THAT(words(lay({4, 4, 8}, {1, 16, 8}, contiguous)),
             contains("cannot create contiguous submeshes for physical mesh topology (4, 4, 8)"));
  CHECK_THAT(words(lay({4, 8, 8}, {1, 128, 2}, contiguous)),
             contains("cannot create contiguous submeshes for mesh_shape (1, 128, 2) and physical "
                      "mesh topology (4, 8, 8). Available mesh_shapes: [(64, 4), (4, 64)]"));
  const laid trick = lay({4, 4, 4}, {16, 1, 4}, contiguous);
  CHECK(trick.mesh.plan.assignment.taken[0] == physical_axes{2, 1});
  for (std::size_t i = 0; i < 64; ++i) {
    const auto number = static_cast<index_t>(i);
    CHECK(trick.devices[i] == number);  // z, y, x: as counted, so that hosts keep together
  }
  CHECK(lay({4, 8, 8}, {4, 64}, contiguous).mesh.ok());
  CHECK(lay({2, 2, 4}, {4, 4}, contiguous).mesh.ok());
}

TEST_CASE("kinds of small machines have rings of their own") {
  const mesh_options v7x{.kind = device_kind::tpu_v7x};
  const ids tray{0, 1, 2, 3, 6, 7, 4, 5};
  CHECK(lay({2, 2, 1, 2}, {2, 1, 4}, v7x).devices == tray);
  CHECK(lay({2, 2, 1, 2}, {4, 1, 2}, v7x).devices == tray);
  CHECK(lay({2, 2, 4, 2}, {8, 4}, v7x).devices == ids{0,  1,  2,  3,  6,  7,  4,  5,  8,  9,  10,
                                                      11, 14, 15, 12, 13, 16, 17, 18, 19, 22, 23,
                                                      20, 21, 24, 25, 26, 27, 30, 31, 28, 29});
  // Larger ones have axes: the cores of a chip are the fastest and go to the last axis.
  const laid large = lay({4, 4, 4, 2}, {64, 2}, v7x);
  CHECK(large.mesh.plan.assignment.taken[1] == physical_axes{3});
  CHECK_FALSE(large.mesh.plan.ring.exists());

  CHECK(lay({2, 2, 1, 2}, {8}, {.kind = device_kind::tpu_v2}).mesh.plan.ring.exists());
  const auto v3 = machine({4, 2, 1, 2});
  CHECK(lay(v3, {2, 8}, {1, 1}, {.kind = device_kind::tpu_v3}).devices[4] == v3[6].id);
  CHECK(lay(v3, {16}, {1}, {.kind = device_kind::tpu_v3}).devices[4] == v3[4].id);
  CHECK(lay({2, 2, 1}, {4}, {.kind = device_kind::tpu_v5e}).devices == ids{0, 1, 3, 2});
  CHECK(lay({4, 2, 1}, {8}, {.kind = device_kind::tpu_v6e}).devices == ids{0, 1, 2, 3, 7, 6, 5, 4});
  CHECK(lay({4, 4, 1}, {16, 1}, {.kind = device_kind::tpu_v5e}).devices ==
        ids{0, 1, 2, 3, 7, 6, 5, 9, 10, 11, 15, 14, 13, 12, 8, 4});
  CHECK_FALSE(lay({4, 4, 1}, {4, 4}, {.kind = device_kind::tpu_v5e}).mesh.plan.ring.exists());
  CHECK(lay({2, 2, 2}, {8}, {.kind = device_kind::tpu_v5p}).devices == ids{0, 1, 3, 2, 6, 7, 5, 4});
  CHECK(lay({2, 2, 1}, {2, 2}, {.kind = device_kind::tpu_v4i}).mesh.plan.ring.exists());

  const laid cores = lay({2, 2, 1, 2}, {8}, {.kind = device_kind::tpu_v4});
  CHECK(cores.mesh.verdict.rule == topology_rule::chip_has_several_devices);
  CHECK_THAT(words(cores), contains("one device per chip"));
}

TEST_CASE("a slice of 4,096 devices is laid out at once, and so are 1,024 slices") {
  CHECK(lay({16, 16, 16}, {16, 256}).mesh.ok());
  CHECK(lay({8, 16, 32}, {2, 2, 4, 1, 8, 1, 32}, {.allow_split_physical_axes = true}).mesh.ok());
  const laid many = lay(machine({2, 2, 1}, 1024), {2, 2}, {32, 32});
  CHECK(many.mesh.ok());
  CHECK(many.mesh.shape == mesh_shape{64, 64});
}

TEST_CASE("machines are described only where the sizes agree") {
  device_attributes devices[8];
  CHECK(describe_devices({2, 2, 2}, 1, {}, devices) == 8);
  CHECK(devices[1] == device_attributes{4, {0, 0, 1}});
  CHECK(describe_devices({2, 2}, 2, {}, devices) == 8);
  CHECK(devices[5] == device_attributes{6, {0, 1, 0}, 0, 1});
  CHECK(describe_devices({2, 2, 1}, 1, {}, devices) == 0);
  CHECK(describe_devices({2, 0, 1}, 1, {}, devices) == 0);
  CHECK(describe_devices({2, 2, 1}, -2, {}, devices) == 0);
  CHECK(describe_devices({index_t{1} << 40, index_t{1} << 40}, 1, {}, devices) == 0);
  const index_t few[]{3, 1};
  CHECK(describe_devices({2, 2, 2}, 1, few, devices) == 0);
}
