// SPDX-License-Identifier: BSL-1.0
// The layouts of named dimensions: each fact holds in constant expressions and at run time.
#pragma once

#include <shardwise/layout/logical_axes.hpp>
#include <shardwise/paper.hpp>

using namespace shardwise;

/// Rules on mesh(x=2, y=4, z=1), the names of a tensor, and the layout or the broken rule.
struct names_fact {
  text_view about;
  axis_rule_desc rules[7];  // to the first that is empty
  dim_names names;
  text_view layout;
  violation rule = violation::nothing;
  int dim = -1;
  text_view name{};
};

inline constexpr mesh_desc names_mesh{{axis_desc{"x", 2}, axis_desc{"y", 4}, axis_desc{"z", 1}}};

inline constexpr axis_rule_desc batch_x{"batch", "x"}, heads_y{"heads", "y"}, embed_y{"embed", "y"},
    embed_x{"embed", "x"}, embed_none{"embed", ""};

inline constexpr names_fact names_facts[] = {
    {"one axis each", {batch_x, heads_y}, {"batch", "heads"}, "[x, y]"},
    {"the order of the tensor does not matter", {batch_x, heads_y}, {"heads", "batch"}, "[y, x]"},
    {"rules of absent names are not served", {batch_x, embed_x}, {"embed"}, "[x]"},
    {"the rule that comes first has the first choice",
     {heads_y, embed_y, embed_none},
     {"embed", "heads"},
     "[-, y]"},
    {"the other way round", {embed_y, heads_y, {"heads", ""}}, {"embed", "heads"}, "[y, -]"},
    {"the next alternative is tried", {heads_y, embed_y, embed_x}, {"embed", "heads"}, "[x, y]"},
    // ("batch", X), ("features", X), ("heads", Y), ("batch", Z), as in flax.
    {"the rules of one name need not stand together",
     {batch_x, {"features", "x"}, heads_y, {"batch", "z"}, {"features", ""}, {"length", ""}},
     {"batch", "length", "heads", "features"},
     "[x, -, y, -]"},
    {"a later rule of a name is served in its place",
     {{"a", "x"}, {"b", "x"}, {"c", "y"}, {"b", "y"}, {"b", "z"}},
     {"b", "c", "a"},
     "[z, y, x]"},
    {"several axes, major to minor", {{"batch", "z,x"}}, {"batch"}, "[(z,x)]"},
    {"all axes of an alternative must be free",
     {heads_y, {"embed", "x,y"}, embed_x},
     {"heads", "embed"},
     "[y, x]"},
    {"an alternative that is passed over takes nothing",
     {heads_y, {"embed", "x,y"}, batch_x, embed_none},
     {"heads", "embed", "batch"},
     "[y, -, x]"},
    {"none ends the search", {embed_none, embed_x}, {"embed"}, "[-]"},
    {"what is behind none leaves its axis to others",
     {embed_none, embed_x, {"heads", "x"}},
     {"embed", "heads"},
     "[-, x]"},
    {"an axis of size 1 is an axis", {{"batch", "z"}}, {"batch"}, "[z]"},
    {"dimensions without a name are not split", {batch_x}, {"", "batch", ""}, "[-, x, -]"},
    {"no dimensions", {batch_x}, {}, "[]"},
    {"no rules, no names", {}, {"", ""}, "[-, -]"},

    {"a name without a rule",
     {batch_x},
     {"batch", "bacth"},
     "",
     violation::name_has_no_rule,
     1,
     "bacth"},
    {"names differ in case", {batch_x}, {"Batch"}, "", violation::name_has_no_rule, 0, "Batch"},
    {"a name is its whole text",
     {{"abcdefghijklmnopqrstuvw", "x"}},
     {"abcdefghijklmnopqrstuvwx"},
     "",
     violation::name_has_no_rule,
     0,
     "abcdefghijklmnopqrstuvwx"},
    {"a name twice",
     {batch_x},
     {"batch", "", "batch"},
     "",
     violation::name_is_repeated,
     2,
     "batch"},
    {"every alternative is taken",
     {batch_x, heads_y, embed_y, embed_x},
     {"embed", "batch", "heads"},
     "",
     violation::no_alternative_is_free,
     0,
     "embed"},
    {"an alternative before the axis is taken would have been free",
     {embed_y, {"b", "y"}, {"b", "x,y"}},
     {"b", "embed"},
     "",
     violation::no_alternative_is_free,
     0,
     "b"},
    {"a rule names an unknown axis",
     {batch_x, {"embed", "w"}},
     {"batch"},
     "",
     violation::axis_is_not_in_mesh,
     -1,
     "w"},
    {"a rule is written with a blank",
     {{"embed", "x, y"}},
     {"embed"},
     "",
     violation::spec_is_malformed,
     -1,
     " y"},
    {"a rule uses an axis twice",
     {{"embed", "x,x"}},
     {"embed"},
     "",
     violation::axis_is_used_twice,
     -1,
     "x"},
    {"a rule is about no name",
     {{"", "x"}},
     {"embed"},
     "",
     violation::axis_name_is_malformed,
     -1,
     ""},
    {"a rule is about what is no name",
     {{"a b", "x"}},
     {"embed"},
     "",
     violation::axis_name_is_malformed,
     -1,
     "a b"},
};

/// True if the fact holds.
constexpr bool holds(const names_fact& fact) {
  std::size_t count = 0;
  while (!fact.rules[count].label.empty() || !fact.rules[count].axes.empty()) ++count;
  const axis_rules_desc rules{names_mesh, {fact.rules, count}};
  const resolved_dims found = resolve(rules, fact.names);
  if (fact.rule != violation::nothing)
    return found.verdict ==
           diagnosis{.rule = fact.rule, .dim = fact.dim, .axis = short_name(fact.name)};
  message_text layout;
  write_layout(layout, names_mesh, found.layout);
  return found.verdict.ok() && layout == fact.layout &&
         found.layout == resolve(names_mesh, spec_of(rules, found)).layout &&
         found.layout == layout_of(rules, fact.names);
}
