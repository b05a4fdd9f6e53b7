// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/plan/collective_operation.hpp"
#include "shardwise/plan/propagate_layouts.hpp"

namespace shardwise {
namespace detail {

/// Appends a program with other layouts, and the reshards that make it legal.
class reshard_inserter {
 public:
  /// `layouts` has one for each value of the program, which has no calls.
  constexpr reshard_inserter(const program_view& program, const open_layout* layouts,
                             program_builder& to) noexcept
      : program_(program), layouts_(layouts), to_(to) {}

  /// Appends all instructions; `number[i]` becomes the number of value `i`.
  constexpr void run(value_id* number) {
    to_.place(*program_.mesh);
    for (value_id i = 0; i < program_.count; ++i) {
      const value_id end = to_.size();
      number[i] = append(i, number);
      // A reshard that changes nothing is its operand, which keeps its own marks.
      if (number[i] >= end)
        to_.mark(number[i], program_.code[i]);
      else if (program_.code[i].named)
        to_.name(number[i]);
    }
    for (std::int32_t r = 0; r < program_.result_count; ++r) {
      const value_id i = program_.results[r];
      to_.keep(resharded(number[i], wanted(i).layout));
    }
  }

 private:
  using operand_layouts = inplace_vector<open_layout, max_operands>;

  /// Layouts of the operands of an instruction under which it is legal, with its result, the number
  /// of devices that divide its work, and the bytes that a device receives in the reshards.
  struct assignment {
    tensor_descs operands{};
    tensor_desc result{};
    index_t devices = 0;
    index_t bytes = 0;

    /// Returns true if more devices divide the work, or as many for fewer bytes.
    [[nodiscard]] constexpr bool is_better_than(const assignment& other) const noexcept {
      return devices != other.devices ? devices > other.devices : bytes < other.bytes;
    }
  };

  /// Returns the type that a value has in the end.
  [[nodiscard]] constexpr tensor_desc wanted(value_id i) const noexcept {
    return laid_out(*program_.mesh, program_.values[i], layouts_[i]);
  }

  constexpr value_id append(value_id i, const value_id* number) {
    const operation& what = program_.what(i);
    value_ids operands;
    for (value_id o : program_.code[i].operands) operands.push_back(number[o]);
    if (is_input(what)) return to_.append(what, program_.how(i), operands, wanted(i));
    if (what.is_leaf || is_custom_gradient(what))
      return to_.append(what, program_.how(i), operands, program_.values[i]);
    if (what.id == operation_of<propagation_barrier_operation>.id ||
        what.id == operation_of<collective_operation>.id)
      return resharded(operands[0], wanted(i).layout);
    if (is_result(what)) return append_result(i, operands[0]);
    const assignment best = what.rule == nullptr ? as_recorded(i) : best_assignment(i, operands);
    for (int o = 0; o < operands.ssize(); ++o)
      operands[o] = resharded(operands[o], best.operands[o].layout);
    const value_id made = to_.append(what, program_.how(i), operands, best.result);
    to_.recompute(made, program_.code[i].recomputed);
    if (has_further_results(i) || may_stay_pending(i, best.result)) return made;
    return append_reshard(to_, made, wanted(i).layout);
  }
  /// Returns true if the one reader of a pending value decides where it is reduced: perhaps only
  /// after it has been added to another one. Values with names have the layout that they should
  /// have.
  [[nodiscard]] constexpr bool may_stay_pending(value_id i,
                                                const tensor_desc& made) const noexcept {
    if (made.layout.pending == 0 || program_.code[i].named) return false;
    int readers = 0;
    for (std::int32_t r = 0; r < program_.result_count; ++r) readers += program_.results[r] == i;
    for (value_id reader = i + 1; reader < program_.count; ++reader)
      for (value_id o : program_.code[reader].operands) readers += o == i;
    return readers == 1;
  }
  /// Returns a value with another layout: one that an earlier reader needed, or a new one.
  constexpr value_id resharded(value_id i, const layout_desc& layout) {
    const value_id known = find_reshard(i, layout);
    return known < 0 ? append_reshard(to_, i, layout) : known;
  }
  /// Returns the value that earlier reshards of another one give in a layout, or -1.
  [[nodiscard]] constexpr value_id find_reshard(value_id i,
                                                const layout_desc& layout) const noexcept {
    for (value_id made = i; made < to_.size(); ++made) {
      if (to_.value(made).layout != layout || to_.value(made).extents != to_.value(i).extents)
        continue;
      value_id from = made;
      while (from > i && to_[from].what->id == operation_of<collective_operation>.id)
        from = to_[from].operands[0];
      if (from == i) return made;
    }
    return -1;
  }
  /// Appends a further result of an operation, which has the layout of the first if that keeps the
  /// same extents. Other results are those of matrices that no axis splits.
  constexpr value_id append_result(value_id i, value_id first) {
    tensor_desc result = program_.values[i];
    if (result.extents == to_.value(first).extents) result.layout = to_.value(first).layout;
    return to_.append(program_.what(i), program_.how(i), {first}, result);
  }
  [[nodiscard]] constexpr bool has_further_results(value_id i) const noexcept {
    for (value_id r = i + 1; r < program_.count; ++r)
      if (is_result(program_.what(r)) && program_.code[r].operands[0] == i) return true;
    return false;
  }

