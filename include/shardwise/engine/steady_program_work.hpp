// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/core/growable.hpp"
#include "shardwise/engine/steady_parts.hpp"

#include <atomic>
#include <cstring>
#include <mutex>
#include <utility>

namespace shardwise::internal {

inline void steady_program::parts::bind(std::span<tensor_node* const> tensors) {
  for (std::size_t k = 0; k < argument_count; ++k)
    if (is_handed_over[k])
      slot(inputs[k])->view_memory_of(*tensors[k]);
    else
      slot(inputs[k])->borrow_memory_of(*tensors[k]);
  for (outcome& each : outcomes) {
    if (each.updates()) continue;
    // A result without other owners is reused; one that is still held is not touched.
    each.last = 1 - each.last;
    node_ptr& next = each.given[each.last];
    if (next != nullptr && next.use_count() == 1) {
      std::atomic_thread_fence(std::memory_order_acquire);
      next->drop_memory();
    } else {
      const tensor_node& like = *slot(each.step);
      next = std::make_shared<tensor_node>(home, like.share_where(), like.elements());
      next->charge(home->memory());
    }
  }
  for (const std::size_t s : with_further) steps->bind_further(s);
  for (const std::size_t s : bound)
    if (!steps->is_input(s)) steps->bind(s);
}

inline void steady_program::parts::run_phases() {
  const std::span<const program_phase> all = steps->phases();
  const auto begun = [&](const program_phase& at) {
    lost = lost || &at >= all.data() + first_overwriting;
  };
  for (std::size_t k = 0; k < all.size();) k += steps->run(all.subspan(k), begun);
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
      to.view_memory_of(*slot(each.step));
      to.set_ready();
    }
  lost = false;
  next_outcome = 0;
}

inline void steady_program::parts::let_go() noexcept {
  for (const std::size_t s : bound) slot(s)->drop_memory();
  steps->release_further();
}

SHARDWISE_INLINE steady_program::steady_program(const growable<recorded_argument>& arguments,
                                                const growable<recorded_result>& results)
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
    growable<node_ptr> made;
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
  growable<node_ptr> inputs = to.find_inputs(graph, arguments);
  to.steps.emplace(*to.home, to.program, charges::none);
  to.steps->hold(nodes_of(to.program, to.home, std::move(inputs)));
  to.find_roots();
  to.form_phases();
  to.plan_memory();
  to.make_work();
  to.find_outcomes(results);
}
SHARDWISE_INLINE steady_program::steady_program(steady_program&&) noexcept = default;
SHARDWISE_INLINE steady_program& steady_program::operator=(steady_program&&) noexcept = default;
SHARDWISE_INLINE steady_program::~steady_program() = default;

SHARDWISE_INLINE bool steady_program::takes(std::span<tensor_node* const> tensors) const noexcept {
  if (tensors.size() != parts_->argument_count) return false;
  for (std::size_t k = 0; k < tensors.size(); ++k) {
    if (tensors[k] == nullptr) continue;
    const tensor_node& wanted = *parts_->slot(parts_->inputs[k]);
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
    p.run_phases();
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
  const std::shared_ptr<pending_node> lost = valueless_node(from, from.share_where());
  lost->fail_with(std::move(thrown));
  return lost;
}

}  // namespace shardwise::internal
