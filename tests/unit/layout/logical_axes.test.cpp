// SPDX-License-Identifier: BSL-1.0
#include "support/catch.hpp"
#include "support/paper.hpp"
#include "support/watched.hpp"
#include "unit/layout/logical_axes_facts.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace {

// An alternative for the reference implementations: its name, and its axes in order.
struct choice {
  std::string label;
  std::vector<std::string> axes;

  std::string entry() const {
    std::string joined;
    for (const std::string& axis : axes) joined += (joined.empty() ? "" : ",") + axis;
    return joined;
  }
};

using names = std::vector<std::string>;

mesh_desc mesh_of_rank(std::size_t rank) {
  mesh_desc mesh;
  for (const char* label : {"x", "y", "z"})
    if (mesh.axes.size() < rank) mesh.axes.push_back({short_name(text_view(label)), 2});
  return mesh;
}

// Every sequence of different axes of a mesh, including the empty one.
std::vector<std::vector<std::string>> entries(std::size_t rank) {
  std::vector<std::vector<std::string>> all{{}};
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t a = 0; a < rank; ++a) {
      std::vector<std::string> longer = all[i];
      longer.emplace_back(1, "xyz"[a]);
      if (std::count(longer.begin(), longer.end(), longer.back()) == 1) all.push_back(longer);
    }
  return all;
}

std::vector<choice> choices(std::size_t rank) {
  std::vector<choice> all;
  for (const char* label : {"a", "b", "c"})
    for (const auto& axes : entries(rank)) all.push_back({label, axes});
  return all;
}

// Every tensor whose dimensions have different names.
std::vector<names> tensors() {
  std::vector<names> all{{}};
  for (std::size_t i = 0; i < all.size(); ++i)
    for (const char* label : {"a", "b", "c"}) {
      names longer = all[i];
      longer.emplace_back(label);
      if (std::count(longer.begin(), longer.end(), longer.back()) == 1) all.push_back(longer);
    }
  return all;
}

struct given {
  std::vector<std::string> texts;
  std::vector<axis_rule_desc> list;
  axis_rules_desc rules;

  given(const mesh_desc& mesh, const std::vector<choice>& alternatives) {
    for (const choice& c : alternatives) texts.push_back(c.entry());
    for (std::size_t i = 0; i < texts.size(); ++i)
      list.push_back({alternatives[i].label, texts[i]});
    rules = {mesh, list};
  }
};

dim_names to_dim_names(const names& tensor) {
  dim_names out;
  for (const std::string& label : tensor) out.push_back(label);
  return out;
}

bool meet(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  return std::any_of(a.begin(), a.end(), [&](const std::string& axis) {
    return std::find(b.begin(), b.end(), axis) != b.end();
  });
}

// The rule for a whole assignment: an alternative is chosen if and only if no earlier one of its
// name is, and its axes are disjoint from those of all chosen earlier ones.
bool is_lawful(const std::vector<choice>& list, const names& tensor,
               const std::vector<int>& chosen) {
  const auto is_taken = [&](std::size_t i) {
    for (std::size_t d = 0; d < tensor.size(); ++d)
      if (chosen[d] == static_cast<int>(i)) return true;
    return false;
  };
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (std::find(tensor.begin(), tensor.end(), list[i].label) == tensor.end()) continue;
    bool wanted = true;
    for (std::size_t j = 0; j < i; ++j)
      if (is_taken(j) && (list[j].label == list[i].label || meet(list[j].axes, list[i].axes)))
        wanted = false;
    if (is_taken(i) != wanted) return false;
  }
  return true;
}

// All assignments of alternatives to dimensions, with -1 for none, that satisfy the rule.
std::vector<std::vector<int>> lawful(const std::vector<choice>& list, const names& tensor) {
  std::vector<std::vector<int>> all{{}};
  for (const std::string& label : tensor) {
    std::vector<std::vector<int>> longer;
    for (const std::vector<int>& chosen : all)
      for (int i = -1; i < static_cast<int>(list.size()); ++i) {
        if (i >= 0 && list[static_cast<std::size_t>(i)].label != label) continue;
        longer.push_back(chosen);
        longer.back().push_back(i);
      }
    all = longer;
  }
  all.erase(std::remove_if(all.begin(), all.end(),
                           [&](const auto& chosen) { return !is_lawful(list, tensor, chosen); }),
            all.end());
  return all;
}