  /// Returns the layouts that the program had, under which it was legal.
  [[nodiscard]] constexpr assignment as_recorded(value_id i) const noexcept {
    return {program_.operands(i), program_.values[i]};
  }
  /// Returns the best of the assignments that follow from the layout of the result and from those
  /// of the operands; if none is legal, the layouts that the program had.
  [[nodiscard]] constexpr assignment best_assignment(value_id i, const value_ids& operands) const {
    const instruction_rule known = rule_of(program_, i);
    assignment best = as_recorded(i);
    bool found = false;
    const auto consider = [&](const operand_layouts& layouts) {
      assignment tried;
      for (int o = 0; o < layouts.ssize(); ++o)
        tried.operands.push_back(
            laid_out(*program_.mesh, program_.values[program_.code[i].operands[o]], layouts[o]));
      keep_best(i, operands, tried, best, found);
      if (keep_pending(operands, tried)) keep_best(i, operands, tried, best, found);
    };
    if (known.is_known)
      for (bool only_passing : {false, true}) {
        consider(from_result(i, known, only_passing));
        consider(from_operands(i, known, only_passing));
      }
    if (!found) {
      operand_layouts recorded;
      for (value_id o : program_.code[i].operands)
        recorded.push_back(open_layout::exactly(program_.values[o].layout));
      consider(recorded);
    }
    return best;
  }
  /// Makes an assignment the best one if it is legal, and better than the one that was found.
  constexpr void keep_best(value_id i, const value_ids& operands, assignment tried,
                           assignment& best, bool& found) const {
    if (!judge(i, operands, tried) || (found && !tried.is_better_than(best))) return;
    best = tried;
    found = true;
  }
  /// Lets operands that are pending, and split alike otherwise, stay as they are; returns false if
  /// there are none.
  [[nodiscard]] constexpr bool keep_pending(const value_ids& operands,
                                            assignment& tried) const noexcept {
    bool any = false;
    for (int o = 0; o < operands.ssize(); ++o) {
      const layout_desc& now = to_.value(operands[o]).layout;
      layout_desc reduced = now;
      reduced.pending = 0;
      reduced.kind = reduction::sum;
      if (now.pending == 0 || reduced != tried.operands[o].layout) continue;
      tried.operands[o].layout = now;
      any = true;
    }
    return any;
  }
  /// Infers the result of an assignment and its costs; returns false if it is not legal.
  [[nodiscard]] constexpr bool judge(value_id i, const value_ids& operands,
                                     assignment& tried) const {
    const propagation made =
        infer(*program_.mesh, program_.what(i), program_.how(i), tried.operands);
    if (!made.verdict.ok()) return false;
    tried.result = program_.values[i];
    tried.result.layout = made.result.layout;
    unsigned axes = 0;
    for (const axis_list& split : made.axes) axes |= bits_of(split);
    tried.devices = 1;
    tried.bytes = 0;
    for (int a = 0; a < program_.mesh->rank(); ++a)
      if ((axes >> a & 1U) != 0)
        tried.devices = size_product(tried.devices, program_.mesh->size(a));
    const auto add = [&](const tensor_desc& from, const layout_desc& to) {
      const redistribution moved = redistribute(*program_.mesh, from, to);
      tried.bytes = size_sum(tried.bytes, moved.total_bytes());
      return moved.verdict.ok();
    };
    for (int o = 0; o < operands.ssize(); ++o) {
      const layout_desc& layout = tried.operands[o].layout;
      if (find_reshard(operands[o], layout) < 0 && !add(to_.value(operands[o]), layout))
        return false;
    }
    return add(tried.result, wanted(i).layout);
  }

