// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/kernel_lookup.hpp"
#include "shardwise/plan/inline_calls.hpp"
#include "shardwise/runtime/program_input.hpp"
#include "shardwise/runtime/run_program.hpp"
#include "shardwise/tensor/any_tensor.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <mutex>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace shardwise {

/// A program value made ready to run on tensors: planned, and every instruction with its kernel. It
/// is made once and run as often as one likes.
///
///     constexpr auto recorded = trace_program(layer, abstract<X>(), abstract<W>());
///     const prepared_program ready = prepare<float>(recorded);
///     any_tensor<float> y = run<float>(ready, x, w);
class prepared_program {
 public:
  /// Copies a program, its calls replaced by what they call, plans it, and finds its kernels, which
  /// are entered for the elements that `prepare` was given, `known`. Throws
  /// `operation_has_no_kernel` for those that are not.
  prepared_program(const program_view& code, std::vector<const element_kernels*> known)
      : known_(std::move(known)) {
    planned_.resize(inlined_size(code), code.result_count);
    std::vector<value_id> number(planned_.code.size());
    program_builder to(planned_);
    inline_calls(code, number.data(), to);
    const auto size = static_cast<std::size_t>(planned_.count);
    planned_.notes.resize(size);
    planned_.kernels.resize(size);
    std::vector<std::int32_t> step_of(size);
    planned_.steps.resize(size);
    planned_.steps.resize(static_cast<std::size_t>(
        form_steps(planned_.view(), planned_.notes.data(), step_of.data(), planned_.steps.data())));
    planned_.compiled.assign(planned_.steps.size(), false);
    planned_.lives.resize(planned_.steps.size());
    plan_lifetimes(planned_.steps.data(), static_cast<std::int32_t>(planned_.steps.size()),
                   planned_.lives.data());
    for (value_id i = 0; i < planned_.count; ++i) find_kernel(i);
  }

  /// The program and its plan.
  [[nodiscard]] const lowered_program& planned() const noexcept { return planned_; }

  /// Refuses results of other types than those of the program, in their order.
  void check_results(std::span<const element> types) const {
    if (planned_.results.size() != types.size())
      fail({.rule = broken::result_count_differs,
            .have = static_cast<index_t>(types.size()),
            .want = static_cast<index_t>(planned_.results.size())});
    for (std::size_t r = 0; r < types.size(); ++r)
      if (planned_.values[static_cast<std::size_t>(planned_.results[r])].type != types[r])
        fail({.rule = broken::result_elements_differ, .operand = static_cast<int>(r)});
  }
  /// Refuses inputs that are not those of the program, in their order, and computes those that are
  /// pending.
  void check(const std::vector<program_input>& inputs) const {
    (void)home_of(inputs);
    int next = 0;
    for (const step_desc& step : planned_.steps)
      if (step.kind == step_kind::input) {
        check(inputs[static_cast<std::size_t>(next)], step.result, next);
        ++next;
      }
    for (const program_input& input : inputs)
      if (input.tensor != nullptr) input.tensor->evaluate();
  }
  /// Runs the program on checked inputs, which it takes, and returns what it keeps, in order. What
  /// the program says is given up, and no handle holds, is written over where that saves memory.
  [[nodiscard]] std::vector<node_ptr> run(std::vector<program_input> inputs) const {
    lowered_program program = planned_;
    const std::shared_ptr<machine> home = home_of(inputs);
    bind(program, home, std::move(inputs));
    const std::vector<node_ptr> results = kept(program);
    const std::lock_guard turn(home->turn());
    detail::run_for_owners(home->link(), [&] { detail::program_run(*home, program).run_all(); });
    return results;
  }

 private:
  void find_kernel(value_id i) {
    const program_view code = planned_.view();
    const operation& what = code.what(i);
    operation_kernel& kernel = planned_.kernels[static_cast<std::size_t>(i)];
    if (what.is_leaf) return;
    if (is_result(what)) {
      const operation_kernel& made =
          planned_.kernels[static_cast<std::size_t>(code.code[i].operands[0])];
      kernel.elements = made.further[result_operation::number(code.how(i)) - 1];
      return;
    }
    if (is_collective(what)) {
      kernel.elements =
          planned_.kernels[static_cast<std::size_t>(code.code[i].operands[0])].elements;
      return;
    }
    inplace_vector<element, max_operands> types;
    for (value_id o : code.code[i].operands) types.push_back(code.values[o].type);
    kernel = kernel_table::instance().find(
        what, types_key({types.begin(), types.size()}, code.values[i].type));
  }

  [[nodiscard]] std::shared_ptr<machine> home_of(const std::vector<program_input>& inputs) const {
    std::size_t wanted = 0;
    for (const step_desc& step : planned_.steps) wanted += step.kind == step_kind::input ? 1U : 0U;
    if (inputs.size() != wanted)
      fail({.rule = broken::operand_count_differs,
            .have = static_cast<index_t>(inputs.size()),
            .want = static_cast<index_t>(wanted)});
    std::shared_ptr<machine> home;
    for (const program_input& input : inputs) {
      if (input.tensor == nullptr) continue;
      if (home == nullptr) home = input.tensor->home();
      if (input.tensor->home() != home) fail({.rule = broken::operand_pools_differ});
    }
    // Numbers live in the pool of the tensors.
    if (home == nullptr) fail({.rule = broken::pool_is_not_in_use});
    return home;
  }

