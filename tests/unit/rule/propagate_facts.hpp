// SPDX-License-Identifier: BSL-1.0
// The layouts of the results of operations: facts that the static tests and the unit tests share.
#pragma once

#include "unit/layout/shard_facts.hpp"

/// A tensor as text: its extents, splits and pending axes.
struct written_tensor {
  shardwise::extents_desc extents;
  shardwise::spec_desc spec;
  shardwise::partial_desc partial{};
};

constexpr shardwise::tensor_desc read(const shardwise::mesh_desc& mesh,
                                      const written_tensor& words) {
  return {shardwise::element::f32, words.extents,
          shardwise::resolve(mesh, words.spec, words.partial, shardwise::uneven{}).layout};
}

/// The result of an operation, or the rule that it breaks.
struct expected {
  written_tensor result{};
  shardwise::violation rule = shardwise::violation::nothing;
  int operand = -1;
  shardwise::text_view axis{};
};

constexpr expected refusal(shardwise::violation rule, int operand, shardwise::text_view axis) {
  return {{}, rule, operand, axis};
}

constexpr bool agrees(const shardwise::mesh_desc& mesh, const shardwise::propagation& found,
                      const expected& wanted) {
  if (!found.verdict.ok() || wanted.rule != shardwise::violation::nothing)
    return found.verdict.rule == wanted.rule && found.verdict.operand == wanted.operand &&
           shardwise::text_view(found.verdict.axis) == wanted.axis;
  return found.result == read(mesh, wanted.result);
}

// --- einsum
// ---------------------------------------------------------------------------------------

struct einsum_fact {
  shardwise::text_view equation;
  shardwise::extents_desc mesh;
  written_tensor first;
  written_tensor second;  // ignored where the equation has one operand
  expected outcome;
};

using shardwise::violation;

