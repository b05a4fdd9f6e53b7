// SPDX-License-Identifier: BSL-1.0
#include "support/facts.hpp"
#include "unit/notation/groups_facts.hpp"

using namespace shardwise;

static_assert(facts_hold<groups_facts>);
static_assert(facts_hold<named_groups_facts>);
constexpr bool axes_hold() {
  for (const axes_fact& fact : axis_lists_facts)
    if (!holds_lists(fact)) return false;
  for (const axes_fact& fact : axis_moves_facts)
    if (!holds_moves(fact)) return false;
  return true;
}
static_assert(axes_hold());

// Groups are on a mesh whose sizes are known, over axes that it has.
constexpr auto refusal = [](const named_mesh& on, const axis_refs& axes) {
  device_buffer empty;
  return to_groups({on, axes}, empty).verdict.reason;
};
constexpr mesh_desc pod{{axis_desc{"data", 2}, axis_desc{"model", 4}}};
static_assert(refusal({.device = 3}, {}) == "groups are on a mesh, not on one device");
static_assert(refusal({{{axis_desc{"x", dyn}}}}, {}) == "every size of the mesh is known");
static_assert(refusal({pod}, {axis_ref{2}}) == "axes are those of the mesh");
static_assert(refusal({pod}, {axis_ref{1}, axis_ref{1}}) == "an axis is used once");
constexpr auto unlisted = [] {
  constexpr index_t ids[] = {7, 6, 5, 4, 3, 2, 1, 0};
  return refusal({pod, {ids, 8}}, {axis_ref{1}});
};
static_assert(unlisted() == "the buffer has room for every device");
