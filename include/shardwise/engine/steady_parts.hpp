// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/growable.hpp"
#include "shardwise/engine/prepared_program_work.hpp"
#include "shardwise/engine/recorded_graph.hpp"
#include "shardwise/engine/steady_program.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <utility>

namespace shardwise::internal {

/// Memory of the steps of one program, planned before it runs: blocks of the same size are reused,
/// those that were freed last first.
class step_workspace {
 public:
  explicit step_workspace(memory_arena& storage) : storage_(storage) {}

  [[nodiscard]] shard_buffer<std::byte> take(index_t bytes) {
    growable<shard_buffer<std::byte>>& same = free_[bytes];
    if (same.empty()) return {storage_, bytes};
    shard_buffer<std::byte> taken = std::move(same.back());
    same.pop_back();
    return taken;
  }
  /// Makes the memory of a tensor available to later steps.
  void give_back(const tensor_node& tensor) {
    for (index_t s = 0; s < tensor.where().count(); ++s)
      if (tensor.where().is_here(s) && !tensor.shard(s).empty())
        free_[tensor.shard(s).size()].push_back(tensor.shard(s));
  }

 private:
  memory_arena& storage_;
  /// By size.
  std::map<index_t, growable<shard_buffer<std::byte>>> free_;
};

/// The parts of a program, indexed by step unless stated otherwise.
struct steady_program::parts {
  /// What happens to a result of the program: it becomes the value of an argument, or one of two
  /// tensors that are returned alternately. An argument whose layout or sizes change becomes such a
  /// tensor.
  struct outcome {
    std::size_t step = 0;
    int argument = -1;
    bool is_in_place = false;
    /// True for an argument whose layout or sizes change.
    bool replaces = false;
    std::array<node_ptr, 2> given{};
    std::size_t last = 0;

    /// True if the node of an argument gets the value.
    [[nodiscard]] bool updates() const noexcept { return argument >= 0 && !replaces; }
  };

  std::shared_ptr<pool_state> home;
  lowered_program program;
  /// Its steps, on the tensors that they read and write.
  std::optional<program_steps> steps;
  /// What the owners of the mesh agree on before each run.
  agreement agreed;
  /// For each step, the step that allocates the memory of its result.
  growable<std::size_t> root;
  /// By root, true for memory whose address differs between runs.
  growable<bool> changes_memory;
  /// The steps of such memory, in order.
  growable<std::size_t> bound;
  /// Other operations with further results, in order.
  growable<std::size_t> with_further;
  /// The first phase that overwrites an argument.
  std::size_t first_overwriting = 0;
  /// By argument, its step; then the steps of constants.
  growable<std::size_t> inputs;
  std::size_t argument_count = 0;
  growable<bool> is_changed;
  /// By argument, true if its memory becomes that of another value.
  growable<bool> is_handed_over;
  growable<outcome> outcomes;
  std::size_t next_outcome = 0;
  cost_ledger cost;
  /// By device, its peak bytes while the program runs, besides arguments and returned results.
  growable<index_t> peaks;
  bool lost = false;

  [[nodiscard]] const node_ptr& slot(std::size_t s) const noexcept { return steps->node(s); }

  /// Returns the nodes of the program's inputs: the arguments, and constants.
  [[nodiscard]] growable<node_ptr> find_inputs(recorded_graph& graph,
                                               const growable<recorded_argument>& arguments);
  void find_roots();
  void form_phases();
  void plan_memory();
  void make_work();
  void find_outcomes(const growable<recorded_result>& results);

