// SPDX-License-Identifier: BSL-1.0
// The groups of devices of collectives: facts that the static tests and the unit tests share.
#pragma once

#include <shardwise/notation.hpp>

using group_text = shardwise::bounded_text<1000>;

constexpr group_text said_of_groups(const shardwise::parse_verdict& verdict) {
  group_text out;
  out << verdict.position << ": " << verdict.reason;
  return out;
}

// --- texts
// ----------------------------------------------------------------------------------------

/// A text, with its forms as lists and as an order, or its error.
struct groups_fact {
  shardwise::text_view given;
  shardwise::text_view listed;
  shardwise::text_view ordered;
};

inline constexpr groups_fact groups_facts[] = {
    {"{{0,1},{2,3}}", "{{0,1},{2,3}}", "[2,2]<=[4]"},
    {"[2,2]<=[4]", "{{0,1},{2,3}}", "[2,2]<=[4]"},
    {"mesh['axis_0'=2,'axis_1'=2] {'axis_1'}", "{{0,1},{2,3}}", "[2,2]<=[4]"},
    {"mesh['i'=2,'j'=2] {'i'}", "{{0,2},{1,3}}", "[2,2]<=[2,2]T(1,0)"},
    {"dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>", "{{0,2},{1,3}}", "[2,2]<=[2,2]T(1,0)"},
    {"dense<0> : tensor<1x1xi64>", "{{0}}", "[1,1]<=[1]"},
    {"{}", "{}", "{}"},
    {" { { 0 , 1 } , { 2 , 3 } } ", "{{0,1},{2,3}}", "[2,2]<=[4]"},
    {"[2,4]<=[8]", "{{0,1,2,3},{4,5,6,7}}", "[2,4]<=[8]"},
    {"[4,2]<=[2,4]T(1,0)", "{{0,4},{1,5},{2,6},{3,7}}", "[4,2]<=[2,4]T(1,0)"},
    {"[4,2]<=[2,2,2]T(0,2,1)", "{{0,2},{1,3},{4,6},{5,7}}", "[4,2]<=[2,2,2]T(0,2,1)"},
    {"[1,8]<=[2,4]T(0,1)", "{{0,1,2,3,4,5,6,7}}", "[1,8]<=[8]"},
    {"[8,1]<=[8]", "{{0},{1},{2},{3},{4},{5},{6},{7}}", "[8,1]<=[8]"},
    {"{{3,0},{1,2}}", "{{3,0},{1,2}}", "{{3,0},{1,2}}"},
    // Sub-axes, and axes in another order than that of the mesh.
    {"mesh[a=8] {a:(1)2}", "{{0,4},{1,5},{2,6},{3,7}}", "[4,2]<=[2,4]T(1,0)"},
    {"mesh[a=8] {a:(2)2}", "{{0,2},{1,3},{4,6},{5,7}}", "[4,2]<=[2,2,2]T(0,2,1)"},
    {"mesh[a=8] {a:(4)2}", "{{0,1},{2,3},{4,5},{6,7}}", "[4,2]<=[8]"},
    {"mesh[a=8] {a:(1)4}", "{{0,2,4,6},{1,3,5,7}}", "[2,4]<=[4,2]T(1,0)"},
    {"mesh[a=8] {a:(1)2,a:(4)2}", "{{0,1,4,5},{2,3,6,7}}", "[2,4]<=[2,2,2]T(1,0,2)"},
    {"mesh[a=8] {a:(4)2, a:(1)2}", "{{0,4,1,5},{2,6,3,7}}", "[2,4]<=[2,4]T(1,0)"},
    {"mesh[x=2,y=3] {y,x}", "{{0,3,1,4,2,5}}", "[1,6]<=[2,3]T(1,0)"},
    // An explicit order of devices is never dropped.
    {"mesh[x=2,y=2], device_ids=(3,1,0,2) {x}", "{{3,0},{1,2}}", "{{3,0},{1,2}}"},
    {"mesh[x=2,y=2], device_ids=(3,1,0,2) {y}", "{{3,1},{0,2}}", "{{3,1},{0,2}}"},
    // Errors, with their position and reason.
    {"", "0: groups begin with {, [, mesh or dense", ""},
    {"{{0,1},{2}}", "7: groups have as many members as the first", ""},
    {"{{0,1},{2,4}}", "10: a device is a number below the number of devices", ""},
    {"{{0,1},{1,2}}", "13: a device is in one group", ""},
    {"{{0,1},{}}", "8: a device is a number below the number of devices", ""},
    {"{{0,1},{2,3}", "12: groups end as they begin", ""},
    {"{{0,1},{2,3}} 5", "14: nothing follows the end", ""},
    {"{0,1}", "1: a group is in brackets", ""},
    {"[2,2]", "5: sizes of groups are followed by <= and an order of devices", ""},
    {"[2,2,2]<=[8]", "0: groups have two sizes: how many, and how many members each", ""},
    {"[2,2]<=[8]", "7: an order has as many devices as tiles", ""},
    {"[65536,65536]<=[4294967296]", "7: there are at most 2^30 devices", ""},
    {"mesh[x=2,y=2] {}", "15: a name is a letter or _ and up to 22 more letters, digits or _", ""},
    {"mesh[x=2,y=2] {z}", "15: axes are those of the mesh", ""},
    {"mesh[x=2,y=2] {x,x}", "17: an axis is used once", ""},
    {"mesh[u=30] {u:(6)5,u:(10)3}", "19: sub-axes of one axis do not overlap", ""},
    {"mesh[u=10] {u:(8)2}", "12: a sub-axis divides its axis", ""},
    {"mesh[x=2,y=2], device_ids=(3,1,0) {x}", "32: every tile has a device", ""},
    {"dense<[[0, 2], [1, 3]]> : tensor<2x3xi64>", "33: the type of groups has their sizes", ""},
    {"dense<[[0, 2], [1, 3]> : tensor<2x2xi64>", "21: groups end as they begin", ""},
};

