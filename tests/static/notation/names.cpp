// SPDX-License-Identifier: BSL-1.0
#include "support/facts.hpp"
#include "unit/notation/dtensor_facts.hpp"
#include "unit/notation/names_facts.hpp"

using namespace shardwise;

static_assert(facts_hold<sdy_facts>);
static_assert(facts_hold<slice_facts>);
static_assert(facts_hold<append_facts>);
static_assert(facts_hold<placement_facts>);
static_assert(facts_hold<order_of_axes_facts>);
static_assert(facts_hold<placement_text_facts>);
static_assert(facts_hold<refused_placements_facts>);

constexpr bool meshes_hold() {
  for (const sdy_fact& fact : sdy_mesh_facts)
    if (!holds_mesh(fact)) return false;
  return true;
}
constexpr bool open_layouts_hold() {
  for (const sdy_fact& fact : open_layout_facts)
    if (!holds_open(fact)) return false;
  return true;
}
constexpr bool types_hold() {
  for (const jax_fact& fact : type_facts)
    if (!holds_type(fact)) return false;
  return true;
}
constexpr bool specs_hold() {
  for (const jax_fact& fact : spec_facts)
    if (!holds_spec(fact)) return false;
  return true;
}
static_assert(meshes_hold());
static_assert(open_layouts_hold());
static_assert(types_hold());
static_assert(specs_hold());

// Axes of size 1 can be left out of a type.
constexpr mesh_desc plane{{axis_desc{"x", 2}, axis_desc{"y", 1}}};
constexpr auto without = [](text_view spec) {
  bounded_text<50> out;
  write_partition_spec(out, plane,
                       without_unit_axes(plane, parse_partition_spec(spec, plane).layout));
  return out;
};
static_assert(without("P('x', 'y')") == "P('x', None)");
static_assert(without("P('y', None)") == "P(None, None)");
static_assert(without("P(('y', 'x'))") == "P('x')");
static_assert(without("P('x', unreduced={'y'})") == "P('x')");

// A spec may be shorter than its tensor has dimensions, not longer.
static_assert(parse_partition_spec("P('x')", plane, 3).layout.rank() == 3);
static_assert(parse_partition_spec("P('x', None)", plane, 1).verdict ==
              parse_verdict{7, "a spec has at most one entry for each dimension"});

// A named sharding as a layout.
constexpr auto named_layout = [](text_view words, int rank) {
  tile_list<16> memory;
  return to_layout(parse_hlo_named(words, memory.buffer).sharding, rank);
};
static_assert(named_layout("{mesh[x=2,y=4], [{y, x}, {?}], unreduced=max{}}", 2).layout.dims[0] ==
              axis_list{1, 0});
static_assert(named_layout("{mesh[x=2,y=4], [{y}], unreduced=max{x}}", 1).layout ==
              layout_desc{{axis_list{1}}, 1, reduction::max});
static_assert(named_layout("{mesh[x=2,y=4], unreduced}", 1).layout.pending == 3);
static_assert(named_layout("{mesh[x=2,y=4], [{y}]}", 2).verdict.reason ==
              "a sharding has one entry for each dimension");
static_assert(named_layout("{mesh[x=2,y=4], [{y:(1)2}]}", 1).verdict.reason ==
              "a layout splits by whole axes");
static_assert(named_layout("{mesh[x=2,y=4], [{}], unreduced={y:(1)2}}", 1).verdict.reason ==
              "a layout is pending over whole axes");
static_assert(named_layout("{mesh[x=2,y=4], [{}], manual={y}}", 1).layout.manual == 2);
static_assert(named_layout("{mesh[x=2,y=4], [{}], manual={y:(1)2}}", 1).verdict.reason ==
              "a layout is manual over whole axes");
static_assert(named_layout("{mesh[x=2,y=4], manual}", 1).layout.manual == 3);
static_assert(named_layout("{maximal_mesh[device_id=1]}", 1).verdict.reason ==
              "a layout has a mesh, not one device");

// The shardings of an operation's results.
constexpr auto values_say = [](text_view words, int results) {
  device_buffer empty;
  const named_mesh foo{{{axis_desc{"a", 2}, axis_desc{"b", 4}}}};
  const parse_verdict verdict = parse_sdy_values(
      words, results, [&](text_view each) { return parse_sdy(each, foo, "foo", empty).verdict; });
  bounded_text<100> out;
  out << verdict.position << ": " << verdict.reason;
  return out;
};
static_assert(values_say("#sdy.sharding_per_value<[]>", 0) == "0: ");
static_assert(values_say(R"(#sdy.sharding_per_value<[<@foo, [{"a"}, {}]>]>)", 1) == "0: ");
static_assert(values_say(R"(#sdy.sharding_per_value<[<mesh<["a"=2]>, [{"a"}]>, <@foo, []>]>)", 2) ==
              "0: ");
static_assert(values_say(R"(#sdy.sharding_per_value<[<@foo, []>, <@foo, []>]>)", 3) ==
              "48: every result has a sharding");
static_assert(values_say(R"(#sdy.sharding_per_value<[<@foo, [{"c"}]>]>)", 1) ==
              "34: axes are those of the mesh");

// A sharding has as many entries as its tensor has dimensions, and a mesh at most 2^30 devices.
static_assert(why_not(to_named(jax_mesh, {{axis_list{0}, axis_list{}}}), 1) ==
              "a sharding has one entry for each dimension");
constexpr mesh_desc wide{{axis_desc{"x", index_t{1} << 40}, axis_desc{"y", index_t{1} << 40}}};
static_assert(why_not(to_named(wide, {{axis_list{0}}})) == "there are at most 2^30 devices");
static_assert(why_not(wide, device_view{}) == "there are at most 2^30 devices");

// The global tensor of local ones, or the error if there is none.
constexpr auto global = [](const extents_desc& mesh, text_view placements,
                           const inplace_vector<index_t, 8>& local) {
  return global_size(mesh_abc(mesh), parse_placements(placements).placements, 0,
                     {local.begin(), local.size()});
};
static_assert(global({4}, "S(0)", {3, 3, 3, 1}) == 10);
static_assert(global({4}, "S(0)", {1, 1, 1, 0}) == 3 && global({4}, "R", {5, 5, 5, 5}) == 5);
static_assert(global({2, 2}, "S(0) R", {5, 5, 4, 4}) == 9);
static_assert(global({2, 2}, "S(0) S(0)", {1, 1, 1, 0}) == 3);
static_assert(global({4}, "SS(0,2)", {2, 2, 2, 2}) == 8);
static_assert(global({4}, "S(0)", {3, 3, 1, 3}) == -1 && global({4}, "R", {5, 5, 5, 4}) == -1);
static_assert(global({4}, "S(0)", {3, 3, 3}) == -1);

// Strided shards and the axes in their order cut sizes that do not divide differently: of 7 indices
// over b=2, a=3 the last is on device 5, over SS(0,2) S(0) on device 4.
constexpr mesh_desc three_by_two = mesh_abc({3, 2});
constexpr layout_desc backwards{{axis_list{1, 0}}};
constexpr dtensor_placements strided_backwards =
    to_placements(three_by_two, backwards, dtensor_form::strided).placements;
constexpr auto differs = [](index_t size) {
  for (index_t device = 0; device < 6; ++device)
    if (placed_size(three_by_two, strided_backwards, 0, size, device) !=
        shard_box(three_by_two, backwards, {size}, device)[0].size())
      return true;
  return false;
};
static_assert(differs(7) && !differs(6) && !differs(12));
