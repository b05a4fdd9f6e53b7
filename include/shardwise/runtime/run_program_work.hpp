// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/runtime/agreement.hpp"
#include "shardwise/runtime/collective_run.hpp"
#include "shardwise/runtime/pending_names.hpp"
#include "shardwise/runtime/run_program.hpp"
#include "shardwise/runtime/step_run.hpp"

#include <algorithm>
#include <cstddef>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace shardwise {

namespace detail {

/// One step of a running program: the node of the result, the kernel that computes a shard of it,
/// and the step whose memory it reuses.
struct running_step {
  node_ptr result;
  node_ptr reused;
  operation_cost cost{};
  std::size_t reads = 0;
  /// Null if the node computes itself.
  std::unique_ptr<interpreted_step> interpreted{};
  /// Null except for collectives.
  std::unique_ptr<collective_run> moves{};

  void run_shard(index_t shard) const {
    if (moves != nullptr)
      moves->run_shard(shard);
    else if (interpreted != nullptr)
      interpreted->run_shard(shard);
    else
      result->task()->run_shard(shard);
  }
};

/// Returns the work of a step in the unit of `small_work`: the bytes of all shards of the result,
/// about as many for each operand, and arithmetic.
[[nodiscard]] inline index_t work_of(const shard_table& where, std::size_t reads,
                                     const operation_cost& cost) noexcept {
  return where.count() * (static_cast<index_t>(reads + 1) * where.bytes_per_device() + cost.flops);
}

/// Runs some steps in one pass over their shards: all except the first overwrite existing memory,
/// and all number their shards alike. An exception becomes the state of the unfinished steps;
/// finished ones are released.
inline void run_phase(pool_state& home, std::span<running_step> steps) {
  message_memory messages;
  collective_run* const moves = home.link() != nullptr ? steps.front().moves.get() : nullptr;
  const auto run = [&] {
    index_t work = 0;
    for (running_step& step : steps) {
      if (step.reused != nullptr)
        step.result->take_memory_of(*step.reused);
      else if (pending_computation* const task = step.result->task())
        task->prepare();
      else
        step.result->allocate(home.storage(), home.memory());
      work += work_of(step.result->where(), step.reads, step.cost);
    }
    // Only the first step may be a collective: the others are passes.
    if (moves != nullptr) moves->exchange(home, messages);
    const auto body = [&](index_t shard) {
      for (const running_step& step : steps) step.run_shard(shard);
    };
    home.run_shards(steps.front().result->where(), body, work);
    if (moves != nullptr) moves->finish(home);
  };
  run_guarded(run, [&](const std::exception_ptr& thrown) {
    if (moves != nullptr) moves->give_up(home);
    for (const running_step& step : steps)
      if (pending_computation* const task = step.result->task()) task->fail_with(thrown);
  });
  for (running_step& step : steps) {
    home.counted().count(step.cost);
    if (pending_computation* const task = step.result->task())
      task->finish();
    else
      step.result->set_ready();
    step = {};
  }
}

/// Fails every node that depends on a failed one, and throws the first of these failures if there
/// is any. The nodes are in execution order; those that no longer exist were computed.
inline void throw_failures(std::span<const std::weak_ptr<tensor_node>> nodes) {
#if defined(__cpp_exceptions)
  std::exception_ptr first;
  for (const std::weak_ptr<tensor_node>& held : nodes) {
    const node_ptr at = held.lock();
    if (at == nullptr || at->ready() || at->task() == nullptr) continue;
    pending_computation& task = *at->task();
    for (const node_ptr& operand : task.operands())
      if (!operand->ready() && operand->task() != nullptr && operand->task()->failure())
        task.fail_with(operand->task()->failure());
    if (!first) first = task.failure();
  }
  if (first) std::rethrow_exception(first);
#else
  (void)nodes;
#endif
}

/// Returns true if all operands of a pending node are computed: its program is a single step.
[[nodiscard]] inline bool stands_alone(tensor_node& pending) {
  for (const node_ptr& operand : pending.task()->operands())
    if (!operand->ready()) return false;
  return true;
}

/// Returns the operand whose memory a pass, or an operation that reuses that of its first operand,
/// may use for its result: it has no other owner. Null if there is none.
[[nodiscard]] inline tensor_node* free_operand(tensor_node& result) {
  const pending_computation& task = *result.task();
  const std::size_t count = task.is_pass() ? task.operands().size() : task.reuses_first();
  for (const node_ptr& operand : std::span(task.operands().begin(), count))
    if (operand.use_count() == 1 && operand->owns_memory() &&
        (!task.is_pass() || operand->tensor() == result.tensor()))
      return operand.get();
  return nullptr;
}

/// Runs a node whose operands are all computed. Nothing is lowered or planned, since building a
/// program would take longer than small tensors do.
inline void run_alone(pool_state& home, tensor_node& root) {
  const node_ptr alone = root.shared_from_this();
  const std::weak_ptr<tensor_node> held = alone;
  pending_computation& task = *alone->task();
  throw_failures({&held, 1});
  const operation_cost cost = task.cost();
  run_guarded(
      [&] {
        if (tensor_node* const reused = free_operand(*alone))
          alone->take_memory_of(*reused);
        else
          task.prepare();
        home.run_shards(
            alone->where(), [&](index_t shard) { task.run_shard(shard); },
            work_of(alone->where(), task.operands().size(), cost));
      },
      [&](const std::exception_ptr& thrown) { task.fail_with(thrown); });
  home.counted().count(cost);
  task.finish();
}

/// The steps of a lowered program, run one after another.
class program_run {
 public:
  program_run(pool_state& home, lowered_program& program)
      : home_(home), program_(program), slots_(program.count) {}

