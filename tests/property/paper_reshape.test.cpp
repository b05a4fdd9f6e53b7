// SPDX-License-Identifier: BSL-1.0
// A reshape moves nothing: for all legal layouts every device has the same elements in the same
// order before and after.
#include "shardwise/layout/layout_rules.hpp"
#include "shardwise/layout/shard.hpp"
#include "shardwise/rule/reshape.hpp"
#include "shardwise/rule/suggestion.hpp"
#include "support/catch.hpp"
#include "support/watched.hpp"

#include <vector>

using namespace shardwise;

namespace {

mesh_desc mesh_of(const extents_desc& sizes) {
  mesh_desc mesh;
  constexpr text_view names[] = {"x", "y", "z"};
  for (int a = 0; a < sizes.ssize(); ++a) mesh.axes.push_back({short_name(names[a]), sizes[a]});
  return mesh;
}

/// The row-major positions of the elements of a device, in the order of its shard.
std::vector<index_t> elements_of(const mesh_desc& mesh, const layout_desc& layout,
                                 const extents_desc& extents, index_t device) {
  std::vector<index_t> all{0};
  const held_box held = held_of(mesh, layout, extents, device);
  for (int d = 0; d < held.ssize(); ++d) {
    std::vector<index_t> next;
    for (index_t before : all)
      for (index_t x = 0; x < held[d].size(); ++x)
        next.push_back(before * extents[d] + held[d].global(x));
    all = std::move(next);
  }
  return all;
}

bool is_same_everywhere(const mesh_desc& mesh, const tensor_desc& before,
                        const tensor_desc& after) {
  for (index_t device = 0; device < mesh.devices(); ++device)
    if (elements_of(mesh, before.layout, before.extents, device) !=
        elements_of(mesh, after.layout, after.extents, device))
      return false;
  return true;
}

/// Every shape of at most `rank` dimensions with this many elements.
void add_shapes(index_t elements, int rank, extents_desc so_far, std::vector<extents_desc>& to) {
  if (rank == 0) {
    if (elements == 1) to.push_back(so_far);
    return;
  }
  add_shapes(elements, 0, so_far, to);
  for (index_t n = 1; n <= elements; ++n) {
    if (elements % n != 0) continue;
    extents_desc more = so_far;
    more.push_back(n);
    add_shapes(elements / n, rank - 1, more, to);
  }
}
std::vector<extents_desc> shapes_of(index_t elements, int rank) {
  std::vector<extents_desc> all;
  add_shapes(elements, rank, {}, all);
  std::vector<extents_desc> distinct;
  for (const extents_desc& shape : all) {
    bool is_new = true;
    for (const extents_desc& other : distinct) is_new = is_new && !(other == shape);
    if (is_new) distinct.push_back(shape);
  }
  return distinct;
}

/// Every layout of a tensor: each axis is unused or splits one dimension, at any position among its
/// axes. Layouts are uneven.
void add_layouts(const mesh_desc& mesh, std::uint8_t axis, const layout_desc& so_far,
                 std::vector<layout_desc>& to) {
  if (axis == mesh.rank()) {
    to.push_back(so_far);
    return;
  }
  add_layouts(mesh, static_cast<std::uint8_t>(axis + 1), so_far, to);
  for (int d = 0; d < so_far.rank(); ++d)
    for (int place = 0; place <= so_far.dims[d].ssize(); ++place) {
      layout_desc more = so_far;
      axis_list axes;
      for (int i = 0; i <= so_far.dims[d].ssize(); ++i) {
        if (i == place) axes.push_back(axis);
        if (i < so_far.dims[d].ssize()) axes.push_back(so_far.dims[d][i]);
      }
      more.dims[d] = axes;
      add_layouts(mesh, static_cast<std::uint8_t>(axis + 1), more, to);
    }
}
std::vector<layout_desc> layouts_of(const mesh_desc& mesh, int rank) {
  layout_desc none;
  none.dims.resize(static_cast<std::size_t>(rank));
  none.uneven = true;
  std::vector<layout_desc> all;
  add_layouts(mesh, 0, none, all);
  return all;
}
/// The same with a grain in one dimension.
std::vector<layout_desc> grained_layouts_of(const mesh_desc& mesh, int rank) {
  std::vector<layout_desc> all;
  for (const layout_desc& layout : layouts_of(mesh, rank))
    for (int d = 0; d < rank; ++d)
      for (const grain how :
           {grain::cyclic(1), grain::cyclic(2), grain::cyclic(3), grain::cyclic(4),
            grain::strided(2), grain::strided(3), grain::single_cut()})
        if (how.over(layout.dims[d].ssize()) == how) {
          layout_desc cyclic_rows = layout;
          cyclic_rows.grains[d] = how;
          all.push_back(cyclic_rows);
        }
  return all;
}

struct counts {
  int taken = 0;
  int refused = 0;
  int kept_splits = 0;
  int moved = 0;
};

/// Checks the reshape of a tensor, directly and after the suggested reshard.
void check(const mesh_desc& mesh, const tensor_desc& operand, const extents_desc& to,
           counts& found) {
  const factor_rule rule = reshape_rule(operand.extents, to);
  const propagation made = propagate(mesh, rule, {operand});
  if (made.verdict.ok()) {
    ++found.taken;
    const bool is_right = made.result.extents == to && validate(mesh, made.result.layout).ok() &&
                          is_same_everywhere(mesh, operand, made.result);
    bool keeps_even = true;
    layout_desc exact = operand.layout;
    exact.uneven = false;
    if (validate(mesh, exact, operand.extents).ok()) {
      layout_desc exact_after = made.result.layout;
      exact_after.uneven = false;
      keeps_even = validate(mesh, exact_after, to).ok();
    }
    for (const axis_list& axes : made.result.layout.dims)
      if (!axes.empty()) ++found.kept_splits;
    if (!is_right || !keeps_even) {
      INFO(text_view(to_text(mesh, operand)).data()
           << " to " << text_view(to_text(mesh, made.result)).data());
      REQUIRE(is_right);
      REQUIRE(keeps_even);
    }
    return;
  }
  ++found.refused;
  const suggested_reshard fix = propose(mesh, rule, {operand}, made.verdict);
  tensor_desc corrected = operand;
  if (fix.operand == 0) corrected.layout = fix.layout;
  // The reshard that corrects an exact layout is exact too.
  tensor_desc exact = operand;
  exact.layout.uneven = false;
  tensor_desc corrected_exact = exact;
  if (validate(mesh, exact.layout, exact.extents).ok())
    corrected_exact.layout = propose(mesh, rule, {exact}, made.verdict).layout;
  else
    corrected_exact.layout = layouts_of(mesh, operand.rank())[0];
  const bool is_mended = fix.operand == 0 && made.verdict.rule == violation::split_would_move &&
                         validate(mesh, corrected.layout).ok() &&
                         propagate(mesh, rule, {corrected}).verdict.ok() &&
                         validate(mesh, corrected_exact.layout, operand.extents).ok() &&
                         propagate(mesh, rule, {corrected_exact}).verdict.ok();
  if (!is_mended) {
    INFO(text_view(to_text(mesh, operand)).data()
         << " refused by " << describe(made.verdict).data());
    REQUIRE(is_mended);
  }
  for (const axis_list& axes : corrected_exact.layout.dims)
    for (std::uint8_t a : axes)
      found.moved += exact.layout.dim_of(a) != corrected_exact.layout.dim_of(a);
}

const extents_desc meshes[] = {{2}, {3}, {4}, {2, 2}, {2, 3}, {3, 2}, {1, 2}, {2, 1}, {4, 2}};

}  // namespace

