// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/layout/layout_desc.hpp"
#include "shardwise/mesh/list_view.hpp"

namespace shardwise {

/// One alternative of a rule as a value: the logical name of a dimension, and its spec entry (axes
/// joined by commas, or empty for a dimension that is not split).
struct axis_rule_desc {
  text_view label{};
  text_view axes{};
};

/// The logical names of the dimensions of a tensor, in order; a dimension with an empty name is
/// never split.
using dim_names = inplace_vector<text_view, max_rank>;

/// The rules of a program as a value: a mesh, and alternatives in order of precedence. The
/// alternatives are borrowed.
///
///     constexpr axis_rule_desc list[] = {{"batch", "data"}, {"embed", "model"}, {"embed", ""}};
///     constexpr axis_rules_desc rules{pod::value, list};
struct axis_rules_desc {
  mesh_desc mesh{};
  list_view<const axis_rule_desc> alternatives{};
};

/// The axes that the rules assign to the dimensions of a tensor, or the reason why there is no
/// layout.
struct resolved_dims {
  layout_desc layout{};
  /// The number of the alternative that each dimension took, or -1.
  inplace_vector<int, max_rank> chosen{};
  diagnosis verdict{};
};

namespace detail {

/// Resolves the axes of an alternative as a spec with one entry.
[[nodiscard]] constexpr axis_list axes_of(const axis_rules_desc& rules, int alternative) noexcept {
  return resolve(rules.mesh, {{rules.alternatives[alternative].axes}}).layout.dims[0];
}

}  // namespace detail

/// Checks rules: names are well formed, and every alternative is a legal spec entry on the mesh.
[[nodiscard]] constexpr diagnosis validate(const axis_rules_desc& rules) noexcept {
  for (const axis_rule_desc& rule : rules.alternatives) {
    if (!is_axis_name(rule.label))
      return {.rule = violation::axis_name_is_malformed, .axis = short_name(rule.label)};
    diagnosis verdict = resolve(rules.mesh, {{rule.axes}}).verdict;
    verdict.dim = -1;
    if (!verdict.ok()) return verdict;
  }
  return {};
}

/// Returns true if there is a rule for this name.
[[nodiscard]] constexpr bool has_rule(const axis_rules_desc& rules, text_view label) noexcept {
  for (const axis_rule_desc& rule : rules.alternatives)
    if (rule.label == label) return true;
  return false;
}

/// Returns the spec of resolved dimensions, with the entries as written in the rules.
[[nodiscard]] constexpr spec_desc spec_of(const axis_rules_desc& rules,
                                          const resolved_dims& found) noexcept {
  spec_desc spec;
  for (int alternative : found.chosen)
    spec.dims.push_back(alternative < 0 ? text_view() : rules.alternatives[alternative].axes);
  return spec;
}

/// Assigns mesh axes to named dimensions. Alternatives are tried in order; each is taken if its
/// dimension has no axes yet and none of its axes splits another dimension of the tensor.
///
/// Checks the rules themselves, that no name is repeated, that every name has a rule, and that one
/// of its alternatives was free. Does not check extents; `validate` for the layout does.
///
///     resolve(rules, {"batch", "embed"}).layout             // [data, model]
[[nodiscard]] constexpr resolved_dims resolve(const axis_rules_desc& rules,
                                              const dim_names& names) noexcept {
  resolved_dims found;
  found.layout.dims.resize(names.size());
  for (int d = 0; d < names.ssize(); ++d) found.chosen.push_back(-1);
  if (found.verdict = validate(rules); !found.verdict.ok()) return found;

  const auto refuse = [&](violation rule, int d) {
    found.verdict = {.rule = rule, .dim = d, .axis = short_name(names[d])};
    return found;
  };
  for (int d = 0; d < names.ssize(); ++d)
    if (!names[d].empty() && names.find(names[d]) != d)
      return refuse(violation::name_is_repeated, d);

  unsigned used = 0;
  for (int i = 0; i < int(rules.alternatives.ssize()); ++i) {
    const int d = names.find(rules.alternatives[i].label);
    if (d < 0 || found.chosen[d] >= 0) continue;
    unsigned wanted = 0;
    for (std::uint8_t axis : detail::axes_of(rules, i)) wanted |= 1U << axis;
    if ((wanted & used) != 0) continue;
    used |= wanted;
    found.chosen[d] = i;
  }
  found.layout = resolve(rules.mesh, spec_of(rules, found)).layout;
  for (int d = 0; d < names.ssize(); ++d)
    if (!names[d].empty() && found.chosen[d] < 0)
      return refuse(has_rule(rules, names[d]) ? violation::no_alternative_is_free
                                              : violation::name_has_no_rule,
                    d);
  return found;
}

/// Why an alternative was not taken: one of its axes splits another dimension.
struct taken_axis {
  int axis = -1;
  int dim = -1;
};

/// Returns what prevented the alternatives that a dimension did not get, in order; as many as fit.
[[nodiscard]] constexpr inplace_vector<taken_axis, max_axes> passed_over(
    const axis_rules_desc& rules, const dim_names& names, const resolved_dims& found,
    int dim) noexcept {
  inplace_vector<taken_axis, max_axes> obstacles;
  const int all = int(rules.alternatives.ssize());
  const int end = found.chosen[dim] < 0 ? all : found.chosen[dim];
  for (int i = 0; i < end && !obstacles.full(); ++i) {
    if (names[dim].empty() || !(rules.alternatives[i].label == names[dim])) continue;
    taken_axis first;
    for (std::uint8_t axis : detail::axes_of(rules, i)) {
      const int other = found.layout.dim_of(axis);
      if (first.axis < 0 && other >= 0 && found.chosen[other] < i) first = {axis, other};
    }
    if (first.axis >= 0) obstacles.push_back(first);
  }
  return obstacles;
}

}  // namespace shardwise
