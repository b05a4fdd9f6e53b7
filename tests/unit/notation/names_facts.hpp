// SPDX-License-Identifier: BSL-1.0
// Shardy and JAX texts, and sub-axes: facts that the static tests and the unit tests share.
#pragma once

#include <shardwise/notation.hpp>

// --- Shardy
// ---------------------------------------------------------------------------------------

/// A text and its canonical form, or its error.
struct sdy_fact {
  shardwise::text_view given;
  shardwise::text_view printed;
};

inline constexpr sdy_fact sdy_mesh_facts[] = {
    {R"(sdy.mesh @pod = <["data"=2, "model"=4]>)", R"(sdy.mesh @pod = <["data"=2, "model"=4]>)"},
    {R"(sdy.mesh @foo = <["a"=2,"b"=4]>)", R"(sdy.mesh @foo = <["a"=2, "b"=4]>)"},
    {R"(sdy.mesh @maximal_mesh_3 = <[], device_ids=[3]>)",
     R"(sdy.mesh @maximal_mesh_3 = <[], device_ids=[3]>)"},
    {R"(sdy.mesh @explicit = <["a"=2], device_ids=[1, 0]>)",
     R"(sdy.mesh @explicit = <["a"=2], device_ids=[1, 0]>)"},
    {R"(sdy.mesh @empty = <[]>)", R"(sdy.mesh @empty = <[]>)"},
    {R"(#sdy.mesh<["a"=2]>)", R"(<["a"=2]>)"},
    {R"(sdy.mesh @foo = <["a"=2, "a"=4]>)", "25: the axes of a mesh have different names"},
    {R"(sdy.mesh foo = <["a"=2]>)", "9: the symbol of a mesh begins with @"},
    {R"(sdy.mesh @foo = <["a"=2], device_ids=[0]>)", "39: every tile has a device"},
};

constexpr bool holds_mesh(const sdy_fact& fact) {
  shardwise::tile_list<16> memory;
  const shardwise::sdy_mesh_result read = shardwise::parse_sdy_mesh(fact.given, memory.buffer);
  shardwise::bounded_text<200> out;
  if (!read.verdict.ok())
    out << read.verdict.position << ": " << read.verdict.reason;
  else if (read.symbol.empty())
    shardwise::write_sdy_mesh(out, read.mesh);
  else
    shardwise::write_sdy_mesh(out, read.symbol, read.mesh);
  return out == fact.printed;
}

