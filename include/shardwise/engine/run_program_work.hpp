// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/core/growable.hpp"
#include "shardwise/engine/pending_names.hpp"
#include "shardwise/engine/program_cache.hpp"
#include "shardwise/engine/run_program.hpp"

#include <algorithm>
#include <cstddef>
#include <exception>
#include <memory>
#include <mutex>
#include <span>

namespace shardwise {

namespace internal {

/// Fails every node that depends on a failed one, and throws the first of these failures if there
/// is any. The nodes are in execution order; those that no longer exist were computed.
inline void throw_failures(std::span<const std::weak_ptr<tensor_node>> nodes) {
#if defined(__cpp_exceptions)
  std::exception_ptr first;
  for (const std::weak_ptr<tensor_node>& held : nodes) {
    const node_ptr at = held.lock();
    if (at == nullptr || at->ready() || at->task() == nullptr) continue;
    pending_node& task = *at->task();
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
[[nodiscard]] inline tensor_node* free_operand(const pending_node& task) {
  const std::size_t count = task.is_pass() ? task.operands().size() : task.reuses_first();
  for (const node_ptr& operand : std::span(task.operands().begin(), count))
    if (operand.use_count() == 1 && operand->owns_memory() &&
        (!task.is_pass() || operand->tensor() == task.tensor()))
      return operand.get();
  return nullptr;
}

/// Gives the result of a node whose operands are computed its memory, and computes its shards.
inline void compute_alone(pool_state& home, const node_ptr& alone, const operation_cost& cost) {
  pending_node& task = *alone->task();
  const node_work& work = task.work();
  if (is_result(*work.what))
    return bind_written(*alone, task.operands()[0]->task()->further(),
                        result_operation::number(task.how()), charges::devices);
  bind_result(*alone, free_operand(task), charges::devices);
  const auto run = [&](const auto& body) {
    home.run_shards(alone->where(), body, work_of(alone->where(), task.operands().size(), cost));
  };
  if (work.loop) return run([&](index_t shard) { work.loop->run(task, shard); });
  if (const auto call = function_call::of(task))
    return run([&](index_t shard) { call->run_shard(*alone, shard); });
  if (work.what->is_elementwise) {
    block_step pass(alone);
    return run([&](index_t shard) { pass.run_shard(shard); });
  }
  if (work.moves != nullptr) {
    const auto moves = work.moves({work.what, task.how()}, *task.operands()[0], *alone);
    return run([&](index_t shard) { moves->run_shard(shard); });
  }
  const further_elements& further = work.kernel.further;
  if (!further.empty()) bind_further(*alone, further, task.further());
  const auto view_of = [&](std::size_t k, index_t device, const held_box& part,
                           scratch_vector<std::byte>& memory) {
    return read_part(*task.operands()[static_cast<int>(k)], device, part, memory).view;
  };
  run([&](index_t shard) {
    run_whole(*alone, shard, *work.details, work.kernel.whole, further, &task.further(), view_of);
  });
}

/// Runs a node whose operands are all computed. Nothing is lowered or planned, since building a
/// program would take longer than small tensors do.
inline void run_alone(pool_state& home, tensor_node& root) {
  const node_ptr alone = root.shared_from_this();
  pending_node& task = *alone->task();
  if (task.failure() != nullptr || task.is_without_value()) task.refuse();
  const operation_cost cost = task.cost();
  run_guarded([&] { compute_alone(home, alone, cost); },
              [&](const std::exception_ptr& thrown) { task.fail_with(thrown); });
  home.counted().count(cost);
  task.finish();
}

/// Runs a lowered graph on its nodes, as steps that may have run before.
inline void run_graph(const lowered_graph& graph, graph_nodes nodes, program_steps& steps,
                      bool keeps_work) {
  const nodes_of_run held(steps, std::move(nodes.of_steps), graph.are_loops);
  program_run run(steps, keeps_work);
  run_guarded(
      [&] {
        run.record();
        run.run_all();
      },
      [&](const std::exception_ptr& thrown) {
        // A node of which some intermediate steps have run cannot be computed again: such a step
        // may have overwritten its operand.
        for (std::size_t s = 0; s < run.next(); ++s) {
          const std::int32_t owner = graph.origins[s].owner;
          if (owner < 0) continue;
          const node_ptr of = nodes.pending[static_cast<std::size_t>(owner)].lock();
          if (of != nullptr && !of->ready() && of->task()->failure() == nullptr)
            of->task()->fail_with(thrown);
        }
        throw_failures(nodes.pending);
      });
}

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
    lowered_graph graph;
    graph_nodes nodes;
    [[maybe_unused]] remembered_program* known = nullptr;
    {
      const reached_nodes reached(roots);
#if defined(SHARDWISE_COMPILED)
      known = home.programs().find_or_keep(home, reached, roots);
#endif
      // Labels are for what owners compare.
      if (known == nullptr) graph = lower(reached, roots, home.link() != nullptr);
      nodes = nodes_of(known != nullptr ? known->graph : graph, reached);
    }
    throw_failures(nodes.pending);
    if (known != nullptr) return run_graph(known->graph, std::move(nodes), known->steps, true);
    program_steps steps(home, graph.program, charges::devices);
    run_graph(graph, std::move(nodes), steps, false);
  });
}

[[nodiscard]] inline growable<tensor_node*> as_roots(const growable<node_ptr>& names) {
  growable<tensor_node*> roots;
  roots.reserve(names.size());
  for (const node_ptr& name : names) roots.push_back(name.get());
  return roots;
}

}  // namespace internal

