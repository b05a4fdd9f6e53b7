// SPDX-License-Identifier: BSL-1.0
// The layouts of the results of reshapes, and of rules with each kind of factor: facts that the
// static tests and the unit tests share.
#pragma once

#include "shardwise/rule/suggestion.hpp"
#include "unit/rule/propagate_facts.hpp"

/// The same as `written`, with the factors of a product in parentheses and those of only one side
/// marked by `~`.
constexpr shardwise::bounded_text<100> written_products(const shardwise::factor_rule& rule) {
  shardwise::bounded_text<100> out;
  const auto letter = [&](int f) {
    const bool here = rule.dim_with(rule.operands[0], f) >= 0;
    const bool there = rule.dim_with(rule.result, f) >= 0;
    if (here != there) out << '~';
    out << static_cast<char>('i' + f);
  };
  const auto map = [&](const shardwise::factor_map& factors) {
    out << '[';
    for (int d = 0; d < factors.ssize(); ++d) {
      if (d > 0) out << ',';
      const int c = factors[d] == shardwise::repeated ? -1 : rule.composite_of(factors[d]);
      if (factors[d] == shardwise::repeated) {
        out << '.';
      } else if (c < 0) {
        letter(factors[d]);
      } else {
        out << '(';
        for (std::uint8_t part : rule.composites[c].parts) letter(part);
        out << ')';
      }
    }
    out << ']';
  };
  map(rule.operands[0]);
  out << "->";
  map(rule.result);
  return out;
}

constexpr bool reshape_structure_facts_hold() {
  using shardwise::dyn;
  using shardwise::extents_desc;
  const auto shape = [](const extents_desc& from, const extents_desc& to) {
    return written_products(shardwise::reshape_rule(from, to));
  };
  return shape({1, 1}, {}) == "[~i,~j]->[]" && shape({8}, {2, 4}) == "[(ij)]->[i,j]" &&
         shape({4, 12}, {4, 2, 3, 2}) == "[i,(jkl)]->[i,j,k,l]" &&
         shape({3, 2}, {2, 3}) == "[~i,~j]->[~k,~l]" &&
         shape({5, 2, 5, 3}, {5, 3, 5, 2}) == "[i,~j,~k,~l]->[i,~m,~n,~o]" &&
         shape({8, 4}, {32, 1}) == "[i,j]->[(ij),.]" &&
         shape({32, 1}, {8, 4}) == "[(ij),~l]->[i,j]" &&
         shape({32}, {8, 1, 4}) == "[(ij)]->[i,.,j]" &&
         // Adjacent dimensions share their common factor; the remaining factors are not shared.
         shape({6, 4}, {4, 6}) == "[(i~j),~k]->[(i~l),~m]" &&
         shape({4, 6}, {8, 3}) == "[i,(jk)]->[(ij),k]" &&
         shape({2, 3, 7, 2, 3}, {3, 2, 7, 3, 2}) == "[~i,~j,m,~n,~o]->[~k,~l,m,~p,~q]" &&
         shape({2, 3, 4, 5, 7}, {12, 70}) == "[i,j,(kl),m,n]->[(ijk),(lmn)]" &&
         shape({3, 4, 8, 3}, {12, 4, 2, 3}) == "[i,j,(kl),m]->[(ij),k,l,m]" &&
         shape({3, 24}, {1, 3, 2, 4, 1, 3, 1}) == "[i,(jkl)]->[.,i,j,k,.,l,.]" &&
         shape({2, 1, 3}, {2, 1, 3}) == "[i,j,k]->[i,j,k]" &&
         // An unknown extent is the quotient of the known ones.
         shape({dyn, 8}, {dyn}) == "[i,j]->[(ij)]" && shape({dyn}, {dyn, 8}) == "[(ij)]->[i,j]" &&
         shape({dyn, 4}, {dyn, 8}) == "[(jk),i]->[j,(ki)]" &&
         shape({6, dyn, 4}, {dyn, 4}) == "[j,k,i]->[(jk),i]" &&
         shape({dyn, dyn}, {dyn}) == "[i,j]->[(ij)]" && shape({dyn}, {2, 4}) == "[(ij)]->[i,j]" &&
         shape({6, dyn}, {dyn, 8}) == "[~i,~j]->[~k,~l]" &&
         // Without elements only unchanged dimensions are shared.
         shape({0, 3}, {0, 4}) == "[i,~j]->[i,~k]" && shape({2, 0}, {5, 0}) == "[~j,i]->[~k,i]";
}

