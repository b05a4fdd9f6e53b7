// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/error.hpp"
#include "shardwise/layout/logical_axes_desc.hpp"
#include "shardwise/layout/notation.hpp"

namespace shardwise {

namespace detail {

/// Returns the edit distance of two names: the number of characters to insert, delete or replace.
[[nodiscard]] constexpr int distance(text_view a, text_view b) noexcept {
  int row[short_name::capacity + 1]{};
  const text_view to = b.substr(0, short_name::capacity);
  for (std::size_t j = 0; j <= to.size(); ++j) row[j] = int(j);
  for (std::size_t i = 0; i < a.size(); ++i) {
    int diagonal = row[0]++;
    for (std::size_t j = 0; j < to.size(); ++j) {
      const int replaced = diagonal + int{a[i] != to[j]};
      diagonal = row[j + 1];
      const int shorter = (row[j] < diagonal ? row[j] : diagonal) + 1;
      row[j + 1] = replaced < shorter ? replaced : shorter;
    }
  }
  return row[to.size()];
}

}  // namespace detail

/// Returns the names most similar to one that has no rule: at most three, each within an edit
/// distance of a third of its characters plus one.
[[nodiscard]] constexpr inplace_vector<short_name, 3> nearest_names_to(const axis_rules_desc& rules,
                                                                       text_view label) noexcept {
  inplace_vector<short_name, 3> nearest;
  int best = 1 + int(label.size() / 3);
  for (const axis_rule_desc& rule : rules.alternatives) {
    const int far = detail::distance(label, rule.label);
    if (far > best) continue;
    if (far < best) nearest.clear();
    best = far;
    if (!nearest.full() && !nearest.contains(short_name(rule.label))) nearest.push_back(rule.label);
  }
  return nearest;
}

/// Writes what one dimension took, and why earlier alternatives were not taken: `embed -> none
/// (model is taken by heads)`. Writes `?` if there is nothing to take.
template <std::size_t N>
constexpr bounded_text<N>& write_choice(bounded_text<N>& out, const axis_rules_desc& rules,
                                        const dim_names& names, const resolved_dims& found,
                                        int dim) noexcept {
  out << (names[dim].empty() ? text_view("-") : names[dim]) << " -> ";
  if (found.chosen[dim] < 0 && !names[dim].empty())
    out << '?';
  else if (found.layout.dims[dim].empty())
    out << "none";
  else
    write_axes(out, rules.mesh, found.layout.dims[dim]);
  text_view separator = " (";
  const auto reason = [&](const auto&... words) {
    out << separator;
    (out << ... << words);
    separator = ", ";
  };
  for (const taken_axis& taken : passed_over(rules, names, found, dim))
    reason(rules.mesh.axes[taken.axis].label, " is taken by ", names[taken.dim]);
  if (names.find(names[dim]) < dim && !names[dim].empty()) {
    reason("a second time");
  } else if (!names[dim].empty() && !has_rule(rules, names[dim])) {
    reason("no rule");
    for (const short_name& near : nearest_names_to(rules, names[dim])) reason("nearest is ", near);
  }
  return separator == ", " ? out << ')' : out;
}

/// Describes what every dimension takes, and why earlier alternatives were not taken; one line
/// each.
///
///     batch -> data
///     embed -> none (model is taken by heads)
[[nodiscard]] constexpr message_text explain(const axis_rules_desc& rules,
                                             const dim_names& names) noexcept {
  const resolved_dims found = resolve(rules, names);
  message_text out;
  for (int d = 0; d < names.ssize(); ++d) write_choice(out, rules, names, found, d) << '\n';
  return out;
}

/// Returns the layout of a tensor whose dimensions have these names. Use this when rules or names
/// are known only at run time.
///
/// Throws `error` if `resolve` rejects them; its sentence ends with the failed choice.
[[nodiscard]] constexpr layout_desc layout_of(const axis_rules_desc& rules,
                                              const dim_names& names) {
  const resolved_dims found = resolve(rules, names);
  if (!found.verdict.ok()) {
    message_text advice;
    if (found.verdict.dim >= 0) write_choice(advice, rules, names, found, found.verdict.dim);
    fail(found.verdict, advice);
  }
  return found.layout;
}

}  // namespace shardwise