// On sdy.mesh @foo = <["a"=8, "b"=4, "c"=2]>.
inline constexpr sdy_fact sdy_facts[] = {
    {R"(#sdy.sharding<@foo, [{"a"}p0, {"b"}]>)", R"(#sdy.sharding<@foo, [{"a"}p0, {"b"}]>)"},
    {R"(<@foo, [{"a"}, {"b":(2)2}]>)", R"(#sdy.sharding<@foo, [{"a"}, {"b":(2)2}]>)"},
    {R"(#sdy.sharding<@foo, [{"a", ?}p1, {}], replicated={"b"}, unreduced={"c"}>)",
     R"(#sdy.sharding<@foo, [{"a", ?}p1, {}], replicated={"b"}, unreduced={"c"}>)"},
    {R"(#sdy.sharding<@foo, [{}, {}], unreduced=max{"a"}>)",
     R"(#sdy.sharding<@foo, [{}, {}], unreduced=max{"a"}>)"},
    {R"(#sdy.sharding<@foo, [{?}, {?}p2]>)", R"(#sdy.sharding<@foo, [{?}, {?}p2]>)"},
    {R"(#sdy.sharding<@foo, []>)", R"(#sdy.sharding<@foo, []>)"},
    {R"(#sdy.sharding<@foo, [], replicated={"b"}>)",
     R"(#sdy.sharding<@foo, [], replicated={"b"}>)"},
    {R"(<@foo, [{"a":(2)2, "a":(1)2}, {}]>)", R"(#sdy.sharding<@foo, [{"a":(2)2, "a":(1)2}, {}]>)"},
    {R"(#sdy.sharding<@foo, [{"a":(1)2}, {"a":(4)2}]>)",
     R"(#sdy.sharding<@foo, [{"a":(1)2}, {"a":(4)2}]>)"},
    {R"(#sdy.sharding<mesh<["x"=2]>, [{"x"}]>)", R"(#sdy.sharding<@foo, [{"x"}]>)"},
    // Errors, with their position and reason.
    {R"(#sdy.sharding<@foo, [{}p1]>)", "21: a dimension that is empty and closed has no priority"},
    {R"(#sdy.sharding<@other, [{}]>)", "15: a sharding names its mesh"},
    {R"(#sdy.sharding<@foo, [{"d"}]>)", "22: axes are those of the mesh"},
    {R"(#sdy.sharding<@foo, [{"a"}, {"a"}]>)", "29: an axis is used once"},
    {R"(#sdy.sharding<@foo, [{"a"}], replicated={"a"}>)", "41: an axis is used once"},
    {R"(#sdy.sharding<@foo, [{}], replicated={"b", "a"}>)",
     "43: these axes are in the order of the mesh"},
    {R"(#sdy.sharding<@foo, [{}], unreduced={"b", "a"}>)",
     "42: these axes are in the order of the mesh"},
    {R"(#sdy.sharding<@foo, [{"a"}, {"a":(1)2}]>)", "29: an axis is used as a whole or in parts"},
    {R"(#sdy.sharding<@foo, [{"a":(2)2, "a":(4)2}]>)",
     "32: sub-axes that continue each other are one"},
    {R"(#sdy.sharding<@foo, [{"a":(-1)2}]>)", "27: the size before a sub-axis is at least 1"},
    {R"(#sdy.sharding<@foo, [{"a":(0)2}]>)", "22: the size before a sub-axis is at least 1"},
    {R"(#sdy.sharding<@foo, [{"a":(2)1}]>)", "22: a sub-axis has a size above 1"},
    {R"(#sdy.sharding<@foo, [{"a":(3)2}]>)", "22: a sub-axis divides its axis"},
    {R"(#sdy.sharding<@foo, [{"a":(1)8}]>)", "22: a sub-axis is not the whole axis"},
    {R"(#sdy.sharding<@foo, [{"a":(1)4}, {"a":(2)4}]>)", "34: sub-axes of one axis do not overlap"},
    {R"(#sdy.sharding<@foo, [{"b"}p01]>)", "21: a priority reads p0, p1, ..."},
    {R"(#sdy.sharding<@foo, [{"b"}p9999999999999999999]>)", "21: a priority reads p0, p1, ..."},
    {R"(#sdy.sharding<@foo, [{}], replicated{"a"}>)", "36: axes follow ="},
    {R"(#sdy.sharding<mesh<[], device_ids=[3]>, [{}]>)",
     "40: a maximal sharding has no dimensions and no axes"},
};

constexpr bool holds(const sdy_fact& fact) {
  using namespace shardwise;
  const named_mesh foo{{{axis_desc{"a", 8}, axis_desc{"b", 4}, axis_desc{"c", 2}}}};
  tile_list<64> memory;
  const named_result read = parse_sdy(fact.given, foo, "foo", memory.buffer);
  bounded_text<200> out;
  if (!read.verdict.ok())
    out << read.verdict.position << ": " << read.verdict.reason;
  else
    write_sdy(out, "foo", read.sharding);
  return out == fact.printed;
}

// --- layouts that propagation may complete, on mesh(a=8, b=4, c=2)

inline constexpr sdy_fact open_layout_facts[] = {
    {R"([])", R"([])"},
    {R"([{}])", R"([{}])"},
    {R"([ { "a" ,?} ,{?}])", R"([{"a", ?}, {?}])"},
    {R"([{"b", "a"}p0, {?}p2, {"c"}p255])", R"([{"b", "a"}, {?}p2, {"c"}p255])"},
    {R"([{?}], replicated={"a", "c"})", R"([{?}], replicated={"a", "c"})"},
    {R"([{"a"}p256])", "0: a priority is at most p255"},
    {R"([{"a":(1)2}])", "0: propagation splits dimensions by whole axes"},
    {R"([{?}], replicated={"a":(1)2})", "0: propagation splits dimensions by whole axes"},
    {R"([{?}], unreduced={"a"})", "0: propagation knows no unreduced and no manual axes"},
    {R"([{"a"}, {"a"}])", "9: an axis is used once"},
    {R"([{"d"}])", "2: axes are those of the mesh"},
    {R"([{"a"})", "6: dimensions are in brackets"},
};

constexpr bool holds_open(const sdy_fact& fact) {
  const shardwise::mesh_desc mesh{
      {shardwise::axis_desc{"a", 8}, shardwise::axis_desc{"b", 4}, shardwise::axis_desc{"c", 2}}};
  const shardwise::read_open_layout read = shardwise::parse_open_layout(fact.given, mesh);
  shardwise::bounded_text<200> out;
  if (read.verdict.ok())
    shardwise::write_open_layout(out, read.layout, mesh);
  else
    out << read.verdict.position << ": " << read.verdict.reason;
  return out == fact.printed;
}