constexpr bool holds(const groups_fact& fact) {
  using namespace shardwise;
  tile_list<256> memory;
  const groups_result read = parse_groups(fact.given, memory.buffer);
  if (!read.verdict.ok()) return said_of_groups(read.verdict) == fact.listed;
  const groups_result list = to_list(read.groups, memory.buffer);
  const replica_groups order = to_iota(list.groups);
  if (!list.verdict.ok() || !same_groups(list.groups, read.groups)) return false;
  if (!same_groups(order, read.groups)) return false;
  group_text listed, ordered, dense;
  write_groups(listed, list.groups);
  write_groups(ordered, order);
  if (!(listed == fact.listed) || !(ordered == fact.ordered)) return false;
  // Written texts are parsed back.
  for (const group_text& text : {listed, ordered})
    if (!same_groups(parse_groups(text, memory.buffer).groups, read.groups)) return false;
  if (!write_dense_groups(dense, list.groups).ok()) return read.groups.is_everyone();
  return same_groups(parse_groups(dense, memory.buffer).groups, read.groups);
}

/// Groups in names, and how they are printed.
struct named_groups_fact {
  shardwise::text_view given;
  shardwise::text_view printed;
};

inline constexpr named_groups_fact named_groups_facts[] = {
    {"mesh['axis_0'=2,'axis_1'=2] {'axis_1'}", "mesh['axis_0'=2,'axis_1'=2] {'axis_1'}"},
    {"mesh[u=10,v=12,w=15] {u, v}", "mesh['u'=10,'v'=12,'w'=15] {'u','v'}"},
    {"mesh[a=8,b=8,c=16] {a:(2)4,b:(2)4}", "mesh['a'=8,'b'=8,'c'=16] {'a':(2)4,'b':(2)4}"},
    {"mesh[x=2,y=2], device_ids=([2,2]T(1,0)) {x}",
     "mesh['x'=2,'y'=2], device_ids=(0,2,1,3) {'x'}"},
};