inline constexpr einsum_fact einsum_facts[] = {
    // A factor split on one operand is split on the result.
    {"mk,kn->mn", {4}, {{8, 4}, {{"", ""}}}, {{4, 8}, {{"", "x"}}}, {{{8, 8}, {{"", "x"}}}}},
    {"mk,kn->mn", {4}, {{8, 4}, {{"x", ""}}}, {{4, 8}, {{"", ""}}}, {{{8, 8}, {{"x", ""}}}}},
    {"mk,kn->mn", {2, 2}, {{8, 4}, {{"x", ""}}}, {{4, 8}, {{"", "y"}}}, {{{8, 8}, {{"x", "y"}}}}},
    {"ij,ij->ij", {4}, {{8, 8}, {{"x", ""}}}, {{8, 8}, {{"x", ""}}}, {{{8, 8}, {{"x", ""}}}}},
    {"bmk,bkn->bmn",
     {4},
     {{4, 8, 8}, {{"x", "", ""}}},
     {{4, 8, 8}, {{"x", "", ""}}},
     {{{4, 8, 8}, {{"x", "", ""}}}}},
    {"bmk,bkn->bmn",
     {4},
     {{4, 8, 8}, {{"", "", ""}}},
     {{4, 8, 8}, {{"", "", ""}}},
     {{{4, 8, 8}, {{"", "", ""}}}}},
    // If a contracted factor is split, the result is pending.
    {"mk,kn->mn",
     {4},
     {{12, 8}, {{"", "x"}}},
     {{8, 4}, {{"x", ""}}},
     {{{12, 4}, {{"", ""}}, {"x"}}}},
    {"mk,kn->mn",
     {2, 2},
     {{8, 8}, {{"x", "y"}}},
     {{8, 8}, {{"y", ""}}},
     {{{8, 8}, {{"x", ""}}, {"y"}}}},
    {"mk,kn->mn",
     {2, 2},
     {{8, 8}, {{"", "x,y"}}},
     {{8, 8}, {{"x,y", ""}}},
     {{{8, 8}, {{"", ""}}, {"x,y"}}}},
    {"mk,kn->mn",
     {2, 2},
     {{8, 8}, {{"", "y,x"}}},
     {{8, 8}, {{"y,x", ""}}},
     {{{8, 8}, {{"", ""}}, {"x,y"}}}},
    {"i,i->", {4}, {{8}, {{"x"}}}, {{8}, {{"x"}}}, {{{}, {}, {"x"}}}},
    // An operand with more elements than are read: replicated, or split over fewer axes.
    {"mk,kn->mn", {4}, {{8, 8}, {{"", "x"}}}, {{8, 8}, {{"", ""}}}, {{{8, 8}, {{"", ""}}, {"x"}}}},
    {"i,i->i", {2, 2}, {{8}, {{"x,y"}}}, {{8}, {{"x"}}}, {{{8}, {{"x,y"}}}}},
    {"i,i->i", {2, 2}, {{8}, {{"x"}}}, {{8}, {{"x,y"}}}, {{{8}, {{"x,y"}}}}},
    // Pending reductions pass through a product that is linear in them.
    {"mk,kn->mn",
     {4},
     {{12, 8}, {{"", ""}}, {"x"}},
     {{8, 16}, {{"", ""}}},
     {{{12, 16}, {{"", ""}}, {"x"}}}},
    {"mk,kn->mn",
     {2, 2},
     {{8, 8}, {{"", ""}}, {"x"}},
     {{8, 8}, {{"", ""}}, {"y"}},
     {{{8, 8}, {{"", ""}}, {"x,y"}}}},
    {"mk,kn->mn",
     {2, 2},
     {{8, 4}, {{"x", ""}}, {"y"}},
     {{4, 8}, {{"", ""}}},
     {{{8, 8}, {{"x", ""}}, {"y"}}}},
    {"mk,kn->mn",
     {2, 2},
     {{8, 8}, {{"", ""}}, {"x"}},
     {{8, 8}, {{"", ""}}, {"x"}},
     refusal(violation::pending_axis_meets_itself, 1, "x")},
    {"mk,kn->mn",
     {2, 2},
     {{8, 8}, {{"", "y"}}, {"x"}},
     {{8, 8}, {{"y", "x"}}},
     refusal(violation::pending_axis_meets_itself, 0, "x")},
    {"mk,kn->mn",
     {4},
     {{8, 8}, {{"", ""}}, {"x", shardwise::reduction::max}},
     {{8, 8}, {{"", ""}}},
     refusal(violation::partial_value_is_read, 0, "x")},
    // Conflicting splits.
    {"mk,kn->mn",
     {2, 2},
     {{8, 8}, {{"", "x"}}},
     {{8, 8}, {{"y", ""}}},
     refusal(violation::operand_layouts_conflict, 1, "y")},
    {"i,i->i",
     {2, 2},
     {{8}, {{"x,y"}}},
     {{8}, {{"y,x"}}},
     refusal(violation::operand_layouts_conflict, 1, "x")},
    {"mk,kn->mn",
     {4},
     {{8, 8}, {{"x", ""}}},
     {{8, 8}, {{"", "x"}}},
     refusal(violation::axis_would_split_twice, 1, "x")},
    {"mk,kn->mn",
     {4},
     {{8, 8}, {{"x", ""}}},
     {{8, 8}, {{"x", ""}}},
     refusal(violation::axis_would_split_twice, 1, "x")},
    // An axis of one device splits nothing.
    {"mk,kn->mn",
     {4, 1},
     {{8, 8}, {{"", "x"}}},
     {{8, 8}, {{"x", "y"}}},
     {{{8, 8}, {{"", "y"}}, {"x"}}}},
    {"i,i->i", {4, 1}, {{8}, {{"x"}}}, {{8}, {{"y"}}}, {{{8}, {{"x"}}}}},
    // It makes nothing pending, and a value that is pending over it is legal everywhere.
    {"i,i->", {4, 1}, {{8}, {{"y"}}}, {{8}, {{""}}}, {{{}, {}}}},
    {"i,i->", {4, 1}, {{8}, {{"x,y"}}}, {{8}, {{"x"}}}, {{{}, {}, {"x"}}}},
    {"mk,kn->mn",
     {4, 1},
     {{8, 8}, {{"", ""}}, {"y"}},
     {{8, 8}, {{"", ""}}, {"y"}},
     {{{8, 8}, {{"", ""}}}}},
    {"mk,kn->mn",
     {4, 1},
     {{8, 8}, {{"x", ""}}, {"y", shardwise::reduction::max}},
     {{8, 8}, {{"", "y"}}},
     {{{8, 8}, {{"x", "y"}}}}},
    {"mk,kn->mn",
     {4, 1},
     {{8, 8}, {{"", ""}}, {"x,y"}},
     {{8, 8}, {{"", ""}}, {"y"}},
     {{{8, 8}, {{"", ""}}, {"x"}}}},
    // Shapes.
    {"mk,kn->mn",
     {4},
     {{8, 8}, {{"", ""}}},
     {{6, 8}, {{"", ""}}},
     refusal(violation::operand_sizes_differ, 1, "")},
    {"mk,kn->mn",
     {4},
     {{8, 8}, {{"", ""}}},
     {{8}, {{""}}},
     refusal(violation::operand_rank_differs, 1, "")},
    {"mk,kn->mn", {4}, {{8, 0}, {{"x", ""}}}, {{0, 8}, {{"", ""}}}, {{{8, 8}, {{"x", ""}}}}},
    // One operand.
    {"ij->ji", {2, 2}, {{8, 4}, {{"x", "y"}}}, {}, {{{4, 8}, {{"y", "x"}}}}},
    {"ij->ji", {2, 2}, {{8, 4}, {{"x", ""}}, {"y"}}, {}, {{{4, 8}, {{"", "x"}}, {"y"}}}},
    {"ij->j", {2, 2}, {{8, 4}, {{"x", "y"}}}, {}, {{{4}, {{"y"}}, {"x"}}}},
    {"ii->i", {2, 2}, {{8, 8}, {{"x", ""}}}, {}, {{{8}, {{"x"}}}}},
    {"ii->i",
     {2, 2},
     {{8, 8}, {{"x", "y"}}},
     {},
     refusal(violation::operand_layouts_conflict, 0, "y")},
    {"ii->i", {2, 2}, {{8, 4}, {{"", ""}}}, {}, refusal(violation::operand_sizes_differ, 0, "")},
};

