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
    {{4}, {{3, 13}, {{"", ""}}}, {{"", "x"}}, {}, moves_in_words{"slice x"}},
    {{4}, {{3, 14}, {{"", ""}}}, {{"", "x"}}, {}, moves_in_words{"slice x"}},
    {{4}, {{8, 5}, {{"x", ""}}}, {{"", "x"}}, {}, moves_in_words{"all_to_all x"}},
    {{4}, {{5, 8}, {{"x", ""}}}, {{"", "x"}}, {}, moves_in_words{"all_to_all x"}},
    {{4}, {{5, 5}, {{"", "x"}}}, {{"x", ""}}, {}, moves_in_words{"all_to_all x"}},
    // Two axes.
    {{2, 2}, {{8, 8}, {{"x", "y"}}}, {{"x,y", ""}}, {}, moves_in_words{"all_to_all y"}},
    {{2, 2}, {{8, 8}, {{"x", "y"}}}, {{"y", "x"}}, {}, moves_in_words{"collective_permute x,y"}},
    {{2, 2}, {{9, 5}, {{"x,y", ""}}}, {{"", ""}}, {}, moves_in_words{"all_gather x,y"}},
    {{2, 2}, {{8, 8}, {{"x,y", ""}}}, {{"x", ""}}, {}, moves_in_words{"all_gather y"}},
    {{2, 2},
     {{10, 5}, {{"x", "y"}}},
     {{"", ""}},
     {},
     moves_in_words{"all_gather x", "all_gather y"}},
    {{2, 4},
     {{16, 8}, {{"x", ""}}},
     {{"y", ""}},
     {},
     moves_in_words{"slice y", "collective_permute x,y", "all_gather x"}},
    {{2, 4}, {{16, 8}, {{"", ""}}}, {{"y", "x"}}, {}, moves_in_words{"slice y", "slice x"}},
    {{2, 4}, {{16, 8}, {{"", ""}}}, {{"x,y", ""}}, {}, moves_in_words{"slice x,y"}},
    // Axes that stay together take one collective, however uneven.
    {{2, 2}, {{8, 8}, {{"x,y", ""}}}, {{"", "x,y"}}, {}, moves_in_words{"all_to_all x,y"}},
    {{2, 2},
     {{8, 8, 8}, {{"x", "", "y"}}},
     {{"y", "x", ""}},
     {},
     moves_in_words{"all_to_all x", "all_to_all y"}},
    {{2, 2, 2},
     {{8, 8, 8}, {{"x,y", "z", ""}}},
     {{"x", "y", "z"}},
     {},
     moves_in_words{"all_to_all z", "all_to_all y"}},
    {{2, 2}, {{8, 5}, {{"x", "y"}}}, {{"x,y", ""}}, {}, moves_in_words{"all_to_all y"}},
    {{2, 2}, {{8, 5}, {{"x,y", ""}}}, {{"", "x,y"}}, {}, moves_in_words{"all_to_all x,y"}},
    {{2, 2}, {{5, 8}, {{"x", "y"}}}, {{"x,y", ""}}, {}, moves_in_words{"all_to_all y"}},
    {{2, 2}, {{5, 5}, {{"x", "y"}}}, {{"x,y", ""}}, {}, moves_in_words{"all_to_all y"}},
    {{2, 2}, {{5, 5}, {{"x", "y"}}}, {{"y", "x"}}, {}, moves_in_words{"collective_permute x,y"}},
    {{2, 2}, {{5, 5}, {{"x,y", ""}}}, {{"", "x,y"}}, {}, moves_in_words{"all_to_all x,y"}},
    {{2, 2},
     {{3, 5}, {{"x", "y"}}},
     {{"", ""}},
     {},
     moves_in_words{"all_gather x", "all_gather y"}},
    {{2, 4},
     {{16, 8}, {{"y", "x"}}},
     {{"", ""}},
     {},
     moves_in_words{"all_gather y", "all_gather x"}},
    {{2, 4},
     {{16, 8}, {{"y", "x"}}},
     {{"x", "y"}},
     {},
     moves_in_words{"all_to_all x", "all_to_all y,x", "all_to_all x"}},
    {{2, 2, 2},
     {{16, 8, 8}, {{"x,y,z", "", ""}}},
     {{"", "", ""}},
     {},
     moves_in_words{"all_gather x,y,z"}},
    {{2, 2, 2},
     {{16, 8, 8}, {{"y", "z", ""}}, {"x"}},
     {{"z", "y", ""}},
     {},
     moves_in_words{"collective_permute y,z", "all_reduce x"}},
    // Only axes in the same order, at the minor end of a dimension, move together.
    {{2, 2, 2}, {{8, 8}, {{"x,y,z", ""}}}, {{"x", "y,z"}}, {}, moves_in_words{"all_to_all y,z"}},
    {{2, 2, 2}, {{8, 8}, {{"x,y,z", ""}}}, {{"", "x,y,z"}}, {}, moves_in_words{"all_to_all x,y,z"}},
    {{2, 2, 2},
     {{8, 8}, {{"x,y,z", ""}}},
     {{"x", "z,y"}},
     {},
     moves_in_words{"all_to_all z", "all_to_all y"}},
    {{2, 2, 2}, {{8, 8}, {{"x,y", "z"}}}, {{"", "z,x,y"}}, {}, moves_in_words{"all_to_all x,y"}},
    // An axis that joins them splits first what is to move, where it splits it evenly.
    {{2, 2, 2},
     {{8, 8}, {{"x,y", ""}}},
     {{"", "x,y,z"}},
     {},
     moves_in_words{"slice z", "all_to_all x,y,z"}},
    {{2, 2, 2},
     {{6, 8}, {{"x,y", ""}}},
     {{"", "x,y,z"}},
     {},
     moves_in_words{"all_to_all x,y", "slice z"}},
    {{2, 2, 2},
     {{16, 8, 8}, {{"z", "x", ""}}},
     {{"", "", "x,y,z"}},
     {},
     moves_in_words{"slice y", "all_to_all x,y", "all_to_all z"}},
    {{2, 2, 2},
     {{16, 8, 8}, {{"", "x,y", ""}}},
     {{"x", "", "y,z"}},
     {},
     moves_in_words{"slice z", "all_to_all y,z", "all_to_all x"}},
    {{2, 2, 2},
     {{16, 8}, {{"", "x"}}},
     {{"x,y", "z"}},
     {},
     moves_in_words{"slice y,z", "collective_permute x,y,z"}},
    {{2, 2, 2},
     {{16, 8}, {{"x", "y"}}},
     {{"x,y", "z"}},
     {},
     moves_in_words{"all_to_all y", "slice z"}},
    {{4, 2}, {{16, 8}, {{"y", ""}}}, {{"", "x"}}, {}, moves_in_words{"slice x", "all_gather y"}},
    {{2, 2},
     {{16, 8, 8}, {{"", "y,x", ""}}},
     {{"x,y", "", ""}},
     {},
     moves_in_words{"all_to_all x", "all_to_all y"}},
    {{2, 2, 2},
     {{8, 8}, {{"y", ""}}, {"x"}},
     {{"", "y,x"}},
     {},
     moves_in_words{"all_to_all y", "reduce_scatter x"}},
    // Shards go to other devices as they are, where dimensions have the same parts before and
    // after.
    {{2, 2}, {{8}, {{"x"}}}, {{"y"}}, {}, moves_in_words{"collective_permute x,y"}},
    {{2, 2}, {{5}, {{"x"}}}, {{"y"}}, {}, moves_in_words{"collective_permute x,y"}},
    {{2, 2}, {{8}, {{"x,y"}}}, {{"y,x"}}, {}, moves_in_words{"collective_permute x,y"}},
    {{2, 2}, {{5}, {{"x,y"}}}, {{"y,x"}}, {}, moves_in_words{"collective_permute x,y"}},
    {{2, 2, 2},
     {{8, 8, 8}, {{"x", "y", "z"}}},
     {{"y", "z", "x"}},
     {},
     moves_in_words{"collective_permute x,y,z"}},
    {{2, 2, 2},
     {{16, 8}, {{"z", "y"}}},
     {{"z", "x"}},
     {},
     moves_in_words{"collective_permute x,y"}},
    {{2, 2, 4}, {{16}, {{"x,y"}}}, {{"z"}}, {}, moves_in_words{"collective_permute x,y,z"}},
    // Only axes that data crosses take part.
    {{2, 2, 2}, {{8}, {{"x,y,z"}}}, {{"x,z,y"}}, {}, moves_in_words{"collective_permute y,z"}},
    {{2, 2, 2}, {{8}, {{"x,y,z"}}}, {{"z,y,x"}}, {}, moves_in_words{"collective_permute x,z"}},
    {{2, 2, 2}, {{8}, {{"x,y,z"}}}, {{"y,x,z"}}, {}, moves_in_words{"collective_permute x,y"}},
    {{2, 2}, {{8, 8}, {{"x%2", ""}}}, {{"y%2", ""}}, {}, moves_in_words{"collective_permute x,y"}},
    // Parts over 2 x 3 axes differ from those over 3 x 2, unless they are equal.
    {{2, 3}, {{12}, {{"x,y"}}}, {{"y,x"}}, {}, moves_in_words{"collective_permute x,y"}},
    {{2, 3}, {{7}, {{"x,y"}}}, {{"y,x"}}, {}, moves_in_words{"all_gather x,y", "slice y,x"}},
    // A slice before it leaves less to send.
    {{2, 3},
     {{12, 12}, {{"y", ""}}},
     {{"x", ""}},
     {},
     moves_in_words{"slice x", "collective_permute x,y", "all_gather y"}},
    // So does a reduction that splits, wherever it may.
    {{4, 4},
     {{64}, {{"y"}}, {"x"}},
     {{"x,y"}},
     {},
     moves_in_words{"reduce_scatter x", "collective_permute x,y"}},
    {{4, 4},
     {{64, 8}, {{"y", ""}}, {"x"}},
     {{"x", ""}},
     {},
     moves_in_words{"reduce_scatter x", "collective_permute x,y", "all_gather y"}},
    // Axes of different sizes change places through one dimension.
    {{2, 3},
     {{12, 12}, {{"x", "y"}}},
     {{"y", "x"}},
     {},
     moves_in_words{"all_to_all x", "all_to_all y,x", "all_to_all x"}},
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
    {{4, 1}, {{64, 8}, {{"x", "y"}}}, {{"x", "y"}}, {}, {}},
    {{4, 1}, {{64, 8}, {{"x", ""}}}, {{"x,y", ""}}, {}, moves_in_words{"slice y"}},
    {{4, 1}, {{64, 8}, {{"x", ""}}}, {{"x", ""}}, {}, {}},
    // But nothing is pending over it.
    {{4, 1}, {{64, 8}, {{"x", ""}}, {"y"}}, {{"x", "y"}}, {}, moves_in_words{"slice y"}},
    {{4, 1}, {{64, 8}, {{"x", ""}}, {"y"}}, {{"x", ""}}, {}, {}},
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