constexpr bool holds(const named_groups_fact& fact) {
  shardwise::tile_list<64> memory;
  const shardwise::named_groups_result read =
      shardwise::parse_named_groups(fact.given, memory.buffer);
  group_text out;
  shardwise::write_named_groups(out, read.groups);
  return read.verdict.ok() && out == fact.printed;
}

// --- axes of Shardy's collectives, on mesh(x=4, y=2, z=8)
// ------------------------------------------------------------

struct axes_fact {
  shardwise::text_view given;
  shardwise::text_view printed;
};

inline constexpr axes_fact axis_lists_facts[] = {
    {R"([{}, {"y"}])", R"([{}, {"y"}])"},
    {R"([{"y","z"},{},{"x"}])", R"([{"y", "z"}, {}, {"x"}])"},
    {R"([{"x":(1)2}, {"z":(4)2, "x":(2)2}])", R"([{"x":(1)2}, {"z":(4)2, "x":(2)2}])"},
    {"[]", "[]"},
    {R"({"y"})", R"({"y"})"},
    {R"({"z", "y"})", R"({"z", "y"})"},
    {R"([{"x"}, {"x"}])", "9: an axis is used once"},
    {R"([{"x":(1)2, "x":(2)2}])", "12: sub-axes that continue each other are one"},
    {R"([{"w"}])", "2: axes are those of the mesh"},
    {R"([{"x"}, "y"])", "8: axes are in braces"},
    {R"("x")", "0: axes are in braces, those of several dimensions in brackets"},
    {"[{},{},{},{},{},{},{},{},{}]", "25: a tensor has at most 8 dimensions"},
};

inline constexpr axes_fact axis_moves_facts[] = {
    {R"([{"x"}: 0->2])", R"([{"x"}: 0->2])"},
    {R"([{"x"}:0->2,{"y", "z":(1)2}:1->3])", R"([{"x"}: 0->2, {"y", "z":(1)2}: 1->3])"},
    {R"([{"x"}: 0->0])", "11: a dimension is in one move"},
    {R"([{"x"}: 0->2, {"y"}: 2->1])", "21: a dimension is in one move"},
    {R"([{"x"}: 2->3, {"y"}: 0->1])",
     "21: moves are in the order of the dimensions that they take from"},
    {R"([{}: 0->1])", "1: a move takes some axes"},
    {R"([{"x"}: 0-1])", "9: a move reads {\"x\"}: 0->2"},
    {R"([{"x"}: 0->8])", "11: a tensor has at most 8 dimensions"},
    {"[]", "1: axes are in braces"},
};

inline constexpr shardwise::mesh_desc axes_mesh{
    {shardwise::axis_desc{"x", 4}, shardwise::axis_desc{"y", 2}, shardwise::axis_desc{"z", 8}}};

constexpr bool holds_lists(const axes_fact& fact) {
  const shardwise::axis_lists_result read = shardwise::parse_axis_lists(fact.given, axes_mesh);
  if (!read.verdict.ok()) return said_of_groups(read.verdict) == fact.printed;
  group_text out;
  if (fact.given[0] == '{')
    shardwise::write_axis_list(out, axes_mesh, read.lists[0]);
  else
    shardwise::write_axis_lists(out, axes_mesh, read.lists);
  return out == fact.printed;
}
constexpr bool holds_moves(const axes_fact& fact) {
  const shardwise::axis_moves_result read = shardwise::parse_axis_moves(fact.given, axes_mesh);
  if (!read.verdict.ok()) return said_of_groups(read.verdict) == fact.printed;
  group_text out;
  shardwise::write_axis_moves(out, axes_mesh, read.moves);
  return out == fact.printed;
}