struct reshape_fact {
  shardwise::extents_desc mesh;
  written_tensor operand;
  shardwise::extents_desc to;
  expected outcome;
};

inline constexpr reshape_fact reshape_facts[] = {
    // A merged dimension is split like its first one.
    {{2, 2}, {{8, 4}, {{"x", ""}}}, {32}, {{{32}, {{"x"}}}}},
    {{2, 2}, {{8, 4}, {{"x,y", ""}}}, {32}, {{{32}, {{"x,y"}}}}},
    {{2, 2}, {{8, 4}, {{"", "x"}}}, {32}, refusal(violation::split_would_move, 0, "x")},
    {{2, 2}, {{8, 4}, {{"x", "y"}}}, {32}, refusal(violation::split_would_move, 0, "y")},
    // Later dimensions count if each device has one index of those before.
    {{2, 2}, {{1, 4}, {{"", "x"}}}, {4}, {{{4}, {{"x"}}}}},
    {{2, 2}, {{2, 4}, {{"x", "y"}}}, {8}, {{{8}, {{"x,y"}}}}},
    {{2, 3, 2}, {{2, 3, 4}, {{"x", "y", "z"}}}, {24}, {{{24}, {{"x,y,z"}}}}},
    // A dimension that is divided assigns its axes to its major factors in order.
    {{2, 2}, {{8}, {{"x"}}}, {2, 4}, {{{2, 4}, {{"x", ""}}}}},
    {{2, 2}, {{8}, {{"x,y"}}}, {2, 4}, {{{2, 4}, {{"x", "y"}}}}},
    {{2, 2}, {{8}, {{"x,y"}}}, {4, 2}, {{{4, 2}, {{"x,y", ""}}}}},
    {{2, 2}, {{12}, {{"x,y"}}}, {6, 2}, refusal(violation::split_would_move, 0, "y")},
    {{4}, {{8}, {{"x"}}}, {2, 4}, refusal(violation::split_would_move, 0, "x")},
    {{3}, {{12}, {{"x"}}}, {6, 2}, {{{6, 2}, {{"x", ""}}}}},
    {{3}, {{12}, {{"x"}}}, {4, 3}, refusal(violation::split_would_move, 0, "x")},
    {{2, 2}, {{8, 16}, {{"x", "y"}}}, {8, 4, 4}, {{{8, 4, 4}, {{"x", "y", ""}}}}},
    {{2, 2}, {{4, 6}, {{"x", ""}}}, {8, 3}, {{{8, 3}, {{"x", ""}}}}},
    // Only shared factors are split.
    {{2, 2}, {{6, 4}, {{"x", ""}}}, {4, 6}, {{{4, 6}, {{"x", ""}}}}},
    {{2, 2}, {{6, 4}, {{"", "x"}}}, {4, 6}, refusal(violation::split_would_move, 0, "x")},
    {{2, 2}, {{3, 2}, {{"", "x"}}}, {2, 3}, refusal(violation::split_would_move, 0, "x")},
    // Short last shards are the same on both sides, or the split is an error.
    {{2}, {{5, 4}, {{"x", ""}}}, {5, 2, 2}, {{{5, 2, 2}, {{"x", "", ""}}}}},
    {{2}, {{5, 4}, {{"x", ""}}}, {20}, refusal(violation::split_would_move, 0, "x")},
    {{4}, {{3, 1}, {{"x", ""}}}, {3}, {{{3}, {{"x"}}}}},
    {{2}, {{1, 4}, {{"x", ""}}}, {4}, refusal(violation::split_would_move, 0, "x")},
    {{2}, {{1, 4}, {{"x", ""}}}, {1, 2, 2}, {{{1, 2, 2}, {{"x", "", ""}}}}},
    // Cyclic blocks that consist of whole indices.
    {{2}, {{16}, {{"x%4"}}}, {8, 2}, {{{8, 2}, {{"x%2", ""}}}}},
    {{2}, {{16}, {{"x%2"}}}, {4, 4}, refusal(violation::split_would_move, 0, "x")},
    {{2}, {{8, 2}, {{"x%2", ""}}}, {16}, {{{16}, {{"x%4"}}}}},
    {{2}, {{16}, {{"x*2"}}}, {8, 2}, {{{8, 2}, {{"x*2", ""}}}}},
    {{2}, {{16}, {{"x*4"}}}, {4, 4}, refusal(violation::split_would_move, 0, "x")},
    {{2}, {{2, 8}, {{"", "x%2"}}}, {16}, refusal(violation::split_would_move, 0, "x")},
    {{2}, {{1, 8}, {{"", "x%2"}}}, {8}, {{{8}, {{"x%2"}}}}},
    // Pending values stay pending, with any reduction; an axis of one device is legal anywhere.
    {{2, 2},
     {{8, 4}, {{"x", ""}}, {"y", reduction::max}},
     {32},
     {{{32}, {{"x"}}, {"y", reduction::max}}}},
    {{2, 1}, {{8, 4}, {{"x", "y"}}}, {32}, {{{32}, {{"x,y"}}}}},
    {{2, 1}, {{8}, {{"y,x"}}}, {2, 4}, {{{2, 4}, {{"y,x", ""}}}}},
};