  void bind(std::span<tensor_node* const> tensors);
  void run_phases();
  void hand_over(std::span<tensor_node* const> tensors);
  void let_go() noexcept;
  /// Records the peak memory of each device for a run.
  void note_peaks() noexcept {
    for (index_t d : home->own_devices()) {
      home->memory().charge(d, peaks[static_cast<std::size_t>(d)]);
      home->memory().charge(d, -peaks[static_cast<std::size_t>(d)]);
    }
  }
};

inline growable<node_ptr> steady_program::parts::find_inputs(
    recorded_graph& graph, const growable<recorded_argument>& arguments) {
  argument_count = arguments.size();
  for (std::size_t s = 0; s < program.steps.size(); ++s)
    if (program.steps[s].kind == step_kind::input) inputs.push_back(s);
  // Arguments are the first inputs of the program; all other inputs are constants.
  growable<node_ptr> nodes;
  for (const recorded_argument& each : arguments)
    nodes.push_back(
        std::make_shared<tensor_node>(home, each.real->share_where(), each.real->elements()));
  const program_view code = graph.code().view();
  for (value_id i = static_cast<value_id>(argument_count); i < code.count; ++i)
    if (is_input(code.what(i))) {
      nodes.push_back(graph.node_of(i));
      nodes.back()->evaluate();
    }
  return nodes;
}

inline void steady_program::parts::find_roots() {
  const std::size_t count = program.steps.size();
  root.resize(count);
  changes_memory.resize(count, false);
  for (std::size_t s = 0; s < count; ++s) {
    const step_desc& step = program.steps[s];
    const std::int32_t reuses = program.lives[s].reuses;
    root[s] = reuses < 0 ? s : root[static_cast<std::size_t>(step.operands[reuses])];
    if (steps->is_input(s) || step.kept || steps->is_further(s)) changes_memory[root[s]] = true;
  }
  for (std::size_t k = argument_count; k < inputs.size(); ++k) changes_memory[inputs[k]] = false;
  for (std::size_t s = 0; s < count; ++s) {
    const bool is_there = steps->is_input(s) || program.lives[s].needed;
    if (is_there && changes_memory[root[s]])
      bound.push_back(s);
    else if (is_there &&
             !program.works[static_cast<std::size_t>(program.steps[s].root)].kernel.further.empty())
      with_further.push_back(s);
  }
}

inline void steady_program::parts::form_phases() {
  const std::span<program_phase> phases = steps->phases();
  cost = cost_ledger(home->mesh());
  for (const program_phase& each : phases)
    for (std::size_t s = each.begin; s < each.end; ++s) cost.count(program.steps[s].cost);
  const auto overwrites = [&](const program_phase& at) {
    for (std::size_t s = at.begin; s < at.end; ++s)
      if (steps->is_input(root[s])) return true;
    return false;
  };
  first_overwriting = static_cast<std::size_t>(
      std::find_if(phases.begin(), phases.end(), overwrites) - phases.begin());
}

inline void steady_program::parts::plan_memory() {
  const std::size_t count = program.steps.size();
  step_workspace workspace(home->storage());
  device_memory held(home->devices());
  // They represent values that live while the program runs, and are charged for them.
  growable<node_ptr> live(count);
  const auto begin_life = [&](std::size_t s) {
    const std::int32_t reuses = program.lives[s].reuses;
    live[s] = std::make_shared<tensor_node>(home, slot(s)->share_where(), slot(s)->elements());
    const std::size_t from =
        reuses < 0 ? s : static_cast<std::size_t>(program.steps[s].operands[reuses]);
    if (from == s)
      live[s]->charge(held);
    else if (live[from] != nullptr)
      live[s]->take_memory_of(*live[from]);
    if (changes_memory[root[s]]) return;
    if (from == s)
      slot(s)->get_memory([&](index_t bytes) { return workspace.take(bytes); });
    else
      slot(s)->view_memory_of(*slot(from));
  };
  const auto end_life = [&](std::size_t s, std::size_t reader) {
    if (live[s] == nullptr || program.steps[s].kept) return;
    live[s].reset();
    const std::int32_t reuses = program.lives[reader].reuses;
    const bool is_taken_over =
        s != reader && reuses >= 0 &&
        static_cast<std::size_t>(program.steps[reader].operands[reuses]) == s;
    if (!is_taken_over && !changes_memory[root[s]]) workspace.give_back(*slot(s));
  };
  const auto let_go_after = [&](std::size_t s) {
    for (std::int32_t o : program.steps[s].operands)
      if (program.lives[static_cast<std::size_t>(o)].last_use == static_cast<std::int32_t>(s))
        end_life(static_cast<std::size_t>(o), s);
    if (program.lives[s].last_use <= static_cast<std::int32_t>(s)) end_life(s, s);
  };
  const std::span<const program_phase> phases = steps->phases();
  std::size_t next = 0;
  for (std::size_t s = 0; s < count;) {
    if (next < phases.size() && phases[next].begin == s) {
      for (std::size_t i = s; i < phases[next].end; ++i) begin_life(i);
      for (std::size_t i = s; i < phases[next].end; ++i) let_go_after(i);
      s = phases[next++].end;
      continue;
    }
    if (!steps->is_input(s) && program.lives[s].needed) {
      begin_life(s);
      let_go_after(s);
    }
    ++s;
  }
  for (index_t d = 0; d < home->devices(); ++d) peaks.push_back(held.peak(d));
}

inline void steady_program::parts::make_work() {
  for (program_phase& each : steps->phases()) {
    for (std::size_t s = each.begin; s < each.end; ++s) {
      if (program.steps[s].kind == step_kind::collective) {
        steps->make_moving(s).prepare();
        continue;
      }
      growable<bool> fixed;
      for (std::int32_t o : program.steps[s].operands)
        fixed.push_back(!changes_memory[root[static_cast<std::size_t>(o)]]);
      steps->make_block(s).note_shards(std::move(fixed));
    }
    steps->divide(each);
  }
}

inline void steady_program::parts::find_outcomes(const growable<recorded_result>& results) {
  is_changed.resize(argument_count, false);
  is_handed_over.resize(argument_count, false);
  const growable<std::size_t> step_of = steps_of_results(program);
  // Arguments are inputs of their own: each is the step of one.
  std::map<std::size_t, std::size_t> argument_of;
  for (std::size_t k = 0; k < argument_count; ++k) argument_of[inputs[k]] = k;
  for (std::size_t r = 0; r < results.size(); ++r) {
    outcome made;
    made.argument = results[r].argument;
    made.step = step_of[r];
    if (made.argument >= 0) {
      const auto k = static_cast<std::size_t>(made.argument);
      is_changed[k] = true;
      made.replaces = slot(made.step)->tensor() != slot(inputs[k])->tensor();
      // Another node holds a value of another description, also if it takes over the memory.
      made.is_in_place = !made.replaces && root[made.step] == inputs[k];
    }
    const auto of = argument_of.find(root[made.step]);
    if (of != argument_of.end() && !(made.updates() && made.is_in_place))
      is_handed_over[of->second] = true;
    if (!made.updates()) {
      // A separate node is charged for it.
      for (index_t d : home->own_devices())
        if (!steps->is_input(root[made.step]))
          peaks[static_cast<std::size_t>(d)] -= slot(made.step)->where().charged_to(d);
    }
    outcomes.push_back(std::move(made));
  }
}

}  // namespace shardwise::internal
