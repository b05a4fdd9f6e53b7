// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/core/growable.hpp"
#include "shardwise/engine/find_kernel.hpp"
#include "shardwise/engine/lowered_program.hpp"
#include "shardwise/engine/prepared_program.hpp"
#include "shardwise/engine/run_program_work.hpp"
#include "shardwise/plan/inline_calls.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <utility>

namespace shardwise {

namespace internal {

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

/// Returns the kernels of the element type of a step's result, given the nodes of earlier steps: a
/// step that only moves elements has the type of its operand.
[[nodiscard]] inline const element_kernels& elements_made(const lowered_program& program,
                                                          const step_desc& step,
                                                          const growable<node_ptr>& nodes) {
  const instruction_work& work = program.works[static_cast<std::size_t>(step.root)];
  return work.kernel.elements != nullptr
             ? *work.kernel.elements
             : nodes[static_cast<std::size_t>(step.operands[0])]->elements();
}

/// Returns the nodes of the steps of a program on a machine, in which those of the inputs are
/// given, in order.
[[nodiscard]] inline growable<node_ptr> nodes_of(const lowered_program& program,
                                                 const std::shared_ptr<pool_state>& home,
                                                 growable<node_ptr> inputs) {
  growable<node_ptr> nodes;
  nodes.reserve(program.steps.size());
  std::size_t next = 0;
  for (std::size_t s = 0; s < program.steps.size(); ++s) {
    const step_desc& step = program.steps[s];
    if (step.kind == step_kind::input)
      nodes.push_back(std::move(inputs[next++]));
    else
      nodes.push_back(program.lives[s].needed
                          ? std::make_shared<tensor_node>(home, home->place(step.result),
                                                          elements_made(program, step, nodes))
                          : nullptr);
  }
  return nodes;
}

/// Returns a program, or one like it that does not overwrite those of its donated inputs that are
/// not free: they have other owners, or share their memory.
[[nodiscard]] inline std::shared_ptr<const lowered_program> program_for(
    const std::shared_ptr<const lowered_program>& planned, const growable<node_ptr>& inputs) {
  std::shared_ptr<lowered_program> other;
  std::size_t next = 0;
  for (std::size_t s = 0; s < planned->steps.size(); ++s) {
    const step_desc& step = planned->steps[s];
    if (step.kind != step_kind::input) continue;
    const node_ptr& given = inputs[next++];
    if (!step.donated || (given.use_count() == 1 && given->owns_memory())) continue;
    if (other == nullptr) other = std::make_shared<lowered_program>(*planned);
    other->steps[s].donated = false;
  }
  if (other == nullptr) return planned;
  other->plan_lives();
  return other;
}

/// Returns true if the inputs have the layouts of the program, not others with the same parts.
[[nodiscard]] inline bool are_as_planned(const lowered_program& program,
                                         const growable<node_ptr>& nodes) noexcept {
  for (std::size_t s = 0; s < program.steps.size(); ++s)
    if (program.steps[s].kind == step_kind::input && nodes[s]->tensor() != program.steps[s].result)
      return false;
  return true;
}

/// Runs a program on its nodes, as steps that may have run before.
inline void run_prepared(program_steps& steps, growable<node_ptr> nodes, bool keeps_work) {
  const nodes_of_run held(steps, std::move(nodes));
  program_run run(steps, keeps_work);
  run.record();
  run.run_all();
}

}  // namespace internal

struct prepared_program::parts {
  lowered_program program;
  /// How devices split the operations is found before the first run.
  std::once_flag is_split;
};

SHARDWISE_INLINE prepared_program::prepared_program(
    const program_view& code, internal::growable<const element_kernels*> known)
    : known_(std::move(known)) {
  parts_ = std::make_shared<parts>();
  lowered_program& planned = parts_->program;
  planned.resize(inlined_size(code), code.result_count);
  internal::growable<value_id> number(planned.code.size());
  program_builder to(planned);
  inline_calls(code, number.data(), to);
  planned.works.resize(static_cast<std::size_t>(planned.count));
  for (value_id i = 0; i < planned.count; ++i)
    internal::find_kernel(planned.view(), planned.works, i);
  planned.form();
  planned.plan_lives();
}

SHARDWISE_INLINE const lowered_program& prepared_program::planned() const {
  std::call_once(parts_->is_split, [&] {
    lowered_program& program = parts_->program;
    for (value_id i = 0; i < program.count; ++i)
      internal::find_split(program.view(), program.works, i);
  });
  return parts_->program;
}

SHARDWISE_INLINE void prepared_program::check_results(std::span<const element> types) const {
  if (parts_->program.results.size() != types.size())
    fail({.rule = violation::result_count_differs,
          .have = static_cast<index_t>(types.size()),
          .want = static_cast<index_t>(parts_->program.results.size())});
  for (std::size_t r = 0; r < types.size(); ++r)
    if (parts_->program.values[static_cast<std::size_t>(parts_->program.results[r])].type !=
        types[r])
      fail({.rule = violation::result_elements_differ, .operand = static_cast<int>(r)});
}

SHARDWISE_INLINE void prepared_program::check(
    const internal::growable<program_input>& inputs) const {
  (void)home_of(inputs);
  int next = 0;
  for (const step_desc& step : parts_->program.steps)
    if (step.kind == step_kind::input) {
      check(inputs[static_cast<std::size_t>(next)], step.result, next);
      ++next;
    }
  for (const program_input& input : inputs)
    if (input.tensor != nullptr) input.tensor->evaluate();
}

SHARDWISE_INLINE internal::growable<node_ptr> prepared_program::run(
    internal::growable<program_input> inputs) const {
  const std::shared_ptr<pool_state> home = home_of(inputs);
  internal::growable<node_ptr> given = input_nodes(std::move(inputs));
  const std::shared_ptr<const lowered_program> program =
      internal::program_for({parts_, &planned()}, given);
  internal::growable<node_ptr> nodes = internal::nodes_of(*program, home, std::move(given));
  internal::growable<node_ptr> results;
  for (const std::size_t s : internal::steps_of_results(*program)) results.push_back(nodes[s]);
  const std::lock_guard turn(home->turn());
  internal::run_for_owners(home->link(), [&] {
    internal::program_steps* known = nullptr;
#if defined(SHARDWISE_COMPILED)
    if (program.get() == &parts_->program && internal::are_as_planned(*program, nodes))
      known = home->programs().find_or_keep(*home, program);
#endif
    if (known != nullptr) return internal::run_prepared(*known, std::move(nodes), true);
    internal::program_steps steps(*home, *program, internal::charges::devices);
    internal::run_prepared(steps, std::move(nodes), false);
  });
  return results;
}

SHARDWISE_INLINE internal::growable<node_ptr> prepared_program::input_nodes(
    internal::growable<program_input> inputs) const {
  const std::shared_ptr<pool_state> home = home_of(inputs);
  internal::growable<node_ptr> nodes;
  for (const step_desc& step : parts_->program.steps) {
    if (step.kind != step_kind::input) continue;
    program_input& given = inputs[nodes.size()];
    nodes.push_back(given.tensor != nullptr
                        ? std::move(given.tensor)
                        : internal::number_node(home, given.number, step.result,
                                                *elements_of(step.result.type)));
  }
  return nodes;
}

SHARDWISE_INLINE std::shared_ptr<pool_state> prepared_program::home_of(
    const internal::growable<program_input>& inputs) const {
  std::size_t wanted = 0;
  for (const step_desc& step : parts_->program.steps)
    wanted += step.kind == step_kind::input ? 1U : 0U;
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
    message_text words = to_text(parts_->program.mesh, wanted);
    fail({.rule = violation::input_differs, .operand = place}, words << " is wanted, not " << have);
  };
  if (input.tensor == nullptr) {
    if (input.has_fraction && !has_fractions(wanted.type)) refuse("a number with a fraction");
    if (!internal::holds(wanted.type, input.number)) refuse("a number that is out of its range");
    if (wanted.rank() != 0 || elements_of(wanted.type) == nullptr) refuse("a number");
    return;
  }
  const tensor_node& have = *input.tensor;
  // Different descriptions of a layout may give every device the same elements.
  if (have.tensor().type != wanted.type || have.tensor().extents != wanted.extents ||
      have.where().mesh() != parts_->program.mesh ||
      !are_same_parts(parts_->program.mesh, have.tensor().layout, wanted.layout, wanted.extents))
    refuse(to_text(have.where().mesh(), have.tensor()));
}

SHARDWISE_INLINE const element_kernels* prepared_program::elements_of(element type) const noexcept {
  for (const element_kernels* known : known_)
    if (known->type == type) return known;
  return nullptr;
}

}  // namespace shardwise