  /// Runs the next step, together with the passes that overwrite its result shard by shard. The
  /// epilogue of a step runs on each shard immediately after it, while the shard is in the cache.
  void run_next() {
    const std::size_t begin = next_++;
    if (program_.nodes[begin] == nullptr || !program_.lives[begin].needed) return;
    if (is_result_of_step(begin)) return share_result(begin);
    std::vector<running_step> phase;
    phase.push_back(start(begin));
    while (next_ < program_.steps.size() && writes_over(next_, begin)) {
      if (!program_.nodes[next_]->where().numbers_like(phase.front().result->where())) break;
      phase.push_back(start(next_++));
    }
    run_phase(home_, phase);
    for (std::size_t s = begin; s < next_; ++s) let_go(s);
  }
  /// Adds the program to what the owners of the mesh compare.
  void record_run() const {
    if (home_.link() == nullptr) return;
    std::vector<const tensor_node*> inputs;
    for (const node_ptr& input : program_.inputs)
      if (input != nullptr) inputs.push_back(input.get());
    record(home_, agreement_of(home_, program_), inputs);
  }
  /// Runs all remaining steps.
  void run_all() {
    record_run();
    while (next_ < program_.steps.size()) run_next();
  }
  /// Fails the nodes of which some intermediate steps have run: such a step may have overwritten
  /// its operand, so the node cannot be computed again.
  void fail_begun(const std::exception_ptr& thrown) const {
    for (std::size_t s = 0; s < next_; ++s)
      if (const node_ptr owner = program_.owners[s].lock(); owner != nullptr && !owner->ready())
        if (owner->task()->failure() == nullptr) owner->task()->fail_with(thrown);
  }

 private:
  /// Returns the node of a step's result; results that later steps read are alive while the program
  /// runs.
  [[nodiscard]] const node_ptr& result_of(std::int32_t step) const noexcept {
    const auto s = static_cast<std::size_t>(step);
    return program_.inputs[s] != nullptr ? program_.inputs[s] : program_.nodes[s];
  }

  /// Returns true for a pass that overwrites the result of step `begin` or of a later one.
  [[nodiscard]] bool writes_over(std::size_t s, std::size_t begin) const noexcept {
    const step_desc& step = program_.steps[s];
    const std::int32_t reuses = program_.lives[s].reuses;
    return reuses >= 0 && step.kind == step_kind::pass &&
           step.operands[reuses] >= static_cast<std::int32_t>(begin);
  }

  [[nodiscard]] running_step start(std::size_t s) {
    const step_desc& step = program_.steps[s];
    program_.nodes[s]->set_origin(origin_of_result(home_, s));
    running_step out{program_.nodes[s], nullptr, step.cost, step.operands.size()};
    const std::int32_t reuses = program_.lives[s].reuses;
    if (reuses >= 0) out.reused = result_of(step.operands[reuses]);
    if (step.kind == step_kind::collective) {
      const program_view code = program_.view();
      out.moves = std::make_unique<collective_run>(
          applied_operation{&code.what(step.root), code.how(step.root)},
          *result_of(step.operands[0]), *out.result);
      return out;
    }
    if (program_.compiled[s]) return out;
    std::vector<node_ptr> operands;
    for (std::int32_t o : step.operands) operands.push_back(result_of(o));
    out.interpreted =
        std::make_unique<interpreted_step>(program_, s, std::move(operands), out.result, slots_);
    if (!program_.kernels[static_cast<std::size_t>(step.root)].further.empty()) {
      // A node holds its further results itself: their nodes may be read by a later program.
      if (out.result->task() != nullptr)
        out.interpreted->write_to(static_cast<whole_node&>(*out.result).further());
      else
        out.interpreted->prepare(further_[static_cast<std::int32_t>(s)]);
    }
    return out;
  }
  /// Returns true for a further result that has no node of its own.
  [[nodiscard]] bool is_result_of_step(std::size_t s) const noexcept {
    return program_.steps[s].which > 0 && program_.nodes[s]->task() == nullptr;
  }
  /// Gives a further result the memory that its operation wrote.
  void share_result(std::size_t s) {
    const step_desc& step = program_.steps[s];
    tensor_node& result = *program_.nodes[s];
    result.set_origin(origin_of_result(home_, s));
    result.share_memory(further_.at(step.operands[0])[static_cast<std::size_t>(step.which) - 1]);
    result.charge(home_.memory());
    result.set_ready();
    let_go(s);
  }

