// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/plan/inline_calls.hpp"
#include "shardwise/runtime/lower.hpp"
#include "shardwise/runtime/replay.hpp"
#include "shardwise/runtime/run_program_work.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <utility>

namespace shardwise {

namespace detail {

/// Returns true if elements of a type can represent a number: floating-point types any, integer
/// types the integers in their range.
[[nodiscard]] inline bool holds(element type, const attributes& number) {
  if (has_fractions(type)) return true;
  return with_computed_type(type, [&](auto zero) {
    using limits = std::numeric_limits<decltype(zero)>;
    if (!number.integers.empty())
      return number.integers[0] >= static_cast<index_t>(limits::min()) &&
             number.integers[0] <= static_cast<index_t>(limits::max());
    // The largest 64-bit integer is not a `double`, but the next power of two is.
    const double end = std::ldexp(1.0, limits::digits);
    return number.number >= static_cast<double>(limits::min()) && number.number < end;
  });
}

/// Finds the kernel of an instruction.
inline void find_kernel(lowered_program& planned, value_id i) {
  const program_view code = planned.view();
  const operation& what = code.what(i);
  operation_kernel& kernel = planned.kernels[static_cast<std::size_t>(i)];
  if (what.is_leaf) return;
  if (is_result(what)) {
    const operation_kernel& made =
        planned.kernels[static_cast<std::size_t>(code.code[i].operands[0])];
    kernel.elements = made.further[result_operation::number(code.how(i)) - 1];
    return;
  }
  if (is_collective(what)) {
    kernel.elements = planned.kernels[static_cast<std::size_t>(code.code[i].operands[0])].elements;
    return;
  }
  inplace_vector<element, max_operands> types;
  for (value_id o : code.code[i].operands) types.push_back(code.values[o].type);
  kernel =
      kernel_table::instance().find(kernel_operation(what, code.how(i)),
                                    types_key({types.begin(), types.size()}, code.values[i].type));
}

/// Returns the kernels of the element type of a step's result, given the nodes of earlier steps: a
/// step that only moves elements has the type of its operand.
[[nodiscard]] inline const element_kernels& elements_made(const lowered_program& program,
                                                          const step_desc& step) {
  if (const element_kernels* known = program.kernels[static_cast<std::size_t>(step.root)].elements)
    return *known;
  const auto read = static_cast<std::size_t>(step.operands[0]);
  return (program.inputs[read] != nullptr ? program.inputs[read] : program.nodes[read])->elements();
}

/// Returns the results of a program, in order.
[[nodiscard]] inline std::vector<node_ptr> kept(const lowered_program& program) {
  std::vector<node_ptr> results;
  for (const std::size_t s : steps_of_results(program))
    results.push_back(program.inputs[s] != nullptr ? program.inputs[s] : program.nodes[s]);
  return results;
}

}  // namespace detail

SHARDWISE_INLINE prepared_program::prepared_program(const program_view& code,
                                                    std::vector<const element_kernels*> known)
    : known_(std::move(known)) {
  const auto made = std::make_shared<lowered_program>();
  lowered_program& planned = *made;
  planned.resize(inlined_size(code), code.result_count);
  std::vector<value_id> number(planned.code.size());
  program_builder to(planned);
  inline_calls(code, number.data(), to);
  const auto size = static_cast<std::size_t>(planned.count);
  planned.notes.resize(size);
  planned.kernels.resize(size);
  std::vector<std::int32_t> step_of(size);
  planned.steps.resize(size);
  planned.steps.resize(static_cast<std::size_t>(
      form_steps(planned.view(), planned.notes.data(), step_of.data(), planned.steps.data())));
  planned.compiled.assign(planned.steps.size(), false);
  planned.lives.resize(planned.steps.size());
  plan_lifetimes(planned.steps.data(), static_cast<std::int32_t>(planned.steps.size()),
                 planned.lives.data());
  for (value_id i = 0; i < planned.count; ++i) detail::find_kernel(planned, i);
  planned_ = made;
}

SHARDWISE_INLINE void prepared_program::check_results(std::span<const element> types) const {
  if (planned_->results.size() != types.size())
    fail({.rule = violation::result_count_differs,
          .have = static_cast<index_t>(types.size()),
          .want = static_cast<index_t>(planned_->results.size())});
  for (std::size_t r = 0; r < types.size(); ++r)
    if (planned_->values[static_cast<std::size_t>(planned_->results[r])].type != types[r])
      fail({.rule = violation::result_elements_differ, .operand = static_cast<int>(r)});
}

SHARDWISE_INLINE void prepared_program::check(const std::vector<program_input>& inputs) const {
  (void)home_of(inputs);
  int next = 0;
  for (const step_desc& step : planned_->steps)
    if (step.kind == step_kind::input) {
      check(inputs[static_cast<std::size_t>(next)], step.result, next);
      ++next;
    }
  for (const program_input& input : inputs)
    if (input.tensor != nullptr) input.tensor->evaluate();
}

SHARDWISE_INLINE std::vector<node_ptr> prepared_program::run(
    std::vector<program_input> inputs) const {
  lowered_program program = *planned_;
  const std::shared_ptr<pool_state> home = home_of(inputs);
  bind(program, home, input_nodes(std::move(inputs)));
  std::vector<node_ptr> results = detail::kept(program);
  const std::lock_guard turn(home->turn());
  internal::run_for_owners(home->link(), [&] { detail::program_run(*home, program).run_all(); });
  return results;
}

SHARDWISE_INLINE std::vector<node_ptr> prepared_program::input_nodes(
    std::vector<program_input> inputs) const {
  const std::shared_ptr<pool_state> home = home_of(inputs);
  std::vector<node_ptr> nodes;
  for (const step_desc& step : planned_->steps) {
    if (step.kind != step_kind::input) continue;
    program_input& given = inputs[nodes.size()];
    nodes.push_back(given.tensor != nullptr ? std::move(given.tensor)
                                            : detail::number_node(home, given.number, step.result,
                                                                  *elements_of(step.result.type)));
  }
  return nodes;
}

SHARDWISE_INLINE std::shared_ptr<pool_state> prepared_program::home_of(
    const std::vector<program_input>& inputs) const {
  std::size_t wanted = 0;
  for (const step_desc& step : planned_->steps) wanted += step.kind == step_kind::input ? 1U : 0U;
  if (inputs.size() != wanted)
    fail({.rule = violation::operand_count_differs,
          .have = static_cast<index_t>(inputs.size()),
          .want = static_cast<index_t>(wanted)});
  std::shared_ptr<pool_state> home;
  for (const program_input& input : inputs) {
    if (input.tensor == nullptr) continue;
    if (home == nullptr) home = input.tensor->home();
    if (input.tensor->home() != home) fail({.rule = violation::operand_pools_differ});
  }
  // Numbers are created in the pool of the tensors.
  if (home == nullptr) fail({.rule = violation::pool_is_not_in_use});
  return home;
}

SHARDWISE_INLINE void prepared_program::check(const program_input& input, const tensor_desc& wanted,
                                              int place) const {
  const auto refuse = [&](text_view have) {
    message_text words = to_text(planned_->mesh, wanted);
    fail({.rule = violation::input_differs, .operand = place}, words << " is wanted, not " << have);
  };
  if (input.tensor == nullptr) {
    if (input.has_fraction && !has_fractions(wanted.type)) refuse("a number with a fraction");
    if (!detail::holds(wanted.type, input.number)) refuse("a number that is out of its range");
    if (wanted.rank() != 0 || elements_of(wanted.type) == nullptr) refuse("a number");
    return;
  }
  const tensor_node& have = *input.tensor;
  // Different descriptions of a layout may give every device the same elements.
  if (have.tensor().type != wanted.type || have.tensor().extents != wanted.extents ||
      have.where().mesh() != planned_->mesh ||
      !are_same_parts(planned_->mesh, have.tensor().layout, wanted.layout, wanted.extents))
    refuse(to_text(have.where().mesh(), have.tensor()));
}

SHARDWISE_INLINE const element_kernels* prepared_program::elements_of(element type) const noexcept {
  for (const element_kernels* known : known_)
    if (known->type == type) return known;
  return nullptr;
}

SHARDWISE_INLINE void prepared_program::bind(lowered_program& program,
                                             const std::shared_ptr<pool_state>& home,
                                             std::vector<node_ptr> inputs) const {
  const std::size_t count = program.steps.size();
  program.nodes.resize(count);
  program.inputs.resize(count);
  bool are_free = true;
  std::size_t next = 0;
  for (std::size_t s = 0; s < count; ++s) {
    step_desc& step = program.steps[s];
    if (step.kind == step_kind::input) {
      node_ptr& input = program.inputs[s];
      input = std::move(inputs[next++]);
      if (step.donated && (input.use_count() > 1 || !input->owns_memory()))
        are_free = step.donated = false;
      continue;
    }
    program.nodes[s] = std::make_shared<tensor_node>(home, home->place(step.result),
                                                     detail::elements_made(program, step));
  }
  if (!are_free)
    plan_lifetimes(program.steps.data(), static_cast<std::int32_t>(count), program.lives.data());
}

}  // namespace shardwise