#if defined(SHARDWISE_COMPILED)
SHARDWISE_INLINE internal::program_cache& pool_state::programs() {
  if (programs_ == nullptr) programs_ = std::make_shared<internal::program_cache>();
  return *programs_;
}
#endif

SHARDWISE_INLINE void run_program(std::span<tensor_node* const> roots) {
  pool_state& home = *roots.front()->home();
  const std::lock_guard turn(home.turn());
  internal::run_roots(home, roots);
}

SHARDWISE_INLINE void run_pending(pool_state& home) {
  const std::lock_guard turn(home.turn());
  // Holding all nodes while they run would keep values alive that nothing else holds.
  const internal::growable<node_ptr> names = internal::computable_names(home.pending().hold());
  if (!names.empty()) internal::run_roots(home, internal::as_roots(names));
}

SHARDWISE_INLINE void require_unchanged_captures(std::span<const node_ptr> arguments) {
  if (arguments.empty()) return;
  pool_state& home = *arguments.front()->home();
  const machine_turn::look looking(home.turn());
  const internal::growable<node_ptr> pending = home.pending().hold();
  const auto depend = internal::dependent_nodes(pending, [&](tensor_node* operand) {
    return std::any_of(arguments.begin(), arguments.end(),
                       [&](const node_ptr& each) { return each.get() == operand; });
  });
  for (const node_ptr& name : internal::named(pending))
    if (depend.contains(name.get()))
      fail({.rule = violation::value_is_being_differentiated},
           "a step changes its arguments only, and its function has changed a tensor that it "
           "captures: pass it as an argument");
}

SHARDWISE_INLINE cost_ledger ledger_of_pending(pool_state& home) {
  const machine_turn::look looking(home.turn());
  const internal::growable<node_ptr> names = internal::computable_names(home.pending().hold());
  if (names.empty()) return cost_ledger(home.mesh());
  return ledger_of(lower(internal::as_roots(names)));
}

SHARDWISE_INLINE void pending_node::evaluate() {
  tensor_node* const self = this;
  if (!ready()) run_program({&self, 1});
}

SHARDWISE_INLINE void pending_node::refuse() const {
#if defined(__cpp_exceptions)
  if (failure_ != nullptr) std::rethrow_exception(failure_);
#endif
  fail({.rule = violation::value_is_being_differentiated});
}

SHARDWISE_INLINE value_id pending_node::describe(described_program& to,
                                                 std::span<const value_id> read) const {
  if (work_.loop) return work_.loop->describe(to, read, *this);
  if (is_without_value()) refuse();
  value_ids all;
  internal::for_each_operand(
      work_.numbers, read.size(),
      [&](const number_operand& each) {
        // A tensor that is filled with a number has no other operands.
        const tensor_desc filled = read.empty() ? tensor() : tensor_desc{each.type, {}, {}};
        all.push_back(to.code().append(operation_of<constant_operation>, each.how(), {}, filled));
      },
      [&](std::size_t k) { all.push_back(read[k]); });
  operation_kernel kernel = work_.kernel;
  kernel.elements = &elements();
  return to.computed_by(to.code().append(*work_.what, how(), all, tensor()), kernel, work_.details,
                        work_.moves);
}

SHARDWISE_INLINE operation_cost pending_node::cost() const noexcept {
  if (work_.loop) return work_.loop->cost(*this);
  if (is_pass()) {
    const index_t each = work_.what->cost(where().mesh(), {}, {}, tensor()).flops;
    return {.flops = pass_flops(each, where().largest_shard_size())};
  }
  if (work_.what->cost == nullptr) return {};
  tensor_descs read;
  for (const node_ptr& operand : operands_) read.push_back(operand->tensor());
  return work_.what->cost(where().mesh(), how(), read, tensor());
}

}  // namespace shardwise