// Rules as in flax: a dimension without a free alternative is not split, without an error.
std::vector<std::vector<std::string>> as_in_flax(const std::vector<choice>& list,
                                                 const names& tensor) {
  std::vector<std::optional<std::vector<std::string>>> result(tensor.size());
  std::set<std::string> used;
  for (const choice& rule : list) {
    const auto at = std::find(tensor.begin(), tensor.end(), rule.label) - tensor.begin();
    if (at == static_cast<std::ptrdiff_t>(tensor.size())) continue;
    auto& slot = result[static_cast<std::size_t>(at)];
    if (slot || std::any_of(rule.axes.begin(), rule.axes.end(),
                            [&](const auto& axis) { return used.count(axis) > 0; }))
      continue;
    slot = rule.axes;
    used.insert(rule.axes.begin(), rule.axes.end());
  }
  std::vector<std::vector<std::string>> axes;
  for (const auto& slot : result) axes.push_back(slot.value_or(std::vector<std::string>{}));
  return axes;
}

std::vector<std::string> labels(const mesh_desc& mesh, const axis_list& axes) {
  std::vector<std::string> all;
  for (std::uint8_t a : axes)
    all.emplace_back(mesh.axes[a].label.data(), mesh.axes[a].label.size());
  return all;
}

// Compares a list of rules with the reference implementations for every tensor; returns the number
// of tensors with a layout.
int hold_against_oracles(const mesh_desc& mesh, const std::vector<choice>& list,
                         const std::vector<names>& all_tensors) {
  const given here(mesh, list);
  std::vector<choice> with_none = list;
  for (const char* label : {"a", "b", "c"}) with_none.push_back({label, {}});
  const given ending_with_none(mesh, with_none);

  int legal = 0;
  for (const names& tensor : all_tensors) {
    const dim_names dims = to_dim_names(tensor);
    const resolved_dims found = resolve(here.rules, dims);
    const auto expected = lawful(list, tensor);
    bool right = expected.size() == 1;
    for (std::size_t d = 0; right && d < tensor.size(); ++d) {
      const int taken = expected[0][d];
      right = found.chosen[d] == taken &&
              labels(mesh, found.layout.dims[d]) ==
                  (taken < 0 ? std::vector<std::string>{} : list[std::size_t(taken)].axes);
    }

    // The verdict names the first dimension without an alternative.
    std::size_t first = 0;
    while (right && first < tensor.size() && expected[0][first] >= 0) ++first;
    if (first == tensor.size()) {
      right = right && found.verdict.ok();
      ++legal;
    } else if (right) {
      const bool known = std::any_of(list.begin(), list.end(),
                                     [&](const choice& c) { return c.label == tensor[first]; });
      right = found.verdict == diagnosis{.rule = known ? violation::no_alternative_is_free
                                                       : violation::name_has_no_rule,
                                         .dim = int(first),
                                         .axis = short_name(tensor[first])};
    }

    // Every alternative that a dimension did not get conflicts with an earlier one.
    for (std::size_t d = 0; right && d < tensor.size(); ++d) {
      const auto obstacles = passed_over(here.rules, dims, found, int(d));
      std::size_t next = 0;
      const int end = found.chosen[d] < 0 ? int(list.size()) : found.chosen[d];
      for (int i = 0; i < end; ++i) {
        if (list[std::size_t(i)].label != tensor[d] || next == obstacles.capacity()) continue;
        right = right && next < obstacles.size();
        if (!right) break;
        const taken_axis& taken = obstacles[next++];
        const int owner = found.chosen[taken.dim];
        right = owner >= 0 && owner < i &&
                meet(labels(mesh, {std::uint8_t(taken.axis)}), list[std::size_t(i)].axes) &&
                meet(labels(mesh, {std::uint8_t(taken.axis)}), list[std::size_t(owner)].axes);
      }
      right = right && next == obstacles.size();
    }

    const resolved_dims whole = resolve(ending_with_none.rules, dims);
    const auto flax = as_in_flax(list, tensor);
    right = right && whole.verdict.ok();
    for (std::size_t d = 0; right && d < tensor.size(); ++d)
      right = labels(mesh, whole.layout.dims[d]) == flax[d];

    if (!right) {
      std::string shown;
      for (const choice& c : list) shown += c.label + " -> '" + c.entry() + "'; ";
      for (const std::string& label : tensor) shown += " " + label;
      CAPTURE(shown);
      CHECK(right);
      return legal;
    }
  }
  return legal;
}

}  // namespace

TEST_CASE("rules give what the facts say") {
  for (const names_fact& fact : names_facts) {
    CAPTURE(std::string(fact.about.data(), fact.about.size()));
    CHECK(holds(fact));
  }
}