  /// Returns the layouts of the operands that the layout of the result implies; reduced dimensions
  /// are split as the first operand that splits them has it.
  [[nodiscard]] constexpr operand_layouts from_result(value_id i, const instruction_rule& known,
                                                      bool only_passing) const noexcept {
    const value_ids& read = program_.code[i].operands;
    operand_layouts out = unknown_operands(i);
    open_layout result = open_layout::exactly(layouts_[i].layout());
    complete(known, out, result, only_passing);
    if (only_passing) return out;
    for (int o = 0; o < known.rule.operands.ssize(); ++o)
      for (int d = 0; d < out[o].rank(); ++d) {
        const std::uint8_t factor = known.rule.operands[o][d];
        const axis_list& axes = layouts_[read[o]].dims[d];
        if (factor == repeated || known.rule.factors[factor] != factor_kind::reduction ||
            !out[o].dims[d].empty() || (bits_of(axes) & split_axes(out, result)) != 0)
          continue;
        out[o].dims[d] = axes;
        complete(known, out, result, false);
      }
    return out;
  }
  /// Returns the layouts of the operands, as far as they agree.
  [[nodiscard]] constexpr operand_layouts from_operands(value_id i, const instruction_rule& known,
                                                        bool only_passing) const noexcept {
    const value_ids& read = program_.code[i].operands;
    operand_layouts out = unknown_operands(i);
    open_layout result = open_layout::unknown(known.rule.result.ssize());
    for (int o = 0; o < known.rule.operands.ssize(); ++o)
      for (int d = 0; d < out[o].rank(); ++d) {
        const axis_list& axes = layouts_[read[o]].dims[d];
        const std::uint8_t factor = known.rule.operands[o][d];
        if (!out[o].dims[d].empty() || (bits_of(axes) & split_axes(out, result)) != 0) continue;
        if (only_passing &&
            (factor == repeated || known.rule.factors[factor] != factor_kind::pass_through))
          continue;
        out[o].dims[d] = axes;
        complete(known, out, result, only_passing);
      }
    return out;
  }
  [[nodiscard]] constexpr operand_layouts unknown_operands(value_id i) const noexcept {
    operand_layouts out;
    for (value_id o : program_.code[i].operands)
      out.push_back(open_layout::unknown(program_.values[o].rank()));
    return out;
  }
  [[nodiscard]] static constexpr unsigned split_axes(const operand_layouts& operands,
                                                     const open_layout& result) noexcept {
    unsigned axes = bits_of(result.layout().splitting_axes());
    for (const open_layout& operand : operands) axes |= bits_of(operand.layout().splitting_axes());
    return axes;
  }
  /// Completes layouts that all tensors of an instruction can have.
  constexpr void complete(const instruction_rule& known, operand_layouts& operands,
                          open_layout& result, bool only_passing) const noexcept {
    layout_completion completion(*program_.mesh, known.rule, known.sizes, true);
    inplace_vector<layout_flow, max_factors> flows;
    for (int f = 0; f < known.rule.factors.ssize(); ++f)
      flows.push_back(only_passing && !completion.passes(f) ? layout_flow::nowhere
                                                            : layout_flow::both);
    tensor_layouts tensors;
    for (int o = 0; o < known.rule.operands.ssize(); ++o) tensors.push_back(&operands[o]);
    tensors.push_back(&result);
    (void)completion.run(tensors, flows, conflict_strategy::basic);
  }

  const program_view& program_;
  const open_layout* layouts_;
  program_builder& to_;
};

}  // namespace detail

/// Returns the program with the layouts that propagation has found, and with the reshards that make
/// it legal: a program like any other, with a ledger, that can be prepared and run.
///
/// An instruction is computed with the layouts of its operands or with that of its result,
/// whichever lets more devices divide its work; of two such assignments, with the one for which
/// devices receive fewer bytes. A pending result is reduced at once, or later if its only reader
/// can take it as it is, for fewer bytes: two such results are added before they are reduced. No
/// input is pending. Throws `error` if the program has more than `Capacity` instructions, twice as
/// many as before by default.
///
///     constexpr auto split = with_layouts(propagate_layouts(program, known));
///     static_assert(ledger_of(split).collectives("model") == 1);
template <std::size_t Capacity = 0, std::size_t Had>
[[nodiscard]] constexpr auto with_layouts(const propagated_layouts<Had>& found) {
  traced_program<(Capacity == 0 ? 2 * Had : Capacity)> out;
  program_builder code(out);
  value_id number[Had]{};
  const program_view program = found.program.view();
  detail::reshard_inserter(program, found.values, code).run(number);
  return out;
}

}  // namespace shardwise
