// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/catalogue.hpp"
#include "shardwise/rule/permission.hpp"

namespace shardwise {

/// What an operation of the catalogue makes of operands, or why it refuses them.
struct operation_inference {
  tensor_results results{};
  /// Floating-point operations of the device with the largest shard.
  index_t flops = 0;
  diagnosis verdict{};
  /// The rule of the type layer that is broken, by name; and what it asks for.
  text_view misuse{};
  /// The operands under layouts that make it legal; none where no reshard helps.
  tensor_descs legal{};

  [[nodiscard]] constexpr bool ok() const noexcept { return verdict.ok() && misuse.empty(); }
};

/// The attributes of an application: those that its entry makes of the arguments, or the integers
/// of its parameters one after the other.
[[nodiscard]] constexpr attributes attributes_of(const catalogued_operation& entry,
                                                 const operation_arguments& given,
                                                 const tensor_descs& operands) noexcept {
  if (entry.how != nullptr) return entry.how(given, operands);
  attributes out;
  reader in(entry.parameters);
  for (text_view name = in.word(); !name.empty(); name = in.word()) {
    in.accept('?');
    const auto numbers = given.integers(name);
    if (numbers.empty() && find_parameter(name)->form != parameter_form::integers &&
        find_parameter(name)->form != parameter_form::extents)
      out.integers.push_back(0);
    for (index_t n : numbers)
      if (!out.integers.full()) out.integers.push_back(n);
  }
  return out;
}

/// The name of a parameter that an application lacks, or of one that its operation has not.
struct argument_fault {
  text_view missing{};
  bool has_unknown = false;
};
[[nodiscard]] constexpr argument_fault check_arguments(const catalogued_operation& entry,
                                                       const operation_arguments& given) noexcept {
  std::size_t known = 0;
  reader in(entry.parameters);
  for (text_view name = in.word(); !name.empty(); name = in.word()) {
    const bool may_lack = in.accept('?');
    if (given.has(name))
      ++known;
    else if (!may_lack)
      return {name, false};
  }
  return {{}, known != given.size()};
}

/// Judges an operation on operands and infers its results, as its function does for tensors of
/// these types.
///
///     const auto made = infer_operation(mesh, *find_operation("sum"), given, {x});
///     made.results[0];                                      // f32[8]{partial sum: model}
[[nodiscard]] constexpr operation_inference infer_operation(const mesh_desc& mesh,
                                                            const catalogued_operation& entry,
                                                            const operation_arguments& given,
                                                            const tensor_descs& operands) {
  operation_inference out;
  const auto refuse = [&](const diagnosis& verdict) {
    out.verdict = verdict;
    return !verdict.ok();
  };
  const diagnosis other_count{.rule = broken::operand_count_differs,
                              .have = operands.ssize(),
                              .want = operands.ssize() < entry.least ? entry.least : entry.most};
  if (operands.ssize() < entry.least || operands.ssize() > entry.most)
    return refuse(other_count), out;
  if (entry.called != nullptr) {
    diagnosis verdict;
    const manual_collective called = entry.called(mesh, given, verdict);
    manual_result made{operands[0], verdict};
    if (verdict.ok()) made = called.apply(mesh, operands[0]);
    if (entry.of_truth_values && operands[0].type != element::boolean)
      made.verdict = {.rule = broken::operand_is_no_truth_value, .operand = 0};
    if (made.verdict.rule == broken::dimension_is_split) {
      tensor_desc whole = operands[0];
      whole.layout.unsplit(made.verdict.dim);
      out.legal = {whole};
    }
    if (refuse(made.verdict)) return out;
    if (entry.has_fractions && !has_fractions(operands[0].type))
      return out.misuse = "elements_have_no_fractions", out;
    out.results.push_back(made.tensor);
    out.flops =
        entry.flops_after * largest_shard_size(mesh, made.tensor.layout, made.tensor.extents);
    return out;
  }
  if (given.has("dims") && !(entry.name == "unsqueeze") &&
      refuse(over(given.integers("dims")).judge(operands[0].rank())))
    return out;
  const attributes how = attributes_of(entry, given, operands);
  if (refuse(entry.check(how, operands))) return out;
  if (refuse(diagnosis_of(entry.check_elements(how, operands)))) return out;
  const bool is_fraction = has_fractions(operands[0].type);
  if (entry.has_fractions && !is_fraction) out.misuse = "elements_have_no_fractions";
  if (entry.of_integers && (is_fraction || operands[0].type == element::boolean))
    out.misuse = "elements_are_no_integers";
  if (!out.misuse.empty()) return out;

  paper_steps steps(mesh);
  if (entry.steps != nullptr) {
    entry.steps(steps, how, operands, out.results);
    out.flops = steps.flops();
    if (steps.verdict().ok()) return out;
    out.results.clear();
  }
  const factor_rule rule = entry.rule(how, operands);
  propagation made = propagate(mesh, rule, operands);
  // Where the rule of a composition has nothing against it, its step has the last word.
  if (refuse(made.verdict.ok() ? steps.verdict() : made.verdict)) {
    const tensor_descs fixed = fetched(mesh, rule, operands, ~0U);
    if (propagate(mesh, rule, fixed).verdict.ok() && !(fixed == operands)) out.legal = fixed;
    return out;
  }
  if (entry.what != nullptr) {
    if (entry.what->result_type != nullptr)
      made.result.type = entry.what->result_type(how, operands);
    out.flops = paper_steps::cost_of(mesh, *entry.what, how, operands, made.result);
  }
  const tensor_desc indices{element::i64, made.result.extents, made.result.layout};
  if (!entry.gives_indices_alone) out.results.push_back(made.result);
  if (entry.gives_indices || entry.gives_indices_alone) out.results.push_back(indices);
  return out;
}

}  // namespace shardwise