TEST_CASE("every short list of rules obeys the law, for every tensor") {
  const std::vector<names> all_tensors = tensors();
  REQUIRE(all_tensors.size() == 16);
  for (const auto& [rank, longest] : {std::pair{0, 3}, {1, 3}, {2, 3}, {3, 2}}) {
    const mesh_desc mesh = mesh_of_rank(std::size_t(rank));
    const std::vector<choice> all_choices = choices(std::size_t(rank));
    std::vector<std::vector<choice>> lists{{}};
    int legal = 0;
    for (std::size_t l = 0; l < lists.size(); ++l) {
      const std::vector<choice> list = lists[l];
      legal += hold_against_oracles(mesh, list, all_tensors);
      if (list.size() == std::size_t(longest)) continue;
      for (const choice& next : all_choices) {
        lists.push_back(list);
        lists.back().push_back(next);
      }
    }
    CHECK(legal > int(lists.size()));
  }
}

TEST_CASE("long lists of rules obey the law") {
  const std::vector<names> all_tensors = tensors();
  paper::numbers pick(7);
  int legal = 0;
  constexpr int rounds = support::is_watched ? 1'000 : 10'000;
  for (int round = 0; round < rounds; ++round) {
    const auto rank = std::size_t(2 + pick(2));
    const std::vector<choice> all_choices = choices(rank);
    std::vector<choice> list;
    for (index_t left = 3 + pick(7); left > 0; --left)
      list.push_back(all_choices[std::size_t(pick(index_t(all_choices.size())))]);
    legal += hold_against_oracles(mesh_of_rank(rank), list, all_tensors);
  }
  CHECK(legal > rounds);
}

TEST_CASE("names that the run learns are refused with a reason") {
  const mesh_desc mesh{{axis_desc{"data", 2}, axis_desc{"model", 4}}};
  const axis_rule_desc list[] = {{"batch", "data"}, {"heads", "model"}, {"embed", "model"}};
  const axis_rules_desc rules{mesh, list};
  CHECK(layout_of(rules, {"batch", "embed"}) == resolve(mesh, {{"data", "model"}}).layout);
  CHECK_THROWS_WITH(layout_of(rules, {"batch", "emebd"}),
                    contains("name_has_no_rule: a named dimension has a rule (dimension 1, name "
                             "'emebd'); emebd -> ? (no rule, nearest is embed)"));
  CHECK_THROWS_WITH(layout_of(rules, {"embed", "heads"}),
                    contains("(dimension 0, name 'embed'); embed -> ? (model is taken by heads)"));
  CHECK_THROWS_WITH(layout_of(rules, {"embed", "embed"}),
                    contains("name_is_repeated: the dimensions of a tensor have different names "
                             "(dimension 1, name 'embed')"));
  const axis_rule_desc wrong[] = {{"batch", "dtaa"}};
  CHECK_THROWS_WITH(layout_of({mesh, wrong}, {"batch"}),
                    contains("axis_is_not_in_mesh") && contains("(axis 'dtaa')"));
}

TEST_CASE("specs that the run learns are refused with a reason") {
  const mesh_desc mesh{{axis_desc{"data", 2}, axis_desc{"model", 4}}};
  CHECK(layout_of(mesh, {{"data", ""}}, {"model"}) ==
        resolve(mesh, {{"data", ""}}, {"model"}).layout);
  CHECK(layout_of(mesh, {{"data"}}, {}, uneven{}).uneven);
  CHECK_THROWS_WITH(layout_of(mesh, {{"data", "dtaa"}}),
                    contains("axis_is_not_in_mesh") && contains("(dimension 1, axis 'dtaa')"));
}

TEST_CASE("the nearest names are those that take the fewest keys") {
  // The distance from its definition.
  const auto slow = [](const auto& self, const std::string& a, const std::string& b) -> int {
    if (a.empty() || b.empty()) return int(a.size() + b.size());
    const std::string a_rest = a.substr(1), b_rest = b.substr(1);
    return std::min({self(self, a_rest, b) + 1, self(self, a, b_rest) + 1,
                     self(self, a_rest, b_rest) + int{a[0] != b[0]}});
  };
  std::vector<std::string> words{""};
  for (std::size_t i = 0; words[i].size() < 4; ++i)
    for (const char* letter : {"p", "q"}) words.push_back(words[i] + letter);
  for (const std::string& a : words)
    for (const std::string& b : words)
      if (detail::distance(a, b) != slow(slow, a, b)) FAIL(a << " and " << b);

  const axis_rule_desc list[] = {{"batch", ""}, {"heads", ""}, {"head", ""},
                                 {"heads", ""}, {"mlp", ""},   {"embed", ""}};
  const axis_rules_desc rules{{}, list};
  using near = inplace_vector<short_name, 3>;
  CHECK(nearest_names_to(rules, "emebd") == near{"embed"});
  CHECK(nearest_names_to(rules, "headz") == near{"heads", "head"});
  CHECK(nearest_names_to(rules, "vocabulary").empty());
  CHECK(nearest_names_to(rules, "").empty());
  CHECK(nearest_names_to(rules, std::string(100, 'b')).empty());
}
