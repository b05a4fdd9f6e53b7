// SPDX-License-Identifier: BSL-1.0
// The collectives from one layout to another: facts that the static tests and the unit tests share.
#pragma once

#include "unit/rule/propagate_facts.hpp"

struct redistribute_fact {
  shardwise::extents_desc mesh;
  written_tensor from;
  shardwise::spec_desc spec;
  shardwise::partial_desc partial;
  /// The collectives in order, slices too, with their axes: `all_gather x,y`.
  shardwise::inplace_vector<shardwise::text_view, 4> moves;
};

using moves_in_words = shardwise::inplace_vector<shardwise::text_view, 4>;

inline constexpr redistribute_fact redistribute_facts[] = {
    // One axis, one step.
    {{4}, {{12, 3}, {{"", ""}}, {"x"}}, {{"x", ""}}, {}, moves_in_words{"reduce_scatter x"}},
    {{4}, {{12, 3}, {{"", ""}}, {"x"}}, {{"", ""}}, {}, moves_in_words{"all_reduce x"}},
    {{4}, {{3, 12}, {{"", "x"}}}, {{"", ""}}, {}, moves_in_words{"all_gather x"}},
    {{4}, {{3, 12}, {{"", ""}}}, {{"", "x"}}, {}, moves_in_words{"slice x"}},
    {{4}, {{8, 8}, {{"", "x"}}}, {{"x", ""}}, {}, moves_in_words{"all_to_all x"}},
    {{4}, {{8, 8}, {{"x", ""}}}, {{"", "x"}}, {}, moves_in_words{"all_to_all x"}},
    {{4}, {{8, 8}, {{"x", ""}}}, {{"x", ""}}, {}, {}},
    // Uneven sizes use the same collectives.
    {{4}, {{3, 13}, {{"", "x"}}}, {{"", ""}}, {}, moves_in_words{"all_gather x"}},
    {{4}, {{3, 13}, {{"", ""}}, {"x"}}, {{"", "x"}}, {}, moves_in_words{"reduce_scatter x"}},
    {{4}, {{5, 5}, {{"x", ""}}}, {{"", "x"}}, {}, moves_in_words{"all_to_all x"}},
    // Two axes.
    {{2, 2}, {{8, 8}, {{"x", "y"}}}, {{"x,y", ""}}, {}, moves_in_words{"all_to_all y"}},
    {{2, 2},
     {{8, 8}, {{"x", "y"}}},
     {{"y", "x"}},
     {},
     moves_in_words{"all_gather x", "all_to_all y", "slice x"}},
    {{2, 2}, {{9, 5}, {{"x,y", ""}}}, {{"", ""}}, {}, moves_in_words{"all_gather x,y"}},
    {{2, 2}, {{8, 8}, {{"x,y", ""}}}, {{"x", ""}}, {}, moves_in_words{"all_gather y"}},
    {{2, 2},
     {{10, 5}, {{"x", "y"}}},
     {{"", ""}},
     {},
     moves_in_words{"all_gather x", "all_gather y"}},
    {{2, 4}, {{16, 8}, {{"x", ""}}}, {{"y", ""}}, {}, moves_in_words{"all_gather x", "slice y"}},
    {{2, 4}, {{16, 8}, {{"", ""}}}, {{"y", "x"}}, {}, moves_in_words{"slice y", "slice x"}},
    {{2, 4}, {{16, 8}, {{"", ""}}}, {{"x,y", ""}}, {}, moves_in_words{"slice x,y"}},
    // Pending over two axes.
    {{2, 4},
     {{16, 8}, {{"", ""}}, {"x,y"}},
     {{"x,y", ""}},
     {},
     moves_in_words{"reduce_scatter x,y"}},
    {{2, 4},
     {{16, 8}, {{"", ""}}, {"x,y"}},
     {{"x", "y"}},
     {},
     moves_in_words{"reduce_scatter x", "reduce_scatter y"}},
    {{2, 4}, {{16, 8}, {{"", ""}}, {"x,y"}}, {{"", ""}}, {}, moves_in_words{"all_reduce x,y"}},
    {{2, 4}, {{16, 8}, {{"", ""}}, {"x,y"}}, {{"", ""}}, {"y"}, moves_in_words{"all_reduce x"}},
    {{2, 4},
     {{16, 8}, {{"", ""}}, {"x"}},
     {{"y", "x"}},
     {},
     moves_in_words{"slice y", "reduce_scatter x"}},
    {{2, 4},
     {{16, 8}, {{"", "y"}}, {"x"}},
     {{"x", ""}},
     {},
     moves_in_words{"reduce_scatter x", "all_gather y"}},
    {{2, 2},
     {{24, 16}, {{"x", ""}}, {"y", shardwise::reduction::product}},
     {{"", ""}},
     {"y", shardwise::reduction::product},
     moves_in_words{"all_gather x"}},
    // An axis of one device uses the same collectives as any other, with no bytes.
    {{4, 1}, {{64, 8}, {{"x", "y"}}}, {{"x,y", ""}}, {}, moves_in_words{"all_to_all y"}},
    {{4, 1}, {{64, 8}, {{"x", ""}}}, {{"x", "y"}}, {}, moves_in_words{"slice y"}},
    {{4, 1}, {{64, 8}, {{"x", ""}}, {"y"}}, {{"x", ""}}, {}, moves_in_words{"all_reduce y"}},
};

constexpr bool holds(const redistribute_fact& fact) {
  const shardwise::mesh_desc mesh = mesh_of_sizes(fact.mesh);
  const auto [target, verdict] =
      shardwise::resolve(mesh, fact.spec, fact.partial, shardwise::uneven{});
  if (!verdict.ok()) return false;
  const auto way = shardwise::redistribute(mesh, read(mesh, fact.from), target);
  if (!way.verdict.ok() || way.moves.size() != fact.moves.size()) return false;
  for (int i = 0; i < way.moves.ssize(); ++i) {
    shardwise::bounded_text<60> words(shardwise::to_text(way.moves[i].kind));
    for (int k = 0; k < way.moves[i].axes.ssize(); ++k)
      words << (k == 0 ? ' ' : ',') << mesh.axes[way.moves[i].axes[k]].label;
    if (!(words == fact.moves[i])) return false;
  }
  return way.moves.empty() || way.moves.back().after == target;
}

constexpr bool redistribute_facts_hold() {
  for (const redistribute_fact& fact : redistribute_facts)
    if (!holds(fact)) return false;
  return true;
}
