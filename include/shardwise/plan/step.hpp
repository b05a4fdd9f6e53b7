// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/plan/manual_operation.hpp"
#include "shardwise/plan/schedule.hpp"

#include <type_traits>

namespace shardwise {

/// The kinds of steps of a planned program.
enum class step_kind : std::uint8_t { input, pass, operation, collective, call };

/// Returns the name of a kind of step.
[[nodiscard]] constexpr text_view to_text(step_kind kind) noexcept {
  constexpr text_view words[] = {"input", "pass", "operation", "collective", "call"};
  return words[static_cast<unsigned>(kind)];
}

/// The numbers of the steps whose results a step reads.
using step_operands = inplace_vector<std::int32_t, max_values_read>;

/// One step of a planned program: an input, a fused pass, another operation with the pass before
/// it, one collective, or a call of a body.
struct step_desc {
  step_kind kind = step_kind::input;
  /// The functions of a fused pass, in order, and the name of the operation.
  bounded_text<60> label{};
  /// The steps whose results it reads.
  step_operands operands{};
  /// A bit for each of them that it reads through views.
  std::uint32_t viewed = 0;
  /// A bit for each of these whose elements have the same positions as those of the result, so that
  /// the result can have its memory.
  std::uint32_t aligned = 0;
  tensor_desc result{};
  /// The cost for one device, that with the largest shard.
  operation_cost cost{};
  /// How a reducing collective combines values.
  reduction reduce = reduction::sum;
  /// The instruction whose value it computes.
  value_id root = -1;
  /// For a further result of an operation or a call: which result it is.
  std::int32_t which = 0;
  /// True if the program's caller keeps the result.
  bool kept = false;
  /// True for an input that the caller donates: its memory may be reused.
  bool donated = false;
  /// True for an operation that may use the memory of its first operand for its result, of the
  /// same size.
  bool reuses_first = false;

  /// Returns true if only the program needs the result, so that its memory is free after the last
  /// step that reads it.
  [[nodiscard]] constexpr bool is_own() const noexcept {
    return !kept && (kind != step_kind::input || donated);
  }
};

/// Returns the operations of a fused pass on one device: those for each element of the largest
/// shard.
[[nodiscard]] constexpr index_t pass_flops(index_t each, index_t largest_shard) noexcept {
  return each * largest_shard;
}

namespace detail {

/// Collects the steps of a program from its clusters.
class step_former {
 public:
  /// `notes` are those of a program that is scheduled.
  constexpr step_former(const program_view& program, cluster_note* notes, std::int32_t* step_of,
                        bool labels) noexcept
      : program_(program), notes_(notes), step_of_(step_of), labels_(labels) {}

  /// Initialises a default step as the pass that ends with instruction `root`.
  constexpr void form(value_id root, step_desc& step) {
    const instruction& at = program_.code[root];
    const operation& what = *at.what;
    step.result = program_.values[root];
    step.root = root;
    step.kept = at.kept;
    step.donated = at.donated;
    if (is_input(what)) return name(root, step);
    index_t each = 0;
    for (value_id o : at.operands) take(o, root, step, each);
    step.which = is_result(what) ? result_operation::number(program_.how(root)) : 0;
    if (is_call(what)) {
      step.kind = step_kind::call;
      return name(root, step);
    }
    const tensor_descs operands = program_.operands(root);
    if (what.cost != nullptr)
      step.cost = what.cost(*program_.mesh, program_.how(root), operands, step.result);
    step.reduce = program_.how(root).kind;
    if (what.is_elementwise) {
      step.kind = step_kind::pass;
      step.cost.flops = pass_flops(each + step.cost.flops, shard_size(step.result));
    } else {
      step.kind = step.cost.is_collective ? step_kind::collective : step_kind::operation;
      step.reuses_first =
          step.kind == step_kind::operation && !operands.empty() &&
          (step.viewed == 0 ? may_reuse_first(what, *program_.mesh, operands[0], step.result)
                            : (step.aligned & 1U) != 0);
      if (each > 0) step.cost.flops += pass_flops(each, shard_size(operands[0]));
    }
    name(root, step);
  }

