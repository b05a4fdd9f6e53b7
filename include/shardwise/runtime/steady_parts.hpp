// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/runtime/recorded_graph.hpp"
#include "shardwise/runtime/replay_work.hpp"
#include "shardwise/runtime/steady_program.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace shardwise::detail {

/// Memory of the steps of one program, planned before it runs: blocks of the same size are reused,
/// those that were freed last first.
class step_workspace {
 public:
  explicit step_workspace(memory_arena& storage) : storage_(storage) {}

  [[nodiscard]] shard_buffer<std::byte> take(index_t bytes) {
    std::vector<shard_buffer<std::byte>>& same = free_[bytes];
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
  std::map<index_t, std::vector<shard_buffer<std::byte>>> free_;
};

/// The parts of a program, indexed by step unless stated otherwise.
struct steady_program::parts {
  /// Steps that run together, shard by shard.
  struct phase {
    std::size_t begin = 0;
    std::size_t end = 0;
    index_t work = 0;
    /// The number of parts in which threads compute each shard.
    index_t parts = 1;
  };
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
  /// The tensors that steps read and write.
  std::vector<node_ptr> slots;
  std::vector<std::unique_ptr<interpreted_step>> interpreted;
  std::vector<std::unique_ptr<collective_run>> moves;
  /// What the owners of the mesh agree on before each run, and their messages, one collective at a
  /// time.
  agreement agreed;
  message_memory messages;
  /// The further results of operations.
  std::vector<further_shards> further;
  /// For each step, the step that allocates the memory of its result.
  std::vector<std::size_t> root;
  /// By root, true for memory whose address differs between runs.
  std::vector<bool> changes_memory;
  /// The steps of such memory, in order.
  std::vector<std::size_t> bound;
  std::vector<phase> phases;
  /// The first phase that overwrites an argument.
  std::size_t first_overwriting = 0;
  /// By argument, its step; then the steps of constants.
  std::vector<std::size_t> inputs;
  std::size_t argument_count = 0;
  std::vector<bool> is_changed;
  /// By argument, true if its memory becomes that of another value.
  std::vector<bool> is_handed_over;
  std::vector<outcome> outcomes;
  std::size_t next_outcome = 0;
  cost_ledger cost;
  /// By device, its peak bytes while the program runs, besides arguments and returned results.
  std::vector<index_t> peaks;
  bool lost = false;

  [[nodiscard]] bool is_result_of_step(std::size_t s) const noexcept {
    return program.steps[s].which > 0;
  }
  [[nodiscard]] bool is_needed(std::size_t s) const noexcept { return program.lives[s].needed; }

  void find_inputs(recorded_graph& graph, const std::vector<recorded_argument>& arguments);
  void find_roots();
  void make_slots();
  void form_phases();
  void plan_memory();
  void bind_work();
  void divide_phases();
  void find_outcomes(const std::vector<recorded_result>& results);