  /// Releases what no later step reads.
  void let_go(std::size_t s) {
    const step_desc& step = program_.steps[s];
    for (std::int32_t o : step.operands) {
      const auto read = static_cast<std::size_t>(o);
      if (program_.lives[read].last_use != static_cast<std::int32_t>(s)) continue;
      program_.nodes[read].reset();
      further_.erase(o);
      if (program_.steps[read].is_own()) program_.inputs[read].reset();
    }
    if (program_.lives[s].last_use <= static_cast<std::int32_t>(s)) program_.nodes[s].reset();
  }

  pool_state& home_;
  lowered_program& program_;
  value_slots slots_;
  std::size_t next_ = 0;
  /// The further results of operations, by step.
  std::map<std::int32_t, further_shards> further_;
};

/// Runs the program of `roots`. The caller holds the machine's turn.
///
/// The first failure ends the run: everything that depends on it has failed too, and everything
/// else stays pending. A program that depends on an earlier failure runs nothing.
inline void run_roots(pool_state& home, std::span<tensor_node* const> roots) {
  for (tensor_node* root : roots) root->arrive();
  if (std::all_of(roots.begin(), roots.end(), [](tensor_node* root) { return root->ready(); }))
    return;
  if (home.link() == nullptr && roots.size() == 1 && stands_alone(*roots.front()))
    return run_alone(home, *roots.front());
  run_for_owners(home.link(), [&] {
    lowered_program program = lower(roots);
    throw_failures(program.pending);
    program_run run(home, program);
    run_guarded([&] { run.run_all(); },
                [&](const std::exception_ptr& thrown) {
                  run.fail_begun(thrown);
                  throw_failures(program.pending);
                });
  });
}

[[nodiscard]] inline std::vector<tensor_node*> as_roots(const std::vector<node_ptr>& names) {
  std::vector<tensor_node*> roots;
  roots.reserve(names.size());
  for (const node_ptr& name : names) roots.push_back(name.get());
  return roots;
}

}  // namespace detail

SHARDWISE_INLINE void run_program(std::span<tensor_node* const> roots) {
  pool_state& home = *roots.front()->home();
  const std::lock_guard turn(home.turn());
  detail::run_roots(home, roots);
}

SHARDWISE_INLINE void run_pending(pool_state& home) {
  const std::lock_guard turn(home.turn());
  // Holding all nodes while they run would keep values alive that nothing else holds.
  const std::vector<node_ptr> names = detail::computable_names(home.pending().hold());
  if (!names.empty()) detail::run_roots(home, detail::as_roots(names));
}

SHARDWISE_INLINE void require_unchanged_captures(std::span<const node_ptr> arguments) {
  if (arguments.empty()) return;
  pool_state& home = *arguments.front()->home();
  const machine_turn::look looking(home.turn());
  const std::vector<node_ptr> pending = home.pending().hold();
  const auto depend = detail::dependent_nodes(pending, [&](tensor_node* operand) {
    return std::any_of(arguments.begin(), arguments.end(),
                       [&](const node_ptr& each) { return each.get() == operand; });
  });
  for (const node_ptr& name : detail::named(pending))
    if (depend.contains(name.get()))
      fail({.rule = violation::value_is_being_differentiated},
           "a step changes its arguments only, and its function has changed a tensor that it "
           "captures: pass it as an argument");
}

SHARDWISE_INLINE cost_ledger ledger_of_pending(pool_state& home) {
  const machine_turn::look looking(home.turn());
  const std::vector<node_ptr> names = detail::computable_names(home.pending().hold());
  if (names.empty()) return cost_ledger(home.mesh());
  return ledger_of(lower(detail::as_roots(names)));
}

SHARDWISE_INLINE void pending_node::evaluate() {
  tensor_node* const self = this;
  if (!ready()) run_program({&self, 1});
}

}  // namespace shardwise
