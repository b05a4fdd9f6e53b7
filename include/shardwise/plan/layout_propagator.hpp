// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/propagation_barrier.hpp"
#include "shardwise/plan/collective_operation.hpp"
#include "shardwise/plan/instruction_rule.hpp"
#include "shardwise/rule/complete_layouts.hpp"

namespace shardwise {

/// How layouts are propagated through a program.
struct propagation_options {
  conflict_strategy strategy = conflict_strategy::aggressive;
  /// If true, operations that only pass elements on come first, and of those the ones whose
  /// operands nothing else reads; then the dimensions that pass through other operations, then all.
  bool easy_operations_first = true;
  /// If true, axes may split extents that they do not divide.
  bool uneven = false;
};

namespace detail {

/// What is known of an instruction and its value while layouts are propagated.
struct propagation_note {
  /// The number of instructions that read the value.
  std::int32_t readers = 0;
  bool has_rule = false;
  bool only_passes_elements = false;
  bool repeats = false;
  /// True if a layout that it reads or gives has changed since it was last considered.
  bool waits = false;
};

/// Propagates layouts through the instructions of a program without calls, in place.
class layout_propagator {
 public:
  /// `layouts` has one for each value; `notes` has room for as many.
  constexpr layout_propagator(const program_view& program, open_layout* layouts,
                              propagation_note* notes, const propagation_options& options) noexcept
      : program_(program), layouts_(layouts), notes_(notes), options_(options) {
    for (value_id i = 0; i < program.count; ++i) notes_[i] = {};
    for (value_id i = 0; i < program.count; ++i) {
      const instruction_rule known = rule_of(program, i);
      notes_[i].has_rule = known.is_known;
      if (known.is_known) {
        notes_[i].repeats = repeats(known.rule);
        notes_[i].only_passes_elements = only_passes_elements(i, known.rule);
      }
      value_ids seen;
      for (value_id o : program.code[i].operands) {
        if (!seen.contains(o)) ++notes_[o].readers;
        seen.push_back(o);
      }
    }
  }

  /// Propagates until nothing changes, one kind of operation after the other.
  constexpr void run() noexcept {
    for (int stage = options_.easy_operations_first ? 0 : last_stage; stage <= last_stage;
         ++stage) {
      for (value_id i = 0; i < program_.count; ++i) notes_[i].waits = takes_part(i, stage);
      bool changed = true;
      while (changed) {
        changed = false;
        for (value_id i = 0; i < program_.count; ++i) {
          if (!notes_[i].waits) continue;
          notes_[i].waits = false;
          if (!step(i, stage)) continue;
          wake_around(i, stage);
          changed = true;
        }
      }
    }
  }

 private:
  static constexpr int last_stage = 4;

  /// True if some factor of an instruction may have a flow in a stage; see `flow_at`.
  [[nodiscard]] constexpr bool takes_part(value_id i, int stage) const noexcept {
    return notes_[i].has_rule && (stage >= 2 || notes_[i].only_passes_elements);
  }
  /// Marks the instructions that read or give a value that an instruction reads or gives.
  constexpr void wake_around(value_id changed, int stage) noexcept {
    const auto has = [&](value_id value) {
      return value == changed || program_.code[changed].operands.contains(value);
    };
    for (value_id i = 0; i < program_.count; ++i) {
      if (notes_[i].waits || !takes_part(i, stage)) continue;
      notes_[i].waits = has(i);
      for (value_id o : program_.code[i].operands) notes_[i].waits = notes_[i].waits || has(o);
    }
  }

  /// Completes the layouts around one instruction.
  constexpr bool step(value_id i, int stage) noexcept {
    const instruction& at = program_.code[i];
    const instruction_rule known = rule_of(program_, i);
    const factor_rule& rule = known.rule;
    tensor_layouts tensors;
    for (int o = 0; o < rule.operands.ssize(); ++o) tensors.push_back(&layouts_[at.operands[o]]);
    tensors.push_back(&layouts_[i]);
    layout_completion completion(*program_.mesh, rule, known.sizes, options_.uneven);
    const layout_flow allowed = at.what->id == operation_of<propagation_barrier_operation>.id
                                    ? propagation_barrier_operation::flow(program_.how(i))
                                    : layout_flow::both;
    inplace_vector<layout_flow, max_factors> flows;
    for (int f = 0; f < rule.factors.ssize(); ++f)
      flows.push_back(common_flow(allowed, flow_at(stage, i, completion.passes(f))));
    return completion.run(tensors, flows, options_.strategy);
  }

