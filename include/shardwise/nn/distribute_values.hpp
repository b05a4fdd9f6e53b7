// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/nest.hpp"
#include "shardwise/nn/parameters.hpp"
#include "shardwise/nn/plan_desc.hpp"
#include "shardwise/runtime/any_operations.hpp"

#include <string>
#include <utility>
#include <vector>

namespace shardwise::detail {

/// Returns the names of the tensors of a model.
template <class Model>
[[nodiscard]] std::vector<std::string> names_in(const Model& model) {
  std::vector<std::string> names;
  for_each_parameter(model, [&](const leaf_path& name, const auto&) {
    names.emplace_back(name.data(), name.size());
  });
  return names;
}

/// Checks a plan that is a value against the names of a model.
inline void require_plan(const std::vector<std::string>& names, const nn::plan_desc& plan) {
  const auto append = [](std::string& list, text_view name) {
    list.append(list.empty() ? "'" : ", '").append(name.data(), name.size()).append("'");
  };
  std::string all, without;
  for (const std::string& name : names) {
    append(all, name);
    if (plan.is_complete && nn::rule_for(plan, name) < 0) append(without, name);
  }
  for (const nn::plan_rule_desc& rule : plan.rules) {
    std::string pattern;
    append(pattern, rule.pattern);
    if (rule.action == nn::plan_action::module)
      fail({.rule = violation::planned_layout_is_fixed},
           pattern + " is about modules, which are planned by distribute_module<Plan>(model)");
    bool is_matched = false;
    for (const std::string& name : names)
      is_matched = is_matched || name_is_under(name, rule.pattern);
    if (!is_matched)
      fail({.rule = violation::pattern_matches_nothing},
           pattern.append(", where the model has ").append(all));
  }
  if (!without.empty()) fail({.rule = violation::parameter_has_no_rule}, without);
}

/// Returns the layout of a parameter under a plan.
[[nodiscard]] inline layout_desc planned_layout_of(const nn::plan_desc& plan, text_view name,
                                                   const mesh_desc& mesh,
                                                   const tensor_desc& tensor) {
  const int rule = nn::rule_for(plan, name);
  if (rule < 0) return tensor.layout;
  const resolved_layout to = nn::layout_by(plan.rules[rule], mesh, tensor);
  require(to.verdict, name);
  return to.layout;
}

/// Reshards the tensors of a model with run-time layouts; after an error none has changed.
template <class Model>
void distribute_values(Model& model, const nn::plan_desc& plan) {
  for_each_parameter(std::as_const(model), [&]<class X>(const leaf_path& name, const X& x) {
    if constexpr (ValueOperand<X>)
      (void)planned_layout_of(plan, name, x.mesh(), x.tensor());
    else if (!(planned_layout_of(plan, name, x.mesh(), desc_of(x)) == X::layout_type::value))
      fail({.rule = violation::planned_layout_is_fixed}, name);
  });
  for_each_parameter(model, [&]<class X>(const leaf_path& name, X& x) {
    if constexpr (ValueOperand<X>)
      x = reshard(x, planned_layout_of(plan, name, x.mesh(), x.tensor()));
  });
}

}  // namespace shardwise::detail
