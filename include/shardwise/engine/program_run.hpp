// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/growable.hpp"
#include "shardwise/engine/agreement.hpp"
#include "shardwise/engine/lower.hpp"
#include "shardwise/engine/program_steps.hpp"

#include <cstddef>
#include <exception>
#include <span>

namespace shardwise::internal {

/// Holds the nodes of steps during a run.
class nodes_of_run {
 public:
  nodes_of_run(program_steps& steps, growable<node_ptr> nodes, const growable<bool>& are_loops = {})
      : steps_(steps) {
    steps.hold(std::move(nodes), are_loops);
  }
  nodes_of_run(const nodes_of_run&) = delete;
  nodes_of_run& operator=(const nodes_of_run&) = delete;
  ~nodes_of_run() { steps_.let_go(); }

 private:
  program_steps& steps_;
};

/// One run of a planned program, phase by phase: results get memory when they are computed, and
/// release it after they were read last.
class program_run {
 public:
  /// `keeps_work` states that the work of the steps is kept for later runs.
  explicit program_run(program_steps& steps, bool keeps_work = false)
      : steps_(steps), keeps_work_(keeps_work) {}

  /// Adds the program to what the owners of the mesh compare.
  void record() const {
    pool_state& home = steps_.home();
    if (home.link() == nullptr) return;
    growable<const tensor_node*> inputs;
    for (std::size_t s = 0; s < count(); ++s)
      if (steps_.is_input(s)) inputs.push_back(steps_.node(s).get());
    internal::record(home, agreement_of(home, steps_.program()), inputs);
  }
  /// Returns the step that runs next; the number of steps at the end.
  [[nodiscard]] std::size_t next() const noexcept { return next_; }
  /// Runs the next step, together with the passes that overwrite its result shard by shard.
  void run_next() {
    const std::size_t s = next_++;
    if (steps_.is_input(s) || !steps_.life(s).needed) return;
    if (steps_.is_further(s)) return share(s);
    run(steps_.phases()[phase_++]);
  }
  /// Runs all remaining steps.
  void run_all() {
    while (next_ < count()) run_next();
  }

 private:
  [[nodiscard]] std::size_t count() const noexcept { return steps_.program().steps.size(); }

  void run(program_phase& at) {
    pool_state& home = steps_.home();
    next_ = at.end;
    for (std::size_t s = at.begin; s < at.end; ++s) {
      set_origin(s);
      if (steps_.step(s).kind == step_kind::collective)
        (void)steps_.make_moving(s);
      else if (!steps_.is_loop(s))
        make_block(s);
    }
    if constexpr (build_config::compiled) steps_.divide(at);
    run_guarded(
        [&] {
          for (std::size_t s = at.begin; s < at.end; ++s) steps_.bind(s);
          (void)steps_.run({&at, 1}, [](const program_phase&) {});
        },
        [&](const std::exception_ptr& thrown) {
          for (std::size_t s = at.begin; s < at.end; ++s)
            if (pending_node* const task = steps_.node(s)->task()) task->fail_with(thrown);
        });
    for (std::size_t s = at.begin; s < at.end; ++s) {
      home.counted().count(steps_.step(s).cost);
      if (!keeps_work_) steps_.release_work(s);
      finish(s);
    }
    for (std::size_t s = at.begin; s < at.end; ++s) let_go(s);
  }
  void make_block(std::size_t s) {
    if (steps_.has_block(s)) return;
    [[maybe_unused]] block_step& made = steps_.make_block(s);
    if constexpr (build_config::compiled)
      if (keeps_work_) made.note_shards(growable<bool>(steps_.step(s).operands.size()));
  }
  /// Gives a further result the memory that its operation wrote.
  void share(std::size_t s) {
    set_origin(s);
    steps_.bind(s);
    finish(s);
    let_go(s);
  }
  void set_origin(std::size_t s) const {
    steps_.node(s)->set_origin(origin_of_result(steps_.home(), s));
  }
  void finish(std::size_t s) const noexcept {
    if (pending_node* const task = steps_.node(s)->task())
      task->finish();
    else
      steps_.node(s)->set_ready();
  }
  /// Releases what no later step reads.
  void let_go(std::size_t s) noexcept {
    for (const std::int32_t o : steps_.step(s).operands) {
      const auto read = static_cast<std::size_t>(o);
      if (steps_.life(read).last_use != static_cast<std::int32_t>(s)) continue;
      steps_.release_further(read);
      if (!steps_.is_input(read) || steps_.step(read).is_own()) steps_.node(read).reset();
    }
    if (steps_.life(s).last_use <= static_cast<std::int32_t>(s)) steps_.node(s).reset();
  }

  program_steps& steps_;
  bool keeps_work_;
  std::size_t phase_ = 0;
  std::size_t next_ = 0;
};

}  // namespace shardwise::internal