 private:
  /// Adds an operand of the pass: a member of it, with its operands, or a tensor that the pass
  /// reads. A member that is read twice is computed once.
  constexpr void take(value_id operand, value_id root, step_desc& step, index_t& each) {
    const auto state_of = [&](value_id i) -> visit_state& { return notes_[i].visit; };
    const auto enter = [&](value_id i, value_id) {
      if (is_constant(program_.what(i))) return false;
      if (notes_[i].root != root) {
        read(i, root, step);
        return false;
      }
      if (step_of_[i] == root) return false;
      step_of_[i] = root;
      return true;
    };
    const auto leave = [&](value_id i) {
      if (program_.what(i).cost != nullptr)
        each += program_.what(i)
                    .cost(*program_.mesh, program_.how(i), program_.operands(i), program_.values[i])
                    .flops;
      name(i, step);
    };
    post_order(program_, operand, state_of, enter, leave);
  }
  /// Adds a tensor that the pass reads, possibly through views.
  constexpr void read(value_id i, value_id root, step_desc& step) {
    const value_id from = value_read(program_, notes_, i);
    const std::uint32_t bit = 1U << step.operands.size();
    if (from != i) step.viewed |= bit;
    if (from != i && is_aligned(i, from, root)) step.aligned |= bit;
    step.operands.push_back(step_of_[from]);
    if (labels_) name_views(i, step);
  }
  /// Returns true if the result of a step has the shards of the operand that it reads through the
  /// views up to value `i`, and its elements have the positions of those from which it computes
  /// them.
  [[nodiscard]] constexpr bool is_aligned(value_id i, value_id read, value_id root) const noexcept {
    const bool keeps = program_.what(root).is_elementwise
                           ? program_.values[i] == program_.values[root]
                           : program_.what(root).keeps_elements;
    if (!keeps) return false;
    for (value_id at = i; at != read; at = program_.code[at].operands[0])
      if (!program_.what(at).keeps_elements) return false;
    return have_same_shards(*program_.mesh, program_.values[read], program_.values[root]);
  }
  /// Adds the names of the views that a step reads through up to value `i`, the first one first.
  constexpr void name_views(value_id i, step_desc& step) {
    const auto state_of = [&](value_id at) -> visit_state& { return notes_[at].visit; };
    const auto enter = [&](value_id at, value_id) { return notes_[at].is_read_through; };
    post_order(program_, i, state_of, enter, [&](value_id at) { name(at, step); });
  }
  constexpr void name(value_id i, step_desc& step) const {
    if (!labels_) return;
    if (!step.label.empty()) step.label << ' ';
    step.label << text_view(label_of(program_.what(i), program_.how(i)));
  }
  [[nodiscard]] constexpr index_t shard_size(const tensor_desc& tensor) const noexcept {
    return largest_shard_size(*program_.mesh, tensor.layout, tensor.extents);
  }

  const program_view& program_;
  cluster_note* notes_;
  std::int32_t* step_of_;
  bool labels_;
};

/// The implementation of `form_steps`.
constexpr std::int32_t form_steps_of(const program_view& program, cluster_note* notes,
                                     std::int32_t* step_of, step_desc* steps, bool labels) {
  form_clusters(program, notes);
  std::int32_t count = 0;
  for (value_id i = 0; i < program.count; ++i)
    if (is_input(program.what(i))) steps[count++].root = i;
  // The order is stored where the steps will be recorded.
  value_id* const order = step_of;
  const std::int32_t computed = schedule_program(program, notes, order);
  for (std::int32_t k = 0; k < computed; ++k) steps[count++].root = order[k];

  for (value_id i = 0; i < program.count; ++i) step_of[i] = -1;
  step_former former(program, notes, step_of, labels);
  for (std::int32_t s = 0; s < count; ++s) {
    former.form(steps[s].root, steps[s]);
    step_of[steps[s].root] = s;
  }
  return count;
}
/// The version that is called at run time; the compiled library contains it.
std::int32_t form_steps_now(const program_view& program, cluster_note* notes, std::int32_t* step_of,
                            step_desc* steps, bool labels);

}  // namespace detail

/// Forms the steps of a program, its inputs and then all others in the order of `schedule`, and
/// returns their number.
///
/// `notes`, `step_of` and `steps`, which are default-initialised, have room for an entry for each
/// instruction; `step_of[i]` becomes the step that computes value `i`, where `i` is the last
/// instruction of its pass. `labels` states whether the steps get labels.
constexpr std::int32_t form_steps(const program_view& program, cluster_note* notes,
                                  std::int32_t* step_of, step_desc* steps, bool labels = true) {
  if constexpr (build_config::compiled) {
    if (!std::is_constant_evaluated())
      return detail::form_steps_now(program, notes, step_of, steps, labels);
  }
  return detail::form_steps_of(program, notes, step_of, steps, labels);
}

}  // namespace shardwise
