// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/core/growable.hpp"
#include "shardwise/engine/pending_names.hpp"
#include "shardwise/engine/prepared_program_work.hpp"
#include "shardwise/runtime/trace_nan.hpp"

#include <cmath>
#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <sstream>
#include <utility>

namespace shardwise::detail {

/// The fault of a value, and its device.
struct value_faults {
  bool has_nan = false;
  bool has_infinity = false;
  index_t nan_on = -1;
  index_t infinity_on = -1;
};

/// The faults of floating-point elements.
template <class T>
void find_faults(const tensor_node& at, value_faults& found) {
  const shard_table& where = at.where();
  for (index_t i = 0; i < where.count_here(); ++i) {
    const index_t shard = where.shard_here(i);
    const T* const elements = at.data<T>(shard);
    for (index_t k = 0; k < where.size_of_shard(shard); ++k) {
      const auto value = static_cast<compute_type<T>>(elements[k]);
      if (std::isnan(value) && !std::exchange(found.has_nan, true))
        found.nan_on = where.device_of(shard);
      if (std::isinf(value) && !std::exchange(found.has_infinity, true))
        found.infinity_on = where.device_of(shard);
    }
  }
}
[[nodiscard]] inline value_faults faults_of(const tensor_node& at) {
  value_faults found;
  switch (at.tensor().type) {
    case element::f32:
      find_faults<float>(at, found);
      break;
    case element::f64:
      find_faults<double>(at, found);
      break;
    case element::bf16:
      find_faults<bfloat16>(at, found);
      break;
    case element::f16:
      find_faults<float16>(at, found);
      break;
    default:
      break;
  }
  return found;
}

/// A program that runs one instruction at a time: nothing is fused or overwritten, and it owns its
/// results.
class fault_search {
 public:
  /// `inputs` are those of the program, in order.
  fault_search(const program_view& code, const internal::growable<instruction_work>& works,
               internal::growable<node_ptr> inputs, const std::shared_ptr<pool_state>& home)
      : home_(home) {
    const auto size = static_cast<std::size_t>(code.count);
    program_.resize(code.count, code.result_count);
    program_.mesh = *code.mesh;
    program_.count = code.count;
    program_.code.assign(code.code, code.code + code.count);
    program_.values.assign(code.values, code.values + code.count);
    for (std::size_t i = 0; i < size; ++i) {
      instruction& at = program_.code[i];
      program_.table[i + 1] = code.how(static_cast<value_id>(i));
      at.how = static_cast<std::int32_t>(i + 1);
      at.named = true;
      at.donated = false;
    }
    program_.results.assign(code.results, code.results + code.result_count);
    program_.result_count = code.result_count;
    program_.works = works;
    program_.works.resize(size);
    program_.form();
    program_.plan_lives();
    for (value_lifetime& life : program_.lives) life.reuses = -1;
    nodes_ = nodes_of(program_, home_, std::move(inputs));
  }

  [[nodiscard]] numeric_fault find(wanted_fault wanted) {
    numeric_fault out;
    faults_.resize(program_.code.size());
    for (std::size_t i = 0; i < program_.code.size(); ++i)
      if (is_constant(*program_.code[i].what)) {
        const double number =
            constant_operation::value<double>(program_.view().how(static_cast<value_id>(i)));
        faults_[i] = {std::isnan(number), std::isinf(number)};
      }
    for (std::size_t s = 0; s < program_.steps.size(); ++s)
      if (program_.steps[s].kind == step_kind::input) look(s, *nodes_[s], wanted, out);
    run_for_owners(home_->link(), [&] {
      program_steps steps(*home_, program_, charges::devices);
      steps.hold(nodes_);
      program_run run(steps);
      run.record();
      for (std::size_t s = 0; s < program_.steps.size(); ++s) {
        const node_ptr made = std::move(nodes_[s]);
        // Other owners may need what this one sends.
        if (out && home_->link() == nullptr) break;
        run.run_next();
        if (made != nullptr && made->ready()) look(s, *made, wanted, out);
      }
    });
    return out;
  }