// --- parts of axes, on mesh(a=2, b=4, c=3, d=8, e=1)
// -----------------------------------------------

/// The first axes of a dimension with `factor` parts, and the remaining ones.
struct slice_fact {
  shardwise::text_view dim;
  shardwise::index_t factor;
  shardwise::text_view slice;  // `-` where there is none
  shardwise::text_view rest;
};

inline constexpr slice_fact slice_facts[] = {
    {"a, b, c", 24, "a, b, c", ""},
    {"a", 1, "", "a"},
    {"a, b", 3, "-", ""},
    {"b, d", 16, "b, d:(1)4", "d:(4)2"},
    {"d:(4)2, b", 4, "d:(4)2, b:(1)2", "b:(2)2"},
    {"", 1, "", ""},
    {"", 2, "-", ""},
};

/// A dimension and one further axis, joined.
struct append_fact {
  shardwise::text_view dim;
  shardwise::text_view axis;
  shardwise::text_view joined;
};

inline constexpr append_fact append_facts[] = {
    {"a, b:(1)2", "b:(2)2", "a, b"},
    {"d:(1)2", "d:(2)2", "d:(1)4"},
    {"d:(1)2", "d:(4)2", "d:(1)2, d:(4)2"},
    {"a", "c", "a, c"},
};

constexpr shardwise::named_sharding one_dimension(shardwise::text_view dim) {
  shardwise::bounded_text<200> words;
  words << "{mesh[a=2,b=4,c=3,d=8,e=1], [{" << dim << "}]}";
  shardwise::device_buffer empty;
  return shardwise::parse_hlo_named(words, empty).sharding;
}
constexpr shardwise::bounded_text<200> names_of(const shardwise::mesh_desc& mesh,
                                                const shardwise::axis_refs& refs) {
  shardwise::bounded_text<200> out;
  shardwise::detail::write_axis_refs(out, mesh, refs, shardwise::quote_style::bare);
  return out;
}
constexpr bool holds(const slice_fact& fact) {
  const shardwise::named_sharding given = one_dimension(fact.dim);
  const shardwise::mesh_desc& mesh = given.on.mesh;
  const shardwise::sliced_axes result =
      shardwise::slice_axes(mesh, given.dims[0].axes, fact.factor);
  if (!result.ok) return fact.slice == "-";
  if (!(names_of(mesh, result.slice) == fact.slice)) return false;
  shardwise::axis_refs joined = result.slice;
  for (const shardwise::axis_ref& ref : result.rest) shardwise::append_axis(mesh, joined, ref);
  return names_of(mesh, result.rest) == fact.rest && joined == given.dims[0].axes;
}
constexpr bool holds(const append_fact& fact) {
  shardwise::named_sharding given = one_dimension(fact.dim);
  shardwise::append_axis(given.on.mesh, given.dims[0].axes,
                         one_dimension(fact.axis).dims[0].axes[0]);
  return names_of(given.on.mesh, given.dims[0].axes) == fact.joined;
}

// --- JAX, on mesh(model=2, data=2, x=2, y=3, one=1)
// -------------------------------------------------

struct jax_fact {
  shardwise::text_view given;
  shardwise::text_view printed;
};