constexpr bool holds(const einsum_fact& fact) {
  const shardwise::mesh_desc mesh = mesh_of_sizes(fact.mesh);
  const shardwise::factor_rule rule = shardwise::parse_einsum(fact.equation).rule;
  shardwise::tensor_descs operands{read(mesh, fact.first)};
  if (rule.operands.size() == 2) operands.push_back(read(mesh, fact.second));
  return agrees(mesh, shardwise::propagate(mesh, rule, operands), fact.outcome);
}

constexpr bool einsum_facts_hold() {
  for (const einsum_fact& fact : einsum_facts)
    if (!holds(fact)) return false;
  return true;
}

// --- elementwise
// ----------------------------------------------------------------------------------

struct elementwise_fact {
  shardwise::linearity law;
  shardwise::extents_desc mesh;
  shardwise::inplace_vector<written_tensor, shardwise::max_operands> operands;
  expected outcome;
};

using shardwise::linearity;
using shardwise::reduction;
using operands_in_words = shardwise::inplace_vector<written_tensor, shardwise::max_operands>;

inline constexpr elementwise_fact elementwise_facts[] = {
    // Dimensions are aligned from the last one; missing ones and ones of size 1 are broadcast.
    {linearity::additive,
     {2, 2},
     operands_in_words{written_tensor{{20, 6}, {{"", "x"}}}, written_tensor{{6}, {{"x"}}}},
     {{{20, 6}, {{"", "x"}}}}},
    {linearity::additive,
     {4},
     operands_in_words{written_tensor{{8, 8}, {{"", "x"}}}, written_tensor{{8}, {{"x"}}}},
     {{{8, 8}, {{"", "x"}}}}},
    {linearity::additive,
     {4},
     operands_in_words{written_tensor{{4}, {{"x"}}}, written_tensor{{12, 4}, {{"", "x"}}}},
     {{{12, 4}, {{"", "x"}}}}},
    {linearity::additive,
     {4},
     operands_in_words{written_tensor{{12, 1}, {{"x", ""}}}, written_tensor{{12, 4}, {{"x", ""}}}},
     {{{12, 4}, {{"x", ""}}}}},
    {linearity::additive,
     {4},
     operands_in_words{written_tensor{{}, {}}, written_tensor{{12, 4}, {{"x", ""}}}},
     {{{12, 4}, {{"x", ""}}}}},
    {linearity::additive,
     {4},
     operands_in_words{written_tensor{{1, 4}, {{"", "x"}}}, written_tensor{{3, 1}, {{"", ""}}}},
     {{{3, 4}, {{"", "x"}}}}},
    {linearity::additive,
     {4},
     operands_in_words{written_tensor{{1, 4}, {{"x", ""}}}, written_tensor{{3, 4}, {{"", ""}}}},
     refusal(violation::operand_layouts_conflict, 0, "x")},
    {linearity::additive,
     {4},
     operands_in_words{written_tensor{{2, 0, 4}, {{"", "", "x"}}},
                       written_tensor{{2, 0, 4}, {{"", "", "x"}}}},
     {{{2, 0, 4}, {{"", "", "x"}}}}},
    {linearity::additive,
     {4},
     operands_in_words{written_tensor{{8}, {{""}}}, written_tensor{{6}, {{""}}}},
     refusal(violation::operand_sizes_differ, 1, "")},
    // Pending operands.
    {linearity::additive,
     {4},
     operands_in_words{written_tensor{{8}, {{""}}, {"x"}}, written_tensor{{8}, {{""}}, {"x"}}},
     {{{8}, {{""}}, {"x"}}}},
    {linearity::additive,
     {4},
     operands_in_words{written_tensor{{8}, {{""}}, {"x"}}, written_tensor{{8}, {{""}}}},
     refusal(violation::pending_axes_differ, 1, "x")},
    {linearity::additive,
     {4},
     operands_in_words{written_tensor{{8}, {{""}}}, written_tensor{{8}, {{""}}, {"x"}}},
     refusal(violation::pending_axes_differ, 1, "x")},
    {linearity::additive,
     {4},
     operands_in_words{written_tensor{{8}, {{""}}, {"x", reduction::max}},
                       written_tensor{{8}, {{""}}, {"x", reduction::max}}},
     refusal(violation::partial_value_is_read, 0, "x")},
    {linearity::multilinear,
     {4},
     operands_in_words{written_tensor{{8}, {{""}}, {"x"}}, written_tensor{{8}, {{""}}}},
     {{{8}, {{""}}, {"x"}}}},
    {linearity::multilinear,
     {4},
     operands_in_words{written_tensor{{8}, {{""}}, {"x"}}, written_tensor{{}, {}}},
     {{{8}, {{""}}, {"x"}}}},
    {linearity::multilinear,
     {4},
     operands_in_words{written_tensor{{8}, {{""}}, {"x"}}, written_tensor{{8}, {{""}}, {"x"}}},
     refusal(violation::pending_axis_meets_itself, 1, "x")},
    {linearity::multilinear,
     {4},
     operands_in_words{written_tensor{{8}, {{""}}, {"x", reduction::max}},
                       written_tensor{{8}, {{""}}}},
     refusal(violation::partial_value_is_read, 0, "x")},
    {linearity::first_operand,
     {4},
     operands_in_words{written_tensor{{8}, {{""}}, {"x"}}, written_tensor{{}, {}}},
     {{{8}, {{""}}, {"x"}}}},
    {linearity::first_operand,
     {4},
     operands_in_words{written_tensor{{8}, {{""}}}, written_tensor{{8}, {{""}}, {"x"}}},
     refusal(violation::partial_value_is_read, 1, "x")},
    {linearity::max_of,
     {4},
     operands_in_words{written_tensor{{8}, {{""}}, {"x", reduction::max}},
                       written_tensor{{8}, {{""}}, {"x", reduction::max}}},
     {{{8}, {{""}}, {"x", reduction::max}}}},
    {linearity::max_of,
     {4},
     operands_in_words{written_tensor{{8}, {{""}}, {"x"}}, written_tensor{{8}, {{""}}, {"x"}}},
     refusal(violation::partial_value_is_read, 0, "x")},
    {linearity::min_of,
     {4},
     operands_in_words{written_tensor{{8}, {{""}}, {"x", reduction::min}},
                       written_tensor{{8}, {{""}}, {"x", reduction::min}}},
     {{{8}, {{""}}, {"x", reduction::min}}}},
    {linearity::nonlinear,
     {2, 2},
     operands_in_words{written_tensor{{8}, {{"x"}}, {"y"}}},
     refusal(violation::partial_value_is_read, 0, "y")},
    {linearity::nonlinear,
     {2, 2},
     operands_in_words{written_tensor{{8}, {{"x"}}}},
     {{{8}, {{"x"}}}}},
    // A sum over an axis of one device is not pending.
    {linearity::nonlinear,
     {4, 1},
     operands_in_words{written_tensor{{8}, {{"x"}}, {"y"}}},
     {{{8}, {{"x"}}}}},
    {linearity::nonlinear,
     {4, 1},
     operands_in_words{written_tensor{{8}, {{""}}, {"x,y"}}},
     refusal(violation::partial_value_is_read, 0, "x")},
    {linearity::additive,
     {4, 1},
     operands_in_words{written_tensor{{8}, {{""}}, {"x,y"}}, written_tensor{{8}, {{""}}, {"x"}}},
     {{{8}, {{""}}, {"x"}}}},
    {linearity::additive,
     {4, 1},
     operands_in_words{written_tensor{{8}, {{"x"}}, {"y", reduction::max}},
                       written_tensor{{8}, {{"x"}}, {"y", reduction::min}}},
     {{{8}, {{"x"}}}}},
    {linearity::multilinear,
     {4, 1},
     operands_in_words{written_tensor{{8}, {{""}}, {"y"}}, written_tensor{{8}, {{"y"}}}},
     {{{8}, {{"y"}}}}},
    {linearity::first_operand,
     {4, 1},
     operands_in_words{written_tensor{{8}, {{"x"}}}, written_tensor{{8}, {{"x"}}, {"y"}}},
     {{{8}, {{"x"}}}}},
    // Three operands: a choice between two.
    {linearity::nonlinear,
     {4},
     operands_in_words{written_tensor{{}, {}}, written_tensor{{4, 8}, {{"x", ""}}},
                       written_tensor{{4, 8}, {{"x", ""}}}},
     {{{4, 8}, {{"x", ""}}}}},
};

