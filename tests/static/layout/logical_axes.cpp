// SPDX-License-Identifier: BSL-1.0
#include "unit/layout/logical_axes_facts.hpp"

#include <type_traits>

// All facts of the table, as constants.
static_assert([] {
  for (const names_fact& fact : names_facts)
    if (!holds(fact)) return false;
  return true;
}());

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
struct rules : axis_rules<pod, maps<"rows", by("model", "data")>, maps<"batch", "data">,
                          maps<"heads", "model">, maps<"embed", "model", none>> {};
using batch = dim<"batch", 512>;
using heads = dim<"heads", 16>;
using embed = dim<"embed", 1024>;

// The result is a plain tensor.
using X = named_tensor<rules, float, batch, embed>;
static_assert(
    std::is_same_v<X, sharded_tensor<float, extents<512, 1024>, layout<pod, P<"data", "model">>>>);
static_assert(type_name<X>() == "f32[512@data, 1024@model]");
static_assert(type_name<named_tensor<rules, double, batch, heads, embed>>() ==
              "f64[512@data, 16@model, 1024]");
static_assert(type_name<named_tensor<rules, float, embed, heads>>() == "f32[1024, 16@model]");
static_assert(type_name<named_tensor<rules, float, dim<"rows", 8>, embed>>() ==
              "f32[8@(model,data), 1024]");
static_assert(
    std::is_same_v<named_tensor<rules, float>, sharded_tensor<float, extents<>, layout<pod, P<>>>>);
// Extents may be dyn, and a dimension may have no name.
static_assert(type_name<named_tensor<rules, float, dim<"batch", dyn>, dim<none, 3>>>() ==
              "f32[?@data, 3]");
static_assert(type_name<named_tensor<rules, float, dim<none, 2>, dim<none, 3>>>() == "f32[2, 3]");

static_assert(std::is_same_v<named_spec<rules, batch, heads, embed>, P<"data", "model", none>>);
static_assert(std::is_same_v<named_layout<rules, batch>, layout<pod, P<"data">>>);
static_assert(type_name<layout<pod, named_spec<rules, batch>, partial<"model">, uneven>>() ==
              "[data]{partial sum: model} on mesh(data=2, model=4)");

static_assert(explain<rules, batch, embed, heads>() ==
              "batch -> data\n"
              "embed -> none (model is taken by heads)\n"
              "heads -> model\n");
static_assert(explain<rules, dim<none, 3>, dim<"bacth", 8>>() ==
              "- -> none\n"
              "bacth -> ? (no rule, nearest is batch)\n");
static_assert(explain<rules, dim<"bacth", 8>, dim<"hidden", 8>, heads>() ==
              "bacth -> ? (no rule, nearest is batch)\n"
              "hidden -> ? (no rule)\n"
              "heads -> model\n");
static_assert(explain<rules, batch, dim<"batch", 8>>() ==
              "batch -> ?\n"
              "batch -> ? (a second time)\n");

// Named structs for rules and dimensions; rules without an alternative; a mesh with `dyn` axes.
struct rows : dim<"batch", 6> {};
static_assert(type_name<named_tensor<rules, float, rows>>() == "f32[6@data]");
static_assert(type_name<named_tensor<axis_rules<pod>, float, dim<none, 3>>>() == "f32[3]");
struct slice : mesh<axis<"data", dyn>> {};
static_assert(
    type_name<named_tensor<axis_rules<slice, maps<"batch", "data">>, float, dim<"batch", 7>>>() ==
    "f32[7@data]");
static_assert(AxisRules<rules> && AxisRules<axis_rules<pod>> && !AxisRules<pod> &&
              !AxisRules<batch>);

// The type equals the value.
static_assert(layout_of(rules::value, {"batch", "heads", "embed"}) ==
              named_layout<rules, batch, heads, embed>::value);
static_assert(spec_of(rules::value, resolve(rules::value, {"rows", ""})) ==
              spec_desc{{"model,data", ""}});
