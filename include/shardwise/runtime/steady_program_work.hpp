// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/runtime/steady_parts.hpp"

#include <atomic>
#include <cstring>
#include <mutex>
#include <utility>

namespace shardwise::detail {

/// The state of a tensor that a failed program had begun to overwrite.
class lost_node : public pending_node {
 public:
  lost_node(const tensor_node& from, std::exception_ptr thrown)
      : pending_node(from.home(), from.share_where(), from.elements(), next_sequence()) {
    fail_with(std::move(thrown));
  }

  void evaluate() override { report(); }
  [[nodiscard]] value_id describe(described_program&, std::span<const value_id>) const override {
    report();
  }
  [[nodiscard]] std::int32_t instructions() const noexcept override { return 1; }
  [[nodiscard]] operation_cost cost() const noexcept override { return {}; }
  void run_shard(index_t) override { report(); }

 private:
  [[noreturn]] void report() const { std::rethrow_exception(failure()); }
};

inline void steady_program::parts::bind(std::span<tensor_node* const> tensors) {
  for (std::size_t k = 0; k < argument_count; ++k)
    if (is_handed_over[k])
      slots[inputs[k]]->view_memory_of(*tensors[k]);
    else
      slots[inputs[k]]->borrow_memory_of(*tensors[k]);
  for (outcome& each : outcomes) {
    if (each.updates()) continue;
    // A result without other owners is reused; one that is still held is not touched.
    each.last = 1 - each.last;
    node_ptr& next = each.given[each.last];
    if (next != nullptr && next.use_count() == 1) {
      std::atomic_thread_fence(std::memory_order_acquire);
      next->drop_memory();
    } else {
      const tensor_node& like = *slots[each.step];
      next = std::make_shared<tensor_node>(home, like.share_where(), like.elements());
      next->charge(home->memory());
    }
  }
  memory_arena& storage = home->storage();
  for (std::size_t s = 0; s < further.size(); ++s) {
    if (further[s].empty()) continue;
    const shard_table& where = slots[s]->where();
    const further_elements& kernels =
        program.kernels[static_cast<std::size_t>(program.steps[s].root)].further;
    for (std::size_t k = 0; k < kernels.size(); ++k)
      for (index_t i = 0; i < where.count(); ++i)
        if (where.is_here(i))
          further[s][k][static_cast<std::size_t>(i)] =
              shard_buffer<std::byte>(storage, where.size_of_shard(i) * size_of(kernels[k]->type));
  }
  for (std::size_t s : bound) {
    const step_desc& step = program.steps[s];
    const std::int32_t reuses = program.lives[s].reuses;
    if (step.kind == step_kind::input) continue;
    if (is_result_of_step(s))
      slots[s]->share_memory(further[static_cast<std::size_t>(step.operands[0])]
                                    [static_cast<std::size_t>(step.which) - 1]);
    else if (reuses >= 0)
      slots[s]->view_memory_of(*slots[static_cast<std::size_t>(step.operands[reuses])]);
    else
      slots[s]->get_memory([&](index_t bytes) { return shard_buffer<std::byte>(storage, bytes); });
  }
}

inline void steady_program::parts::run_steps(const phase& now, index_t shard) {
  for (std::size_t s = now.begin; s < now.end; ++s)
    if (moves[s] != nullptr)
      moves[s]->run_shard(shard);
    else
      interpreted[s]->run_shard(shard);
}

inline std::size_t steady_program::parts::run_from(std::size_t first) {
  const phase& now = phases[first];
  // Only the first step may be a collective.
  collective_run* const crossing = home->link() != nullptr ? moves[now.begin].get() : nullptr;
  if (crossing == nullptr) return run_phase(first);
  std::size_t next = first;
  run_guarded(
      [&] {
        crossing->exchange(*home, messages);
        next = run_phase(first);
        crossing->finish(*home);
      },
      [&](const std::exception_ptr&) { crossing->give_up(*home); });
  return next;
}

inline std::size_t steady_program::parts::run_phase(std::size_t first) {
  const phase& now = phases[first];
  if (now.parts > 1) {
    lost = lost || first >= first_overwriting;
    const auto rows = [&](index_t shard, index_t part) {
      const shard_rows some{part, now.parts};
      for (std::size_t s = now.begin; s < now.end; ++s)
        if (moves[s] != nullptr)
          moves[s]->run_rows(shard, some);
        else
          interpreted[s]->run_rows(shard, some);
    };
    home->run_parts(slots[now.begin]->where(), now.parts, rows, now.work);
    return first + 1;
  }
  std::size_t end = first + 1;
  if (is_one_task(now))
    while (end < phases.size() && is_one_task(phases[end])) ++end;
  lost = lost || first >= first_overwriting;
  const auto body = [&](index_t shard) {
    run_steps(now, shard);
    for (std::size_t k = first + 1; k < end; ++k) {
      if (home->team().stop_requested()) worker_team::report_stop();
      lost = lost || k >= first_overwriting;
      run_steps(phases[k], shard);
    }
  };
  home->run_shards(slots[now.begin]->where(), body, now.work);
  return end;
}

inline void steady_program::parts::hand_over(std::span<tensor_node* const> tensors) {
  const std::uint64_t birth = tensor_node::next_birth();
  // Results first: they may need memory, and if there is none the arguments keep their values,
  // unless they were overwritten.
  for (const bool updates : {false, true})
    for (outcome& each : outcomes) {
      if (each.updates() != updates) continue;
      lost = lost || updates;
      tensor_node& to =
          updates ? *tensors[static_cast<std::size_t>(each.argument)] : *each.given[each.last];
      to.set_made_by_step(birth);
      to.set_origin(origin_of_result(*home, each.step));
      if (each.is_in_place) continue;
      to.view_memory_of(*slots[each.step]);
      to.set_ready();
    }
  lost = false;
  next_outcome = 0;
}

inline void steady_program::parts::let_go() noexcept {
  for (std::size_t s : bound) slots[s]->drop_memory();
  for (further_shards& results : further)
    for (auto& shards : results)
      for (shard_buffer<std::byte>& each : shards) each = {};
}

SHARDWISE_INLINE steady_program::steady_program(const std::vector<recorded_argument>& arguments,
                                                const std::vector<recorded_result>& results)
    : parts_(std::make_unique<parts>()) {
  parts& to = *parts_;
  if (results.empty())
    fail({.rule = violation::operand_count_differs, .have = 0, .want = 1},
         "a step changes tensors of its arguments, or returns some");
  to.home = results.front().made->home();
  for (const recorded_argument& each : arguments) require_one_pool(to.home, each.real);
  for (const recorded_result& each : results) require_one_pool(to.home, each.made);
  recorded_graph graph;
  for (const recorded_argument& each : arguments) graph.argument(each.stand_in, each.real);
  {
    const std::lock_guard turn(to.home->turn());
    std::vector<node_ptr> made;
    made.reserve(results.size());
    for (const recorded_result& each : results) made.push_back(each.made);
    graph.record(made);
  }
  program_builder code(graph.code());
  for (const recorded_result& each : results) {
    if (each.argument >= 0)
      graph.code().code[static_cast<std::size_t>(each.argument)].donated = true;
    code.keep(graph.id_of(each.made));
  }
  to.program = prepared_program(graph.code().view(), {}).planned();
  to.agreed = agreement_of(*to.home, to.program);
  to.find_inputs(graph, arguments);
  to.find_roots();
  to.make_slots();
  to.form_phases();
  to.plan_memory();
  to.bind_work();
  to.divide_phases();
  to.find_outcomes(results);
}
SHARDWISE_INLINE steady_program::steady_program(steady_program&&) noexcept = default;
SHARDWISE_INLINE steady_program& steady_program::operator=(steady_program&&) noexcept = default;
SHARDWISE_INLINE steady_program::~steady_program() = default;

SHARDWISE_INLINE bool steady_program::takes(std::span<tensor_node* const> tensors) const noexcept {
  if (tensors.size() != parts_->argument_count) return false;
  for (std::size_t k = 0; k < tensors.size(); ++k) {
    if (tensors[k] == nullptr) continue;
    const tensor_node& wanted = *parts_->slots[parts_->inputs[k]];
    const bool is_same =
        tensors[k]->home() == parts_->home && (tensors[k]->share_where() == wanted.share_where() ||
                                               tensors[k]->tensor() == wanted.tensor());
    if (!is_same) return false;
  }
  return true;
}

SHARDWISE_INLINE bool steady_program::changes(std::size_t argument) const noexcept {
  return parts_->is_changed[argument];
}

SHARDWISE_INLINE program_view steady_program::code() const noexcept {
  return parts_->program.view();
}
SHARDWISE_INLINE cost_ledger steady_program::ledger() const noexcept {
  return ledger_of(parts_->program);
}

SHARDWISE_INLINE void steady_program::run(std::span<tensor_node* const> tensors) {
  parts& p = *parts_;
  const std::lock_guard turn(p.home->turn());
  struct end_of_run {
    parts& at;
    ~end_of_run() { at.let_go(); }
  } const ends{p};
  p.lost = false;
  run_for_owners(p.home->link(), [&] {
    if (p.home->link() != nullptr) record(*p.home, p.agreed, tensors);
    p.bind(tensors);
    p.note_peaks();
    for (std::size_t k = 0; k < p.phases.size();) k = p.run_from(k);
    p.hand_over(tensors);
  });
  p.home->counted().add(p.cost, 0);
}

SHARDWISE_INLINE bool steady_program::replaces_arguments() const noexcept {
  for (const parts::outcome& each : parts_->outcomes)
    if (each.replaces) return true;
  return false;
}

SHARDWISE_INLINE node_ptr steady_program::take_replacement(std::size_t argument) noexcept {
  for (parts::outcome& each : parts_->outcomes)
    if (each.replaces && each.argument == static_cast<int>(argument))
      return std::move(each.given[each.last]);
  return nullptr;
}

SHARDWISE_INLINE const node_ptr& steady_program::next_result() noexcept {
  std::size_t& at = parts_->next_outcome;
  while (parts_->outcomes[at].argument >= 0) ++at;
  const parts::outcome& given = parts_->outcomes[at++];
  return given.given[given.last];
}

SHARDWISE_INLINE bool steady_program::has_lost_arguments() const noexcept { return parts_->lost; }

SHARDWISE_INLINE node_ptr copy_of(const tensor_node& from) {
  auto made = std::make_shared<tensor_node>(from.home(), from.share_where(), from.elements());
  made->allocate(from.home()->storage(), from.home()->memory());
  for (index_t s = 0; s < from.where().count(); ++s)
    if (from.where().is_here(s) && !from.shard(s).empty())
      std::memcpy(made->writable_data<std::byte>(s), from.shard(s).data(),
                  static_cast<std::size_t>(from.shard(s).size()));
  made->set_origin(from.origin());
  made->set_ready();
  return made;
}

SHARDWISE_INLINE node_ptr lost_node_of(const tensor_node& from, std::exception_ptr thrown) {
  return std::make_shared<lost_node>(from, std::move(thrown));
}

}  // namespace shardwise::detail