constexpr shardwise::factor_rule rule_of(shardwise::linearity law,
                                         const shardwise::tensor_descs& operands) {
  shardwise::inplace_vector<shardwise::extents_desc, shardwise::max_operands> extents;
  for (const shardwise::tensor_desc& operand : operands) extents.push_back(operand.extents);
  return shardwise::elementwise_rule(law, extents);
}

constexpr bool holds(const elementwise_fact& fact) {
  const shardwise::mesh_desc mesh = mesh_of_sizes(fact.mesh);
  shardwise::tensor_descs operands;
  for (const written_tensor& words : fact.operands) operands.push_back(read(mesh, words));
  return agrees(mesh, shardwise::propagate(mesh, rule_of(fact.law, operands), operands),
                fact.outcome);
}

constexpr bool elementwise_facts_hold() {
  for (const elementwise_fact& fact : elementwise_facts)
    if (!holds(fact)) return false;
  return true;
}

// --- reduction
// -----------------------------------------------------------------------------------------

struct reduction_fact {
  shardwise::reduction kind;
  unsigned reduced;
  shardwise::extents_desc mesh;
  written_tensor operand;
  expected outcome;
  bool keep = false;
};

inline constexpr reduction_fact reduction_facts[] = {
    {reduction::sum, 1, {4}, {{12, 8, 8}, {{"x", "", ""}}}, {{{8, 8}, {{"", ""}}, {"x"}}}},
    {reduction::sum, 2, {4}, {{12, 8, 8}, {{"x", "", ""}}}, {{{12, 8}, {{"x", ""}}}}},
    {reduction::sum, 7, {4}, {{12, 8, 8}, {{"x", "", ""}}}, {{{}, {}, {"x"}}}},
    {reduction::sum, 0, {4}, {{12, 8}, {{"x", ""}}}, {{{12, 8}, {{"x", ""}}}}},
    {reduction::sum, 1, {2, 2}, {{8, 8}, {{"x", ""}}, {"y"}}, {{{8}, {{""}}, {"x,y"}}}},
    {reduction::sum, 1, {2, 2}, {{8, 8}, {{"x", "y"}}}, {{{8}, {{"y"}}, {"x"}}}},
    {reduction::max, 1, {4}, {{12, 8}, {{"x", ""}}}, {{{8}, {{""}}, {"x", reduction::max}}}},
    {reduction::min, 2, {4}, {{12, 8}, {{"", "x"}}}, {{{12}, {{""}}, {"x", reduction::min}}}},
    {reduction::product, 1, {4}, {{12}, {{"x"}}}, {{{}, {}, {"x", reduction::product}}}},
    {reduction::max,
     1,
     {2, 2},
     {{8, 8}, {{"x", ""}}, {"y", reduction::max}},
     {{{8}, {{""}}, {"x,y", reduction::max}}}},
    {reduction::max,
     1,
     {2, 2},
     {{8, 8}, {{"", ""}}, {"y"}},
     refusal(violation::partial_value_is_read, 0, "y")},
    {reduction::sum,
     1,
     {2, 2},
     {{8, 8}, {{"", ""}}, {"y", reduction::max}},
     refusal(violation::partial_value_is_read, 0, "y")},
    // Kept dimensions have one element and are not split.
    {reduction::sum, 2, {4}, {{12, 8}, {{"x", ""}}}, {{{12, 1}, {{"x", ""}}}}, true},
    {reduction::sum, 1, {4}, {{12, 8}, {{"x", ""}}}, {{{1, 8}, {{"", ""}}, {"x"}}}, true},
    {reduction::sum, 0, {4}, {{12, 8}, {{"x", ""}}}, {{{12, 8}, {{"x", ""}}}}, true},
    {reduction::max,
     3,
     {2, 2},
     {{8, 8}, {{"x", "y"}}},
     {{{1, 1}, {{"", ""}}, {"x,y", reduction::max}}},
     true},
    {reduction::product,
     2,
     {2, 2},
     {{4, 0, 8}, {{"", "x", "y"}}},
     {{{4, 1, 8}, {{"", "", "y"}}, {"x", reduction::product}}},
     true},
    {reduction::max,
     1,
     {2, 2},
     {{8, 8}, {{"", ""}}, {"y"}},
     refusal(violation::partial_value_is_read, 0, "y"),
     true},
    // An axis of one device makes nothing pending.
    {reduction::sum, 1, {4, 1}, {{8, 8}, {{"y", "x"}}}, {{{8}, {{"x"}}}}},
    {reduction::min, 1, {4, 1}, {{8, 8}, {{"x,y", ""}}}, {{{8}, {{""}}, {"x", reduction::min}}}},
    {reduction::max, 1, {4, 1}, {{8, 8}, {{"", "x"}}, {"y"}}, {{{8}, {{"x"}}}}},
};

