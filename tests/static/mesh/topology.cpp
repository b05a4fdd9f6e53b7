// SPDX-License-Identifier: BSL-1.0
#include "unit/mesh/topology_facts.hpp"
#include <shardwise/mesh/machines.hpp>

#include <type_traits>

using namespace shardwise;

// topology.hpp, machines.hpp
constexpr topology slice = slice_of(machines::tpu_v4p, {4, 4, 8});
static_assert(slice.devices() == 128 && slice.shape() == physical_shape{4, 4, 8});
static_assert(slice.axes[2].wraps() && !slice_of(slice, {2, 2, 1}).axes[0].wraps());
static_assert(slice.bytes_per_second({0, 1}) == 180e9);
static_assert(slice_of(slice, {2, 4, 1}).bytes_per_second({0, 1, 2}) == 135e9);
static_assert(slice.network_bytes_per_second() == 25e9 / 4);
static_assert(hops(slice, {0, 0, 0}, {3, 2, 5}) == 1 + 2 + 3);
static_assert(hops(slice_of(slice, {2, 2, 1}), {0, 0, 0}, {1, 1, 0}) == 2);
static_assert(!slice_of(machines::tpu_v5e, {8, 16}).axes[0].wraps());
static_assert(slice_of(machines::tpu_v5e, {8, 16}).axes[1].wraps());
static_assert(machines::h100.axes[0].way.one_way() == 450e9 && !machines::h100.axes[0].wraps());
static_assert(machines::h100.axes[0].hops(1, 6) == 1 && machines::h100.axes[0].hops(3, 3) == 0);
static_assert(machines::find("b200")->flops_4bit == 9000e12 && !machines::find("b2000"));
static_assert(std::is_trivially_copyable_v<topology> && std::is_aggregate_v<device_attributes>);

// torus_assignment.hpp, torus_split.hpp
static_assert(all_hold(assignment_facts) && all_hold(split_facts));
static_assert(prime_factors(1).empty() && prime_factors(2) == inplace_vector<index_t, 62>{2});
static_assert(prime_factors(4) == inplace_vector<index_t, 62>{2, 2});
static_assert(prime_factors(43) == inplace_vector<index_t, 62>{43});
static_assert(prime_factors(360) == inplace_vector<index_t, 62>{2, 2, 2, 3, 3, 5});
static_assert(prime_factors(10) == inplace_vector<index_t, 62>{2, 5});

constexpr auto shown = [](const physical_shape& machine, const mesh_shape& mesh) {
  bounded_text<64> out;
  return out << assign_whole_axes(machine, mesh).assignment;
};
static_assert(shown({4, 4, 4}, {1, 16, 4}) == "[[], [1, 2], [0]]");

constexpr auto feasible = [](const physical_shape& machine, const axis_factors& used,
                             index_t size) {
  int ways = 0;
  for_each_feasible(machine, used, size, [&](const axis_factors&) { ++ways; });
  return ways;
};
static_assert(feasible({2, 2, 1}, {1, 2, 1}, 4) == 0 && feasible({2, 2, 1}, {1, 1, 1}, 2) == 2);
static_assert(feasible({4, 4, 4}, {1, 1, 1}, 4) == 6 && feasible({6, 6, 1}, {1, 2, 1}, 6) == 2);

// hybrid_mesh.hpp
static_assert(hybrid_shape({1, 4, 1}, {2, 1, 1}) == mesh_shape{2, 4, 1});

constexpr device_attributes two_slices[] = {
    {0, {0, 1, 0}, 0, 0}, {1, {1, 0, 0}, 0, 0}, {2, {0, 0, 0}, 0, 0}, {3, {1, 1, 0}, 0, 0},
    {4, {0, 0, 0}, 0, 1}, {5, {1, 1, 0}, 0, 1}, {6, {0, 1, 0}, 0, 1}, {7, {1, 0, 0}, 0, 1}};

constexpr bool blocks_are_in_order() {
  constexpr index_t expected[] = {2, 1, 0, 3, 4, 7, 6, 5};
  index_t order[8]{};
  const placed_mesh mesh = place_hybrid_mesh(two_slices, {2, 2}, {2, 1}, order);
  if (!mesh.ok() || !(mesh.shape == mesh_shape{4, 2}) || !mesh.alike) return false;
  for (int i = 0; i < 8; ++i)
    if (two_slices[order[i]].id != expected[i]) return false;
  return true;
}
static_assert(blocks_are_in_order());

constexpr auto judged = [](device_list devices, const mesh_shape& ici, const mesh_shape& dcn,
                           const mesh_options& options = {}) {
  index_t order[8]{};
  return place_hybrid_mesh(devices, ici, dcn, order, options).verdict.rule;
};
static_assert(to_text(topology_rule::nothing) == "nothing");
static_assert(to_text(topology_rule::device_count_differs) == "device_count_differs");
static_assert(to_text(topology_rule::order_does_not_fit) == "order_does_not_fit");

static_assert(judged(two_slices, {2, 2}, {2}) == topology_rule::ici_and_dcn_ranks_differ);
static_assert(judged(two_slices, {2, 2}, {1, 1}) == topology_rule::dcn_shape_is_missing);
static_assert(judged(two_slices, {2, 2}, {4, 1}) == topology_rule::slice_count_differs);
static_assert(judged(two_slices, {2, 4}, {2, 1}) == topology_rule::device_count_differs);
static_assert(judged(device_list(two_slices, 7), {2, 2}, {2, 1}) ==
              topology_rule::device_count_differs);

constexpr device_attributes row[] = {
    {0, {7, 1, 0}}, {1, {4, 1, 0}}, {2, {6, 1, 0}}, {3, {5, 1, 0}}};
static_assert(judged(row, {2, 2}, {2, 1}) == topology_rule::dcn_shape_needs_slices);
static_assert(judged(row, {2, 2}, {1, 1}) == topology_rule::axis_has_no_match);
static_assert(judged(row, {2, 2}, {1, 1}, {.allow_split_physical_axes = true}) ==
              topology_rule::nothing);
static_assert(judged(row, {4}, {1}, {.contiguous_submeshes = true}) ==
              topology_rule::machine_has_no_contiguous_submeshes);
static_assert(judged(device_list(row, 3), {3}, {1}) == topology_rule::devices_are_not_a_cuboid);
static_assert(describe(topology_verdict{}) == "nothing is wrong");
static_assert(
    describe(topology_verdict{.rule = topology_rule::devices_are_not_a_cuboid,
                              .have = 7,
                              .want = 8,
                              .physical = {4, 2, 1}}) ==
    "the coordinates of the devices are not a contiguous cuboid: 7 devices are spread over "
    "the box (4, 2, 1)");
