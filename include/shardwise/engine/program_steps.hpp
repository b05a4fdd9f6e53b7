// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/growable.hpp"
#include "shardwise/core/guarded.hpp"
#include "shardwise/engine/block_step.hpp"
#include "shardwise/engine/crossing_plan.hpp"
#include "shardwise/engine/result_memory.hpp"

#include <cstddef>
#include <exception>
#include <memory>
#include <span>
#include <utility>

namespace shardwise::internal {

/// Returns the work of a step in the unit of `small_work`: the bytes of all shards of the result,
/// about as many for each operand, and arithmetic.
[[nodiscard]] inline index_t work_of(const shard_table& where, std::size_t reads,
                                     const operation_cost& cost) noexcept {
  return where.count() * (static_cast<index_t>(reads + 1) * where.bytes_per_device() + cost.flops);
}

/// Steps that run together, shard by shard: all except the first overwrite existing memory, and all
/// number their shards alike, so each runs on a shard immediately after the one before it, while
/// the shard is in the cache.
struct program_phase {
  std::size_t begin = 0;
  std::size_t end = 0;
  index_t work = 0;
  /// The number of parts in which threads compute each shard; 0 if that is not decided.
  index_t parts = 0;
};

/// The steps of a planned program on one machine: the nodes of their inputs and results, how each
/// is computed, and what runs together. The nodes may change between runs, but not what they
/// describe. Here memory is given to results, and shards are computed; a `program_run` or a
/// `steady_program` decides when.
class program_steps {
 public:
  program_steps(pool_state& home, const lowered_program& program, charges charged)
      : home_(home),
        program_(program),
        nodes_(program.steps.size()),
        charged_(charged),
        slots_(program.count),
        blocks_(program.steps.size()),
        moves_(program.steps.size()) {}
  program_steps(const program_steps&) = delete;
  program_steps& operator=(const program_steps&) = delete;

  /// Sets the nodes of the steps, before a run or for all; null for steps that no result depends
  /// on. `are_loops` tells which steps are compiled loops of their nodes.
  void hold(growable<node_ptr> nodes, growable<bool> are_loops = {}) {
    for (std::size_t s = 0; s < nodes.size(); ++s) nodes_[s] = std::move(nodes[s]);
    are_loops_ = std::move(are_loops);
    if (phases_.empty()) form_phases();
  }
  /// Releases the nodes, and the memory of further results, after a run.
  void let_go() noexcept {
    for (node_ptr& each : nodes_) each.reset();
    release_further();
  }

  [[nodiscard]] pool_state& home() const noexcept { return home_; }
  [[nodiscard]] const lowered_program& program() const noexcept { return program_; }
  [[nodiscard]] const step_desc& step(std::size_t s) const noexcept { return program_.steps[s]; }
  [[nodiscard]] const value_lifetime& life(std::size_t s) const noexcept {
    return program_.lives[s];
  }
  [[nodiscard]] node_ptr& node(std::size_t s) noexcept { return nodes_[s]; }
  [[nodiscard]] const node_ptr& node(std::size_t s) const noexcept { return nodes_[s]; }
  /// Returns true for an input, which is not computed.
  [[nodiscard]] bool is_input(std::size_t s) const noexcept {
    return step(s).kind == step_kind::input;
  }
  /// Returns true for a further result of an operation, which has written it already.
  [[nodiscard]] bool is_further(std::size_t s) const noexcept { return step(s).which > 0; }
  [[nodiscard]] bool is_loop(std::size_t s) const noexcept {
    return !are_loops_.empty() && are_loops_[s];
  }
  /// Returns the operand whose memory a step overwrites; null if there is none.
  [[nodiscard]] const node_ptr* overwritten(std::size_t s) const noexcept {
    const std::int32_t reuses = life(s).reuses;
    return reuses < 0 ? nullptr : &nodes_[static_cast<std::size_t>(step(s).operands[reuses])];
  }