  void bind(std::span<tensor_node* const> tensors);
  /// True for a phase of one shard that the calling thread computes.
  [[nodiscard]] bool is_one_task(const phase& at) const noexcept {
    return home->link() == nullptr && slots[at.begin]->where().count() == 1 && at.parts == 1;
  }
  void run_steps(const phase& now, index_t shard);
  /// Runs a phase and, in the same task, the phases of one shard that follow a phase of one shard:
  /// starting a task takes as long as a small step. Returns the next phase.
  [[nodiscard]] std::size_t run_from(std::size_t first);
  /// The same once the pieces of other owners are there.
  [[nodiscard]] std::size_t run_phase(std::size_t first);
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

inline void steady_program::parts::find_inputs(recorded_graph& graph,
                                               const std::vector<recorded_argument>& arguments) {
  argument_count = arguments.size();
  slots.resize(program.steps.size());
  for (std::size_t s = 0; s < program.steps.size(); ++s)
    if (program.steps[s].kind == step_kind::input) inputs.push_back(s);
  // Arguments are the first inputs of the program; all other inputs are constants.
  for (std::size_t k = 0; k < argument_count; ++k) {
    const tensor_node& like = *arguments[k].real;
    slots[inputs[k]] = std::make_shared<tensor_node>(home, like.share_where(), like.elements());
  }
  const program_view code = graph.code().view();
  std::size_t next = argument_count;
  for (value_id i = static_cast<value_id>(argument_count); i < code.count; ++i)
    if (is_input(code.what(i))) {
      node_ptr& constant = slots[inputs[next++]];
      constant = graph.node_of(i);
      constant->evaluate();
    }
}

inline void steady_program::parts::find_roots() {
  const std::size_t count = program.steps.size();
  root.resize(count);
  changes_memory.resize(count, false);
  for (std::size_t s = 0; s < count; ++s) {
    const step_desc& step = program.steps[s];
    const std::int32_t reuses = program.lives[s].reuses;
    root[s] = reuses < 0 ? s : root[static_cast<std::size_t>(step.operands[reuses])];
    if (step.kind == step_kind::input || step.kept || is_result_of_step(s))
      changes_memory[root[s]] = true;
  }
  for (std::size_t k = argument_count; k < inputs.size(); ++k) changes_memory[inputs[k]] = false;
  for (std::size_t s = 0; s < count; ++s) {
    const bool is_there = program.steps[s].kind == step_kind::input || is_needed(s);
    if (is_there && changes_memory[root[s]]) bound.push_back(s);
  }
}

inline void steady_program::parts::make_slots() {
  for (std::size_t s = 0; s < program.steps.size(); ++s) {
    const step_desc& step = program.steps[s];
    if (step.kind == step_kind::input || !is_needed(s)) continue;
    const element_kernels* elements = program.kernels[static_cast<std::size_t>(step.root)].elements;
    // An operation that only moves elements has the element type of its operand.
    if (elements == nullptr)
      elements = &slots[static_cast<std::size_t>(step.operands[0])]->elements();
    slots[s] = std::make_shared<tensor_node>(home, home->place(step.result), *elements);
  }
}

inline void steady_program::parts::form_phases() {
  const std::size_t count = program.steps.size();
  cost = cost_ledger(home->mesh());
  const auto continues = [&](std::size_t s, std::size_t begin) {
    const step_desc& step = program.steps[s];
    const std::int32_t reuses = program.lives[s].reuses;
    return reuses >= 0 && step.kind == step_kind::pass &&
           step.operands[reuses] >= static_cast<std::int32_t>(begin) &&
           slots[s]->where().numbers_like(slots[begin]->where());
  };
  for (std::size_t s = 0; s < count;) {
    const std::size_t begin = s++;
    if (program.steps[begin].kind == step_kind::input || !is_needed(begin) ||
        is_result_of_step(begin))
      continue;
    while (s < count && continues(s, begin)) ++s;
    phase made{begin, s};
    for (std::size_t i = begin; i < s; ++i) {
      const step_desc& step = program.steps[i];
      made.work += work_of(slots[i]->where(), step.operands.size(), step.cost);
      cost.count(step.cost);
    }
    phases.push_back(made);
  }
  const auto overwrites = [&](const phase& at) {
    for (std::size_t i = at.begin; i < at.end; ++i)
      if (program.steps[root[i]].kind == step_kind::input) return true;
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
  std::vector<node_ptr> live(count);
  const auto begin_life = [&](std::size_t s) {
    const std::int32_t reuses = program.lives[s].reuses;
    live[s] = std::make_shared<tensor_node>(home, slots[s]->share_where(), slots[s]->elements());
    const std::size_t from =
        reuses < 0 ? s : static_cast<std::size_t>(program.steps[s].operands[reuses]);
    if (from == s)
      live[s]->charge(held);
    else if (live[from] != nullptr)
      live[s]->take_memory_of(*live[from]);
    if (changes_memory[root[s]]) return;
    if (from == s)
      slots[s]->get_memory([&](index_t bytes) { return workspace.take(bytes); });
    else
      slots[s]->view_memory_of(*slots[from]);
  };
  const auto end_life = [&](std::size_t s, std::size_t reader) {
    if (live[s] == nullptr || program.steps[s].kept) return;
    live[s].reset();
    const std::int32_t reuses = program.lives[reader].reuses;
    const bool is_taken_over =
        s != reader && reuses >= 0 &&
        static_cast<std::size_t>(program.steps[reader].operands[reuses]) == s;
    if (!is_taken_over && !changes_memory[root[s]]) workspace.give_back(*slots[s]);
  };
  const auto let_go_after = [&](std::size_t s) {
    for (std::int32_t o : program.steps[s].operands)
      if (program.lives[static_cast<std::size_t>(o)].last_use == static_cast<std::int32_t>(s))
        end_life(static_cast<std::size_t>(o), s);
    if (program.lives[s].last_use <= static_cast<std::int32_t>(s)) end_life(s, s);
  };
  std::size_t next = 0;
  for (std::size_t s = 0; s < count;) {
    if (next < phases.size() && phases[next].begin == s) {
      for (std::size_t i = s; i < phases[next].end; ++i) begin_life(i);
      for (std::size_t i = s; i < phases[next].end; ++i) let_go_after(i);
      s = phases[next++].end;
      continue;
    }
    if (program.steps[s].kind != step_kind::input && is_needed(s)) {
      begin_life(s);
      let_go_after(s);
    }
    ++s;
  }
  for (index_t d = 0; d < home->devices(); ++d) peaks.push_back(held.peak(d));
}

inline void steady_program::parts::bind_work() {
  const std::size_t count = program.steps.size();
  interpreted.resize(count);
  moves.resize(count);
  further.resize(count);
  const program_view code = program.view();
  value_slots formed(program.count);
  for (const phase& each : phases)
    for (std::size_t s = each.begin; s < each.end; ++s) {
      const step_desc& step = program.steps[s];
      if (step.kind == step_kind::collective) {
        moves[s] = std::make_unique<collective_run>(
            applied_operation{&code.what(step.root), code.how(step.root)},
            *slots[static_cast<std::size_t>(step.operands[0])], *slots[s]);
        moves[s]->prepare();
        continue;
      }
      std::vector<node_ptr> operands;
      std::vector<bool> fixed;
      for (std::int32_t o : step.operands) {
        operands.push_back(slots[static_cast<std::size_t>(o)]);
        fixed.push_back(!changes_memory[root[static_cast<std::size_t>(o)]]);
      }
      interpreted[s] =
          std::make_unique<interpreted_step>(program, s, std::move(operands), slots[s], formed);
      interpreted[s]->note_shards(std::move(fixed));
      if (!program.kernels[static_cast<std::size_t>(step.root)].further.empty())
        interpreted[s]->prepare(further[s]);
    }
}

inline void steady_program::parts::divide_phases() {
  for (phase& each : phases) {
    bool is_divisible = true;
    // The parts are rows, which steps of other extents divide otherwise.
    const extents_desc& extents = slots[each.begin]->tensor().extents;
    for (std::size_t s = each.begin; s < each.end; ++s)
      is_divisible =
          is_divisible && slots[s]->tensor().extents == extents &&
          (moves[s] != nullptr ? moves[s]->is_divisible() : interpreted[s]->is_divisible());
    if (is_divisible)
      each.parts =
          parts_of_shards(home->team(), slots[each.begin]->where().count_here(), each.work);
  }
}

inline void steady_program::parts::find_outcomes(const std::vector<recorded_result>& results) {
  is_changed.resize(argument_count, false);
  is_handed_over.resize(argument_count, false);
  const std::vector<std::size_t> step_of = steps_of_results(program);
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
      made.replaces = slots[made.step]->tensor() != slots[inputs[k]]->tensor();
      // Another node holds a value of another description, also if it takes over the memory.
      made.is_in_place = !made.replaces && root[made.step] == inputs[k];
    }
    const auto of = argument_of.find(root[made.step]);
    if (of != argument_of.end() && !(made.updates() && made.is_in_place))
      is_handed_over[of->second] = true;
    if (!made.updates()) {
      // A separate node is charged for it.
      for (index_t d : home->own_devices())
        if (program.steps[root[made.step]].kind != step_kind::input)
          peaks[static_cast<std::size_t>(d)] -= slots[made.step]->where().charged_to(d);
    }
    outcomes.push_back(std::move(made));
  }
}

}  // namespace shardwise::detail