TEST_CASE("a reshape leaves every element where it is, or is refused with the reshard that helps") {
  counts found;
  for (const extents_desc& sizes : meshes) {
    const mesh_desc mesh = mesh_of(sizes);
    for (index_t elements : {1, 2, 3, 4, 6, 8, 12, 16, 18, 24})
      for (const extents_desc& from : shapes_of(elements, 3)) {
        const std::vector<layout_desc> layouts = layouts_of(mesh, from.ssize());
        for (const extents_desc& to : shapes_of(elements, 3))
          for (const layout_desc& layout : layouts)
            check(mesh, {element::f32, from, layout}, to, found);
      }
  }
  CHECK(found.taken > 100000);
  CHECK(found.refused > 100000);
  CHECK(found.kept_splits > 100000);
  CHECK(found.moved > 1000);
}

TEST_CASE("cyclic blocks pass a reshape whole, or it is refused with the reshard that helps") {
  counts found;
  for (const extents_desc& sizes : {extents_desc{2}, extents_desc{3}, extents_desc{2, 2},
                                    extents_desc{2, 1}, extents_desc{1, 2}, extents_desc{1, 1}}) {
    const mesh_desc mesh = mesh_of(sizes);
    for (index_t elements : {1, 2, 6, 8, 12, 18, 24})
      for (const extents_desc& from : shapes_of(elements, 3)) {
        const std::vector<layout_desc> layouts =
            support::sampled(grained_layouts_of(mesh, from.ssize()), 11);
        for (const extents_desc& to : shapes_of(elements, 3))
          for (const layout_desc& layout : layouts)
            check(mesh, {element::f32, from, layout}, to, found);
      }
  }
  const int least = support::is_watched ? 500 : 10000;
  CHECK(found.taken > least);
  CHECK(found.refused > least);
  CHECK(found.kept_splits > least);
}