  /// Returns what runs together, in order; further results are not in it.
  [[nodiscard]] std::span<program_phase> phases() noexcept { return phases_; }

  /// Makes the work of a step that is no collective.
  block_step& make_block(std::size_t s) {
    blocks_[s] = std::make_unique<block_step>(program_, s, nodes_, slots_);
    return *blocks_[s];
  }
  [[nodiscard]] bool has_block(std::size_t s) const noexcept { return blocks_[s] != nullptr; }
  /// Makes the work of a step that is a collective, for the nodes of this run.
  moving_step& make_moving(std::size_t s) {
    const program_view code = program_.view();
    const value_id root = step(s).root;
    moves_[s] = program_.works[static_cast<std::size_t>(root)].moves(
        applied_operation{&code.what(root), code.how(root)},
        *nodes_[static_cast<std::size_t>(step(s).operands[0])], *nodes_[s]);
    return *moves_[s];
  }
  /// Releases the work of a step.
  void release_work(std::size_t s) noexcept {
    blocks_[s].reset();
    moves_[s].reset();
  }

  /// Gives the result of a step its memory, and an operation that of its further results.
  void bind(std::size_t s) {
    if (is_further(s)) {
      const auto operation = static_cast<std::size_t>(step(s).operands[0]);
      return bind_written(*nodes_[s], further_of(operation), step(s).which, charged_);
    }
    const node_ptr* const from = overwritten(s);
    bind_result(*nodes_[s], from != nullptr ? from->get() : nullptr, charged_);
    bind_further(s);
  }
  /// Gives an operation the memory of its results after the first, if it has some.
  void bind_further(std::size_t s) {
    const further_elements& elements =
        program_.works[static_cast<std::size_t>(step(s).root)].kernel.further;
    if (elements.empty()) return;
    internal::bind_further(*nodes_[s], elements, further_of(s));
    blocks_[s]->write_to(further_of(s));
  }
  /// Releases the memory of further results that this program holds.
  void release_further(std::size_t s) noexcept {
    if (!further_.empty()) further_[s].clear();
  }
  void release_further() noexcept {
    for (further_shards& results : further_)
      for (auto& shards : results)
        for (shard_buffer<std::byte>& each : shards) each = {};
  }

  /// Decides in how many parts threads compute the shards of a phase whose work is made.
  void divide(program_phase& at) {
    if (at.parts > 0) return;
    at.parts = 1;
    // The parts are rows, which steps of other extents divide otherwise.
    const extents_desc& extents = nodes_[at.begin]->tensor().extents;
    for (std::size_t s = at.begin; s < at.end; ++s)
      if (nodes_[s]->tensor().extents != extents || !is_divisible(s)) return;
    run_divided_ = &program_steps::run_parts;
    at.parts = parts_of_shards(home_.team(), nodes_[at.begin]->where().count_here(), at.work);
  }

  /// Runs the first of some phases and, in the same task, the phases of one shard that follow a
  /// phase of one shard: starting a task takes as long as a small step. Calls `begun` with each
  /// before it begins. Returns how many ran.
  template <class Begun>
  std::size_t run(std::span<const program_phase> phases, const Begun& begun) {
    const std::size_t first = phases.front().begin;
    // Only the first step of a phase may be a collective.
    moving_step* const crossing = home_.link() != nullptr ? moves_[first].get() : nullptr;
    if (crossing == nullptr) return run_here(phases, begun);
    run_guarded(
        [&] {
          home_.with_owners().exchange_step(*crossing, home_, messages_);
          (void)run_here(phases.first(1), begun);
          crossing->finish(home_);
        },
        [&](const std::exception_ptr&) { crossing->give_up(home_); });
    return 1;
  }