  /// Refuses an input that is not what the program was traced with.
  void check(const program_input& input, const tensor_desc& wanted, int place) const {
    const auto refuse = [&](text_view have) {
      sentence words = to_text(planned_.mesh, wanted);
      fail({.rule = broken::input_differs, .operand = place}, words << " is wanted, not " << have);
    };
    if (input.tensor == nullptr) {
      if (input.has_fraction && !has_fractions(wanted.type)) refuse("a number with a fraction");
      if (!detail::holds(wanted.type, input.number)) refuse("a number that is out of its range");
      if (wanted.rank() != 0 || elements_of(wanted.type) == nullptr) refuse("a number");
      return;
    }
    const node& have = *input.tensor;
    // A layout that gives every device the same may say so in other words.
    if (have.tensor().type != wanted.type || have.tensor().extents != wanted.extents ||
        have.where().mesh() != planned_.mesh ||
        !are_same_parts(planned_.mesh, have.tensor().layout, wanted.layout, wanted.extents))
      refuse(to_text(have.where().mesh(), have.tensor()));
  }
  /// The kernels of elements that `prepare` was given; null for others.
  [[nodiscard]] const element_kernels* elements_of(element type) const noexcept {
    for (const element_kernels* known : known_)
      if (known->type == type) return known;
    return nullptr;
  }

  /// Gives every step its node: the inputs, and a new one for each result.
  void bind(lowered_program& program, const std::shared_ptr<machine>& home,
            std::vector<program_input> inputs) const {
    const std::size_t count = program.steps.size();
    program.nodes.resize(count);
    program.inputs.resize(count);
    bool are_free = true;
    std::size_t next = 0;
    for (std::size_t s = 0; s < count; ++s) {
      step_desc& step = program.steps[s];
      if (step.kind == step_kind::input) {
        program_input& given = inputs[next++];
        node_ptr& input = program.inputs[s];
        input = given.tensor != nullptr ? std::move(given.tensor)
                                        : detail::number_node(home, given.number, step.result,
                                                              *elements_of(step.result.type));
        if (step.donated && (input.use_count() > 1 || !input->owns_memory()))
          are_free = step.donated = false;
        continue;
      }
      const element_kernels* elements =
          program.kernels[static_cast<std::size_t>(step.root)].elements;
      // What only moves has the elements of what it moves.
      if (elements == nullptr)
        elements = &(program.inputs[static_cast<std::size_t>(step.operands[0])] != nullptr
                         ? program.inputs[static_cast<std::size_t>(step.operands[0])]
                         : program.nodes[static_cast<std::size_t>(step.operands[0])])
                        ->elements();
      program.nodes[s] = std::make_shared<node>(home, home->place(step.result), *elements);
    }
    if (!are_free)
      plan_lifetimes(program.steps.data(), static_cast<std::int32_t>(count), program.lives.data());
  }

  [[nodiscard]] static std::vector<node_ptr> kept(const lowered_program& program) {
    std::vector<node_ptr> results;
    for (value_id result : program.results)
      for (std::size_t s = 0; s < program.steps.size(); ++s)
        if (program.steps[s].root == result)
          results.push_back(program.inputs[s] != nullptr ? program.inputs[s] : program.nodes[s]);
    return results;
  }

  lowered_program planned_;
  /// The elements that programs of this kind have.
  std::vector<const element_kernels*> known_;
};

/// Makes a recorded program ready to run, where its tensors hold elements of `T...`.
template <Element... T, std::size_t Capacity>
[[nodiscard]] prepared_program prepare(const traced_program<Capacity>& recorded) {
  enter_known<T...>();
  return prepared_program(recorded.view(), {&element_kernels_of<T>..., &element_kernels_of<bool>});
}

/// Runs a program that is ready on tensors in the order of its inputs, now, and returns what the
/// traced function returned: an `any_tensor<T>`, or several in a tuple, one for each of `T...`. The
/// bits are those of the function that was traced.
///
/// A number may stand for an input of rank 0. An input that was traced with `donate` is written
/// over, if it is moved and nobody else holds it.
///
///     w = run<float>(ready, std::move(w), dw, 0.1F);
template <Element... T, ProgramInput... X>
[[nodiscard]] auto run(const prepared_program& ready, X&&... inputs) {
  std::vector<program_input> given;
  given.reserve(sizeof...(X));
  (given.push_back(detail::input_from(inputs)), ...);
  ready.check_results(std::array{element_of<T>...});
  ready.check(given);
  (detail::give_up(std::forward<X>(inputs)), ...);
  const std::vector<node_ptr> results = ready.run(std::move(given));
  std::size_t next = 0;
  const auto take = [&]<class Type>(std::type_identity<Type>) {
    return any_tensor<Type>(results[next++]);
  };
  if constexpr (sizeof...(T) == 1)
    return (take(std::type_identity<T>{}), ...);
  else
    return std::tuple{take(std::type_identity<T>{})...};
}

}  // namespace shardwise
