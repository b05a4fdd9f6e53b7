// SPDX-License-Identifier: BSL-1.0
// Which layouts may be marked as which: facts that the static tests and the unit tests share.
#pragma once

#include <shardwise/paper.hpp>
#include <shardwise/plan/constraint.hpp>

/// The text of a layout on mesh(x=2, y=3, one=1).
struct spelled_layout {
  shardwise::text_view rows;
  shardwise::text_view columns;
  shardwise::text_view pending = "";
};

/// The verdicts of the two marks for a tensor of 12 x 12, and the collective that a constraint
/// would need.
struct mark_fact {
  spelled_layout from;
  spelled_layout to;
  shardwise::violation constraint;
  shardwise::violation marking;
  shardwise::collective needed = shardwise::collective::slice;
  shardwise::text_view over = "";
};

inline constexpr auto fine = shardwise::violation::nothing;
inline constexpr auto moves = shardwise::violation::constraint_needs_communication;
inline constexpr auto split = shardwise::violation::tensor_is_marked_already;

inline constexpr mark_fact mark_facts[] = {
    // A replicated tensor can have any layout without pending axes, and so can one that is split
    // over an axis of size 1.
    {{"", ""}, {"", ""}, fine, fine},
    {{"", ""}, {"x", "y"}, fine, fine},
    {{"", ""}, {"", "y,x"}, fine, fine},
    {{"one", ""}, {"", "x"}, fine, fine},
    {{"", "", "one"}, {"x", ""}, fine, fine},
    // The same layout again.
    {{"x", "y"}, {"x", "y"}, fine, fine},
    {{"x", "", "y"}, {"x", "", "y"}, fine, fine},
    // Further minor axes: slices, but not the present mark.
    {{"x", ""}, {"x", "y"}, fine, split},
    {{"x", ""}, {"x,y", ""}, fine, split},
    {{"x", "", "y"}, {"x", "one", "y"}, fine, split},
    // Everything else is communication.
    {{"x", ""}, {"", ""}, moves, split, shardwise::collective::all_gather, "x"},
    {{"x,y", ""}, {"", ""}, moves, split, shardwise::collective::all_gather, "x,y"},
    {{"x", ""}, {"", "x"}, moves, split, shardwise::collective::all_to_all, "x"},
    {{"x", ""}, {"y,x", ""}, moves, split, shardwise::collective::all_gather, "x"},
    {{"", "", "y"}, {"", ""}, moves, split, shardwise::collective::all_reduce, "y"},
    {{"", "", "x,y"}, {"", ""}, moves, split, shardwise::collective::all_reduce, "x,y"},
    {{"x", "", "y"}, {"x", "y"}, moves, split, shardwise::collective::reduce_scatter, "y"},
};

constexpr shardwise::layout_desc layout_of(const shardwise::mesh_desc& mesh,
                                           const spelled_layout& words) {
  return shardwise::resolve(mesh, {{words.rows, words.columns}}, {words.pending}).layout;
}

constexpr bool holds(const mark_fact& fact) {
  using namespace shardwise;
  const mesh_desc mesh{{axis_desc{"x", 2}, axis_desc{"y", 3}, axis_desc{"one", 1}}};
  const layout_desc from = layout_of(mesh, fact.from);
  const layout_desc to = layout_of(mesh, fact.to);
  const planned_transfer needed = first_communication(mesh, {12, 12}, from, to);
  bounded_text<40> over;
  for (int i = 0; i < needed.axes.ssize(); ++i)
    over << (i > 0 ? text_view(",") : text_view("")) << mesh.axes[needed.axes[i]].label;
  return check_constraint(mesh, {element::f32, {12, 12}, from}, to).rule == fact.constraint &&
         check_marking(mesh, from, to).rule == fact.marking && needed.kind == fact.needed &&
         text_view(over) == fact.over;
}

constexpr bool mark_facts_hold() {
  for (const mark_fact& fact : mark_facts)
    if (!holds(fact)) return false;
  return true;
}