 private:
  void form_phases() {
    for (std::size_t s = 0; s < program_.steps.size();) {
      const std::size_t begin = s++;
      if (is_input(begin) || is_further(begin) || !life(begin).needed) continue;
      program_phase made{begin, s};
      while (s < program_.steps.size() && continues(s, begin)) made.end = ++s;
      for (std::size_t i = begin; i < s; ++i)
        made.work += work_of(nodes_[i]->where(), step(i).operands.size(), step(i).cost);
      phases_.push_back(made);
    }
  }
  /// Returns true for a pass that overwrites the result of step `begin` or of a later one.
  [[nodiscard]] bool continues(std::size_t s, std::size_t begin) const noexcept {
    const std::int32_t reuses = life(s).reuses;
    return reuses >= 0 && step(s).kind == step_kind::pass &&
           step(s).operands[reuses] >= static_cast<std::int32_t>(begin) &&
           nodes_[s]->where().numbers_like(nodes_[begin]->where());
  }
  /// Returns the memory of the results of an operation after the first: a node that is a value of
  /// the program holds it itself, since a later program may read it.
  [[nodiscard]] further_shards& further_of(std::size_t s) {
    if (pending_node* const task = nodes_[s]->task()) return task->further();
    if (further_.empty()) further_.resize(nodes_.size());
    return further_[s];
  }
  [[nodiscard]] bool is_divisible(std::size_t s) const noexcept {
    if (moves_[s] != nullptr) return moves_[s]->is_divisible();
    return blocks_[s] != nullptr && blocks_[s]->is_divisible();
  }
  /// Returns true for a phase of one shard that the calling thread computes.
  [[nodiscard]] bool is_one_task(const program_phase& at) const noexcept {
    return home_.link() == nullptr && nodes_[at.begin]->where().count() == 1 && at.parts <= 1;
  }

  template <class Begun>
  std::size_t run_here(std::span<const program_phase> phases, const Begun& begun) {
    const program_phase& now = phases.front();
    const shard_table& where = nodes_[now.begin]->where();
    begun(now);
    if (now.parts > 1) {
      (this->*run_divided_)(now);
      return 1;
    }
    std::size_t count = 1;
    if (is_one_task(now))
      while (count < phases.size() && is_one_task(phases[count])) ++count;
    const auto body = [&](index_t shard) {
      for (std::size_t k = 0; k < count; ++k) {
        if (k > 0) {
          if (home_.team().stop_requested()) worker_team::report_stop();
          begun(phases[k]);
        }
        for (std::size_t s = phases[k].begin; s < phases[k].end; ++s) run_shard(s, shard);
      }
    };
    home_.run_shards(where, body, now.work);
    return count;
  }
  void run_shard(std::size_t s, index_t shard) {
    if (moves_[s] != nullptr)
      moves_[s]->run_shard(shard);
    else if (blocks_[s] != nullptr)
      blocks_[s]->run_shard(shard);
    else
      nodes_[s]->task()->work().loop->run(*nodes_[s]->task(), shard);
  }
  void run_parts(const program_phase& now) {
    const auto rows = [&](index_t shard, index_t part) {
      for (std::size_t s = now.begin; s < now.end; ++s) run_rows(s, shard, {part, now.parts});
    };
    home_.run_parts(nodes_[now.begin]->where(), now.parts, rows, now.work);
  }
  void run_rows(std::size_t s, index_t shard, const shard_rows& rows) const {
    if (moves_[s] != nullptr)
      moves_[s]->run_rows(shard, rows);
    else
      blocks_[s]->run_rows(shard, rows);
  }

  pool_state& home_;
  const lowered_program& program_;
  growable<node_ptr> nodes_;
  charges charged_;
  growable<bool> are_loops_;
  value_slots slots_;
  growable<program_phase> phases_;
  /// Set when a phase is divided: other programs of headers alone do not contain what rows need.
  void (program_steps::*run_divided_)(const program_phase& now) = nullptr;
  // By step: null for others.
  growable<std::unique_ptr<block_step>> blocks_;
  growable<std::unique_ptr<moving_step>> moves_;
  /// The further results of operations whose results are no values of the program, by step.
  growable<further_shards> further_;
  message_memory messages_;
};

}  // namespace shardwise::internal