inline constexpr jax_fact type_facts[] = {
    {"float32[128@model,64@data]", "float32[128@model,64@data]"},
    {"float32[128@model,64]", "float32[128@model,64]"},
    {"float32[128,64@data]", "float32[128,64@data]"},
    {"float32[128,64]", "float32[128,64]"},
    {"f32[128@model,64@(x,y)]", "float32[128@model,64@(x,y)]"},
    {"f32[128@model%32,64@(x,y)*2]", "float32[128@model%32,64@(x,y)*2]"},
    {"f32[128@model%0]", "15: a grain reads %32 or *2, or *1 after several axes"},
    {"f32[128@model*1]", "15: a grain reads %32 or *2, or *1 after several axes"},
    {"f32[128%2]", "7: extents end with ]"},
    {"i64[]", "int64[]"},
    {"f64[4]{U:x,y}", "float64[4]{U:(x,y)}"},
    {"float64[4]{U:(y, x)}", "float64[4]{U:(x,y)}"},
    {"float32[8@data]{V:x, U:y}", "float32[8@data]{V:x, U:y}"},
    {"float32[8]{V:(x,y), U:(model,data)}", "float32[8]{V:(x,y), U:(model,data)}"},
    {"float32[8]{U:(model,data), V:(x,y)}", "float32[8]{V:(x,y), U:(model,data)}"},
    {"f32[8]{partial sum: model, data}{manual: x, y}", "float32[8]{V:(x,y), U:(model,data)}"},
    {"f32[8]{U:model,data,V:x,y}", "float32[8]{V:(x,y), U:(model,data)}"},
    {"f32[8]{partial max: x,y}{V:(data)}", "float32[8]{partial max: (x,y)}{V:data}"},
    {"float32[8]{V:x, U:x}", "18: an axis is used once"},
    {"float32[8]{U:x}{U:y}", "16: a set of axes reads {U:x}, {V:x, U:(y,z)} or {partial sum: x}"},
    {"float32[8]{V:x, R:y}", "16: a layout has no reduced axes"},
    {"float32[8]{V:(x,y}", "17: several axes are in parentheses"},
    {"float32[8]{}", "11: a set of axes reads {U:x}, {V:x, U:(y,z)} or {partial sum: x}"},
    {"f32[512@data, 1024@(x,y), 64]{partial sum: model}",
     "float32[512@data,1024@(x,y),64]{U:model}"},
    {"int32[?@one]{partial max: x}", "int32[?@one]{partial max: x}"},
    {"bf8[4]",
     "0: an element type is bool, int8, uint8, int32, int64, bfloat16, float16, float32 or "
     "float64"},
    {"float32[-1]", "8: an extent is a number below 2^63"},
    {"float32[4@z]", "10: axes are those of the mesh"},
    {"float32[4@x,4@x]", "14: an axis is used once"},
    {"float32[4@x]{U:x}", "15: an axis is used once"},
    {"float32[4", "9: extents end with ]"},
    {"float32[99999999999999999999]", "8: an extent is a number below 2^63"},
    {"float32[1,1,1,1,1,1,1,1,1]", "24: a tensor has at most 8 dimensions"},
};

inline constexpr jax_fact spec_facts[] = {
    {"P('x', None, ('x','y'))", "14: an axis is used once"},
    {"P('data', None, ('x','y'))", "P('data', None, ('x', 'y'))"},
    {"PartitionSpec(\"data\", ('x',), ())", "P('data', 'x', None)"},
    {"('data', None)", "P('data', None)"},
    {"(x,None)", "P('x', None)"},
    {"(1, (0, 3), None)", "P('data', ('model', 'y'), None)"},
    {"P()", "P()"},
    {"P(None, unreduced={'y', 'x'})", "P(None, unreduced={'x', 'y'})"},
    {"P(unreduced={'y'})", "P(unreduced={'y'})"},
    {"(1.5, None)", "2: a partition spec ends with )"},
    {"(7, None)", "1: axes are those of the mesh"},
    {"(-1, None)", "1: a name is a letter or _ and up to 22 more letters, digits or _"},
    {"P(0, 0)", "5: an axis is used once"},
    {"P(('x', ('y',)))", "8: a name is a letter or _ and up to 22 more letters, digits or _"},
    {"P('modle')", "2: axes are those of the mesh"},
    {"P('x", "4: a name ends as it begins"},
    {"P(reduced={'x'})", "2: a layout has no reduced axes"},
    {"P(unreduced={'x'}, unreduced={'y'})", "19: unreduced axes come once"},
    {"P(unreduced_kind='max', unreduced={'x'}, unreduced_kind='min')",
     "41: the reduction of unreduced axes comes once"},
    {"P(UNCONSTRAINED)", "2: a layout leaves no dimension open"},
    {"P(None, None, None, None, None, None, None, None, None)",
     "50: a tensor has at most 8 dimensions"},
};

inline constexpr shardwise::mesh_desc jax_mesh{
    {shardwise::axis_desc{"model", 2}, shardwise::axis_desc{"data", 2},
     shardwise::axis_desc{"x", 2}, shardwise::axis_desc{"y", 3}, shardwise::axis_desc{"one", 1}}};

constexpr bool holds_type(const jax_fact& fact) {
  const shardwise::read_tensor read = shardwise::parse_type(fact.given, jax_mesh);
  shardwise::bounded_text<200> out;
  if (read.verdict.ok())
    shardwise::write_type(out, jax_mesh, read.tensor);
  else
    out << read.verdict.position << ": " << read.verdict.reason;
  return out == fact.printed;
}
constexpr bool holds_spec(const jax_fact& fact) {
  const shardwise::read_layout read = shardwise::parse_partition_spec(fact.given, jax_mesh);
  shardwise::bounded_text<200> out;
  if (read.verdict.ok())
    shardwise::write_partition_spec(out, jax_mesh, read.layout);
  else
    out << read.verdict.position << ": " << read.verdict.reason;
  return out == fact.printed;
}