  /// Returns the flow of a factor of an instruction in a stage: (0) through operations that only
  /// pass elements on, backward alone where an operand has other readers; (1) both ways; (2)
  /// along all factors that pass through, but not into repeated dimensions; (3) along all; (4)
  /// also forward from values that are repeated.
  [[nodiscard]] constexpr layout_flow flow_at(int stage, value_id i, bool passes) const noexcept {
    const propagation_note& note = notes_[i];
    if (stage == 0 && note.only_passes_elements)
      for (value_id o : program_.code[i].operands)
        if (notes_[o].readers > 1) return layout_flow::backward;
    if (stage < 2) return note.only_passes_elements ? layout_flow::both : layout_flow::nowhere;
    if (stage == 2 && !passes) return layout_flow::nowhere;
    return stage < 4 && note.repeats ? layout_flow::backward : layout_flow::both;
  }
  /// True for elementwise operations, and for those of one operand whose dimensions all reappear
  /// in the result, and no others: reshapes, transposes.
  [[nodiscard]] constexpr bool only_passes_elements(value_id i,
                                                    const factor_rule& rule) const noexcept {
    if (program_.what(i).is_elementwise) return true;
    for (factor_kind kind : rule.factors)
      if (kind != factor_kind::pass_through) return false;
    return rule.operands.size() == 1 && !repeats(rule) && rule.windows.empty();
  }
  /// True for an operation of one operand that repeats it along further dimensions.
  [[nodiscard]] static constexpr bool repeats(const factor_rule& rule) noexcept {
    if (rule.operands.size() != 1 || !rule.composites.empty()) return false;
    for (std::uint8_t f : rule.result)
      if (f != repeated && rule.factors[f] == factor_kind::pass_through &&
          !rule.operands[0].contains(f))
        return true;
    return false;
  }

  const program_view& program_;
  open_layout* layouts_;
  propagation_note* notes_;
  propagation_options options_;
};

}  // namespace detail

/// Propagates layouts through a program without calls, forward and backward: `layouts` has one for
/// each value, those that are known and those that are not, and is completed in place.
///
/// Dimensions of priority 0 are propagated first, then those of priority 1 with them, and so on.
/// Nothing is communicated and no operation is checked: where the layouts of an operation do not
/// fit in the end, a `reshard` is needed. `original` and `notes` have room for as many entries as
/// the program has values.
constexpr void propagate_layouts(const program_view& program, open_layout* layouts,
                                 open_layout* original, detail::propagation_note* notes,
                                 const propagation_options& options = {}) noexcept {
  int next = 256;
  for (value_id i = 0; i < program.count; ++i) {
    original[i] = layouts[i];
    open_layout& now = layouts[i];
    for (int d = 0; d < now.rank(); ++d) {
      const int priority = now.priorities[d];
      now.priorities[d] = 0;
      if (priority == 0) continue;
      if (priority < next) next = priority;
      for (std::uint8_t a : now.dims[d])
        now.replicated = static_cast<std::uint8_t>(now.replicated | 1U << a);
      now.dims[d].clear();
      now.close(d);
    }
  }
  detail::layout_propagator propagator(program, layouts, notes, options);
  propagator.run();
  while (next < 256) {
    const int round = next;
    next = 256;
    for (value_id i = 0; i < program.count; ++i)
      for (int d = 0; d < original[i].rank(); ++d) {
        const int priority = original[i].priorities[d];
        if (priority > round && priority < next) next = priority;
        if (priority != round) continue;
        open_layout& now = layouts[i];
        now.dims[d] = original[i].dims[d];
        if (!original[i].is_closed(d))
          now.closed = static_cast<std::uint8_t>(now.closed & ~(1U << d));
        for (std::uint8_t a : now.dims[d])
          if ((original[i].replicated >> a & 1) == 0)
            now.replicated = static_cast<std::uint8_t>(now.replicated & ~(1U << a));
      }
    propagator.run();
  }
}

}  // namespace shardwise