 private:
  /// Checks the result of a step, and records the first fault.
  void look(std::size_t s, const tensor_node& made, wanted_fault wanted, numeric_fault& out) {
    const value_id i = program_.steps[s].root;
    value_faults& mine = faults_[static_cast<std::size_t>(i)];
    mine = faults_of(made);
    if (out) return;
    bool read_nan = false, read_infinity = false;
    for (value_id o : program_.code[static_cast<std::size_t>(i)].operands) {
      const value_faults& theirs = faults_[static_cast<std::size_t>(o)];
      read_nan = read_nan || theirs.has_nan;
      read_infinity = read_infinity || theirs.has_infinity;
    }
    const bool makes_nan = mine.has_nan && !read_nan;
    const bool makes_infinity =
        wanted == wanted_fault::any && mine.has_infinity && !read_infinity && !read_nan;
    if (!makes_nan && !makes_infinity) return;
    out.instruction = i;
    out.is_nan = makes_nan;
    out.device = makes_nan ? mine.nan_on : mine.infinity_on;
    std::ostringstream words;
    write_instruction(words, program_.view(), i);
    words << " has " << (makes_nan ? "NaN" : "an infinity") << " on device " << out.device << '\n';
    for (value_id o : program_.code[static_cast<std::size_t>(i)].operands) {
      words << "  ";
      write_instruction(words, program_.view(), o);
      words << '\n';
    }
    out.words = words.str();
  }

  std::shared_ptr<pool_state> home_;
  lowered_program program_;
  /// The nodes of the steps that have not run yet.
  internal::growable<node_ptr> nodes_;
  internal::growable<value_faults> faults_;
};

/// Returns the first fault of the program of some nodes. The caller holds the machine's turn.
[[nodiscard]] inline numeric_fault fault_below(std::span<tensor_node* const> roots,
                                               const std::shared_ptr<pool_state>& home,
                                               wanted_fault wanted) {
  internal::growable<node_ptr> inputs;
  const lowered_graph graph = [&] {
    const reached_nodes reached(roots);
    lowered_graph lowered = lower(reached, roots);
    graph_nodes nodes = nodes_of(lowered, reached);
    throw_failures(nodes.pending);
    for (std::size_t s = 0; s < nodes.of_steps.size(); ++s)
      if (lowered.program.steps[s].kind == step_kind::input) inputs.push_back(nodes.of_steps[s]);
    return lowered;
  }();
  const lowered_program& program = graph.program;
  return fault_search(program.view(), program.works, inputs, home).find(wanted);
}

SHARDWISE_INLINE numeric_fault fault_of_nodes(const internal::growable<node_ptr>& named,
                                              wanted_fault wanted) {
  const std::shared_ptr<pool_state>& home = named.front()->home();
  internal::growable<tensor_node*> roots;
  for (const node_ptr& root : named) {
    if (root->home() != home) fail({.rule = violation::operand_pools_differ});
    roots.push_back(root.get());
  }
  const std::lock_guard turn(home->turn());
  return fault_below(roots, home, wanted);
}

SHARDWISE_INLINE numeric_fault fault_of_pool(pool_state& home, wanted_fault wanted) {
  const std::lock_guard turn(home.turn());
  const internal::growable<node_ptr> names = computable_names(home.pending().hold());
  if (names.empty()) return {};
  internal::growable<tensor_node*> roots;
  roots.reserve(names.size());
  for (const node_ptr& name : names) roots.push_back(name.get());
  return fault_below(roots, names.front()->home(), wanted);
}

SHARDWISE_INLINE numeric_fault fault_of_run(const prepared_program& ready,
                                            internal::growable<program_input> inputs,
                                            wanted_fault wanted) {
  const internal::growable<node_ptr> nodes = ready.input_nodes(std::move(inputs));
  const std::shared_ptr<pool_state>& home = nodes.front()->home();
  const std::lock_guard turn(home->turn());
  const lowered_program& planned = ready.planned();
  return fault_search(planned.view(), planned.works, nodes, home).find(wanted);
}

}  // namespace shardwise::detail