constexpr bool holds(const reduction_fact& fact) {
  const shardwise::mesh_desc mesh = mesh_of_sizes(fact.mesh);
  const shardwise::tensor_descs operands{read(mesh, fact.operand)};
  const auto rule =
      shardwise::reduction_rule(fact.kind, operands[0].rank(), fact.reduced, fact.keep);
  return agrees(mesh, shardwise::propagate(mesh, rule, operands), fact.outcome);
}

constexpr bool reduction_facts_hold() {
  for (const reduction_fact& fact : reduction_facts)
    if (!holds(fact)) return false;
  return true;
}

// --- the structure of rules
// -----------------------------------------------------------------------

/// The factors of operands and result as letters, `([i,j],[j])->([i,j]) sum=i`; `.` is broadcast.
constexpr shardwise::bounded_text<100> written(const shardwise::factor_rule& rule) {
  shardwise::bounded_text<100> out;
  const auto map = [&](const shardwise::factor_map& factors) {
    out << '[';
    for (int d = 0; d < factors.ssize(); ++d) {
      if (d > 0) out << ',';
      out << (factors[d] == shardwise::repeated ? '.' : static_cast<char>('i' + factors[d]));
    }
    out << ']';
  };
  out << '(';
  for (int o = 0; o < rule.operands.ssize(); ++o) {
    if (o > 0) out << ',';
    map(rule.operands[o]);
  }
  out << ")->(";
  map(rule.result);
  out << ')';
  for (int f = 0; f < rule.factors.ssize(); ++f)
    if (rule.factors[f] == shardwise::factor_kind::reduction)
      out << " -" << static_cast<char>('i' + f);
  return out;
}

