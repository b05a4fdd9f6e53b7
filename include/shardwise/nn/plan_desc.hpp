// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/name_pattern.hpp"
#include "shardwise/layout/layout_rules.hpp"
#include "shardwise/layout/split_further.hpp"
#include "shardwise/layout/tensor_desc.hpp"
#include "shardwise/mesh/list_view.hpp"

#include <cstdint>

namespace shardwise::nn {

/// The effect of a rule of a plan: it assigns a spec to a tensor, splits it by columns, by rows or
/// further, leaves it unchanged, or affects the calls of modules and not tensors.
enum class plan_action : std::uint8_t { place, columns, rows, further, unchanged, module };

/// A rule of a plan as a value. The pattern, with `*` and `?`, matches parameters, or modules and
/// everything in them; the argument is the axes, joined by commas, or, for `place`, the spec. The
/// texts are not owned.
struct plan_rule_desc {
  text_view pattern{};
  plan_action action = plan_action::unchanged;
  text_view axes{};
  spec_desc spec{};
};

/// A plan as a value: the layouts of the parameters of a model. A parameter takes the first rule
/// whose pattern matches its name; without one it does not change or, if the plan is complete, is
/// an error. The rules are not owned.
///
///     const nn::plan_rule_desc rules[] = {{"*.up", nn::plan_action::columns, "model"},
///                                         {"*.down", nn::plan_action::rows, "model"}};
///     model = nn::distribute_module(model, nn::plan_desc{rules});
struct plan_desc {
  list_view<const plan_rule_desc> rules{};
  bool is_complete = false;
};

/// Returns the number of the rule for a parameter, or -1 if there is none.
[[nodiscard]] constexpr int rule_for(const plan_desc& plan, text_view name) noexcept {
  for (int i = 0; i < int(plan.rules.ssize()); ++i)
    if (plan.rules[i].action != plan_action::module && name_is_under(name, plan.rules[i].pattern))
      return i;
  return -1;
}

/// Returns the layout that a rule assigns to a tensor, or the diagnosis of why there is none. The
/// policy of the tensor does not change.
///
/// By columns, a matrix `[in, out...]` is split in its second dimension, and so is a vector in its
/// only one; by rows, a matrix is split in its first dimension, and a vector does not change.
/// `further` splits the first dimension that is then divided evenly (see `split_further`); a tensor
/// without one does not change.
[[nodiscard]] constexpr resolved_layout layout_by(const plan_rule_desc& rule, const mesh_desc& mesh,
                                                  const tensor_desc& tensor) noexcept {
  const int rank = tensor.extents.ssize();
  resolved_layout out{tensor.layout, {}};
  if (rule.action == plan_action::place) {
    out = resolve(mesh, rule.spec, {}, policy_desc(tensor.layout.uneven));
  } else if (rule.action != plan_action::unchanged && rule.action != plan_action::module) {
    const resolved_layout split = resolve(mesh, {{rule.axes}});
    const int dim = rule.action == plan_action::columns && rank > 1 ? 1 : 0;
    if (!split.verdict.ok()) {
      out.verdict = split.verdict;
    } else if (rule.action == plan_action::further) {
      for (std::uint8_t axis : split.layout.dims[0])
        out.layout = split_further(mesh, out.layout, tensor.extents, axis);
    } else if (rank > 1 || (rank == 1 && rule.action == plan_action::columns)) {
      out.layout.dims[dim] = split.layout.dims[0];
      out.layout.grains[dim] = split.layout.grains[0];
    }
  }
  if (out.verdict.ok()) out.verdict = validate(mesh, out.layout);
  if (out.verdict.ok()) out.verdict = validate(mesh, out.layout, tensor.extents);
  return out;
}

}  // namespace shardwise::nn