TEST_CASE("reshapes of four dimensions, over three axes, and of no elements move nothing") {
  counts found;
  const mesh_desc mesh = mesh_of({2, 3, 2});
  const std::vector<extents_desc> shapes{{24},         {2, 12},   {4, 6},       {6, 4},
                                         {12, 2},      {2, 3, 4}, {4, 3, 2},    {2, 3, 2, 2},
                                         {2, 2, 3, 2}, {3, 2, 4}, {1, 2, 3, 4}, {2, 1, 12, 1}};
  for (const extents_desc& from : shapes)
    for (const layout_desc& layout : layouts_of(mesh, from.ssize()))
      for (const extents_desc& to : shapes) check(mesh, {element::f32, from, layout}, to, found);
  const std::vector<extents_desc> empty{{0}, {0, 3}, {3, 0}, {2, 0, 3}, {0, 0}, {0, 6}, {6, 0}};
  for (const extents_desc& from : empty)
    for (const layout_desc& layout : layouts_of(mesh, from.ssize()))
      for (const extents_desc& to : empty) check(mesh, {element::f32, from, layout}, to, found);
  CHECK(found.taken > 1000);
  CHECK(found.kept_splits > 1000);
}

TEST_CASE("an even split passes a reshape wherever the result can be split evenly alike") {
  int passed = 0;
  for (const extents_desc& sizes : {extents_desc{2}, extents_desc{3}, extents_desc{2, 2}}) {
    const mesh_desc mesh = mesh_of(sizes);
    for (index_t elements : {4, 6, 8, 12, 24})
      for (const extents_desc& from : shapes_of(elements, 2))
        for (layout_desc layout : layouts_of(mesh, from.ssize())) {
          layout.uneven = false;
          if (!validate(mesh, layout, from).ok()) continue;
          const tensor_desc operand{element::f32, from, layout};
          for (const extents_desc& to : shapes_of(elements, 2)) {
            const bool taken = propagate(mesh, reshape_rule(from, to), {operand}).verdict.ok();
            for (layout_desc after : layouts_of(mesh, to.ssize())) {
              after.uneven = false;
              if (taken || !validate(mesh, after, to).ok()) continue;
              const bool would_do = is_same_everywhere(mesh, operand, {element::f32, to, after});
              if (would_do) {
                INFO(text_view(to_text(mesh, operand)).data()
                     << " to " << text_view(to_text(mesh, {element::f32, to, after})).data());
                CHECK_FALSE(would_do);
              }
            }
            passed += taken ? 1 : 0;
          }
        }
  }
  CHECK(passed > 1000);
}