constexpr bool rule_facts_hold() {
  using shardwise::extents_desc;
  const auto pointwise = [](auto... extents) {
    return written(shardwise::elementwise_rule(linearity::additive, {extents...}));
  };
  const auto einsum = [](shardwise::text_view equation) {
    return written(shardwise::parse_einsum(equation).rule);
  };
  const auto reduce = [](int rank, unsigned bits, bool keep = false) {
    return written(shardwise::reduction_rule(reduction::sum, rank, bits, keep));
  };
  return pointwise(extents_desc{2, 0, 4}, extents_desc{2, 0, 4}) ==
             "([i,j,k],[i,j,k])->([i,j,k])" &&
         pointwise(extents_desc{8, 4}) == "([i,j])->([i,j])" &&
         pointwise(extents_desc{}) == "([])->([])" &&
         pointwise(extents_desc{2, 64, 13, 1}, extents_desc{13, 1}) ==
             "([i,j,k,l],[k,l])->([i,j,k,l])" &&
         pointwise(extents_desc{}, extents_desc{4, 8}, extents_desc{4, 8}) ==
             "([],[i,j],[i,j])->([i,j])" &&
         pointwise(extents_desc{1, 8}, extents_desc{4, 1}) == "([.,j],[i,.])->([i,j])" &&
         pointwise(extents_desc{1}, extents_desc{1}) == "([i],[i])->([i])" &&
         pointwise(extents_desc{1}, extents_desc{shardwise::dyn}) == "([.],[i])->([i])" &&
         einsum("i,i->") == "([i],[i])->([]) -i" &&
         einsum("ij,jk->ik") == "([i,j],[j,k])->([i,k]) -j" &&
         einsum("abcdef,gefba->abcdg") == "([i,j,k,l,m,n],[o,m,n,j,i])->([i,j,k,l,o]) -m -n" &&
         einsum("ii->i") == "([i,i])->([i])" && einsum("i,j->ij") == "([i],[j])->([i,j])" &&
         reduce(3, 2) == "([i,j,k])->([i,k]) -j" && reduce(3, 5) == "([i,j,k])->([j]) -i -k" &&
         reduce(2, 3) == "([i,j])->([]) -i -j" && reduce(0, 0) == "([])->([])" &&
         reduce(3, 2, true) == "([i,j,k])->([i,.,k]) -j" &&
         reduce(2, 3, true) == "([i,j])->([.,.]) -i -j" && reduce(2, 0, true) == "([i,j])->([i,j])";
}