constexpr bool holds(const reshape_fact& fact) {
  const shardwise::mesh_desc mesh = mesh_of_sizes(fact.mesh);
  const shardwise::tensor_desc operand = read(mesh, fact.operand);
  const shardwise::factor_rule rule = shardwise::reshape_rule(operand.extents, fact.to);
  return agrees(mesh, shardwise::propagate(mesh, rule, {operand}), fact.outcome);
}
constexpr bool reshape_facts_hold() {
  for (const reshape_fact& fact : reshape_facts)
    if (!holds(fact)) return false;
  return true;
}

// --- kinds of factors
// -----------------------------------------------------------------------------

/// The rule of a function along dimension 1 whose factor has this kind and these neighbours.
constexpr shardwise::factor_rule rule_along(shardwise::factor_kind kind,
                                            shardwise::index_t before = 0,
                                            shardwise::index_t after = 0) {
  shardwise::factor_rule rule = shardwise::same_dimensions_rule(linearity::structural, 2);
  rule.factors[1] = kind;
  if (before + after > 0) rule.windows.push_back({1, 1, {before + after + 1, 1, before, after}});
  return rule;
}

constexpr bool kind_facts_hold() {
  using shardwise::factor_kind;
  const shardwise::mesh_desc mesh = mesh_of_sizes({2, 2});
  const auto judged = [&](const shardwise::factor_rule& rule, const written_tensor& operand,
                          const expected& outcome) {
    return agrees(mesh, shardwise::propagate(mesh, rule, {read(mesh, operand)}), outcome);
  };
  const auto corrected = [&](const shardwise::factor_rule& rule, const written_tensor& operand,
                             const written_tensor& proposed) {
    const shardwise::tensor_descs given{read(mesh, operand)};
    const auto verdict = shardwise::propagate(mesh, rule, given).verdict;
    const auto fix = shardwise::propose(mesh, rule, given, verdict);
    return fix.operand == 0 && fix.layout == read(mesh, proposed).layout;
  };
  const written_tensor rows{{8, 4}, {{"x", ""}}, {"y"}};
  const written_tensor columns{{8, 4}, {{"", "x"}}, {"y"}};
  const written_tensor whole{{8, 4}, {{"", ""}}, {"y"}};
  const expected refused = refusal(violation::dimension_is_split, 0, "x");
  for (factor_kind kind :
       {factor_kind::need_replication, factor_kind::permutation, factor_kind::blocked}) {
    const shardwise::factor_rule rule = rule_along(kind, 1, 0);
    if (!judged(rule, rows, {rows}) || !judged(rule, columns, refused) ||
        !corrected(rule, columns, whole))
      return false;
  }
  // A dimension of two factors, one of which must not be split: the other may be.
  shardwise::factor_rule rule;
  rule.law = linearity::structural;
  rule.operands.push_back(shardwise::factor_map{0, 1});
  rule.result = shardwise::factor_map{0, 2, 3};
  for (factor_kind kind : {factor_kind::pass_through, factor_kind::pass_through,
                           factor_kind::pass_through, factor_kind::need_replication})
    rule.factors.push_back(kind);
  rule.composites.push_back({1, shardwise::composition::product, {2, 3}});
  rule.sizes = {shardwise::dyn, shardwise::dyn, 2, 2};
  return judged(rule_along(factor_kind::blocked, 0, 2), columns, refused) &&
         judged(rule_along(factor_kind::blocked), columns, {columns}) &&
         judged(rule, columns, {{{8, 2, 2}, {{"", "x", ""}}, {"y"}}}) &&
         judged(rule, {{8, 4}, {{"", "x,y"}}}, refusal(violation::dimension_is_split, 0, "y")) &&
         judged(rule, {{8, 6}, {{"", ""}}}, refusal(violation::operand_sizes_differ, 0, ""));
}
