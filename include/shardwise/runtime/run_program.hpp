// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/runtime/lower.hpp"

#include <cstddef>
#include <exception>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace shardwise {

namespace detail {

/// The work of a step in the unit of `small_work`: the bytes of all its shards, for the result and
/// about as much for each operand, and arithmetic.
[[nodiscard]] inline index_t work_of(const placement& where, computation& task) noexcept {
  const auto tensors = static_cast<index_t>(task.operands().size()) + 1;
  return where.count() * (tensors * task.result().where().bytes_per_device() + task.cost().flops);
}

/// Runs some nodes in one pass over their shards: all but the first write over memory that is there
/// already, and all number their shards alike. What it throws is what they are from now on; those
/// that are computed are let go.
inline void run_phase(machine& home, std::span<std::shared_ptr<node_base>> nodes,
                      std::span<const lifetime> lives) {
  const auto run = [&] {
    const placement& where = nodes.front()->where();
    index_t work = 0;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      nodes[i]->task()->prepare(lives[i].reuses);
      work += work_of(where, *nodes[i]->task());
    }
    const auto body = [&](index_t shard) {
      for (const std::shared_ptr<node_base>& at : nodes) at->task()->run_shard(shard);
    };
    home.run_shards(where, body, work);
  };
#if defined(__cpp_exceptions)
  try {
    run();
  } catch (...) {
    for (const std::shared_ptr<node_base>& at : nodes)
      at->task()->fail_with(std::current_exception());
    throw;
  }
#else
  run();
#endif
  for (std::shared_ptr<node_base>& at : nodes) {
    home.counted().count(at->task()->cost());
    at->task()->finish();
    at.reset();
  }
}

/// Fails everything that reads what failed, and throws the first of these failures if there is one.
/// Where there is no node, there was an input or it has been computed.
inline void throw_failures(std::span<const std::shared_ptr<node_base>> nodes) {
#if defined(__cpp_exceptions)
  std::exception_ptr first;
  for (const std::shared_ptr<node_base>& at : nodes) {
    if (at == nullptr) continue;
    computation& task = *at->task();
    for (const std::shared_ptr<node_base>& operand : task.operands())
      if (!operand->ready() && operand->task()->failure())
        task.fail_with(operand->task()->failure());
    if (!first) first = task.failure();
  }
  if (first) std::rethrow_exception(first);
#else
  (void)nodes;
#endif
}

/// True if all that a pending node reads is there: its program is one step.
[[nodiscard]] inline bool stands_alone(node_base& pending) {
  for (const std::shared_ptr<node_base>& operand : pending.task()->operands())
    if (!operand->ready()) return false;
  return true;
}

/// Runs the program of `roots`. The caller holds the machine's turn.
///
/// The first failure ends it: what needs it has failed too, all else stays pending. A program that
/// needs what failed earlier runs nothing.
inline void run_roots(machine& home, std::span<node_base* const> roots) {
  if (roots.size() == 1 && !roots.front()->ready() && stands_alone(*roots.front())) {
    std::shared_ptr<node_base> alone = roots.front()->shared_from_this();
    throw_failures({&alone, 1});
    const lifetime lives;
    return run_phase(home, {&alone, 1}, {&lives, 1});
  }
  lowered_program program = lower(roots);
  const std::span nodes(program.nodes);
  const std::span<const lifetime> lives(program.lives);
  throw_failures(nodes);
  std::size_t next = 0;
  const auto run_next = [&] {
    const std::size_t begin = next++;
    if (nodes[begin] == nullptr) return;
    // The epilogue of a step runs on each shard right after it, while the shard is in the cache.
    while (next < nodes.size() && lives[next].reuses >= 0 &&
           program.steps[next].kind == step_kind::pass &&
           nodes[next]->where().numbers_like(nodes[begin]->where()))
      ++next;
    run_phase(home, nodes.subspan(begin, next - begin), lives.subspan(begin, next - begin));
  };
#if defined(__cpp_exceptions)
  try {
    while (next < nodes.size()) run_next();
  } catch (...) {
    throw_failures(nodes);
    throw;
  }
#else
  while (next < nodes.size()) run_next();
#endif
}

/// Who of these pending nodes is more than an operand of the others: what names hold. They come in
/// the order in which they were given. The caller holds the machine's turn.
[[nodiscard]] inline std::vector<std::shared_ptr<node_base>> named(
    const std::vector<std::shared_ptr<node_base>>& pending) {
  std::vector<long> owners(pending.size(), 1);  // this vector
  for (std::size_t i = 0; i < pending.size(); ++i)
    pending[i]->number = static_cast<std::int32_t>(i);
  for (const std::shared_ptr<node_base>& at : pending)
    for (const std::shared_ptr<node_base>& operand : at->task()->operands())
      if (operand->number >= 0) ++owners[static_cast<std::size_t>(operand->number)];
  for (const std::shared_ptr<node_base>& at : pending) at->number = -1;
  std::vector<std::shared_ptr<node_base>> names;
  for (std::size_t i = 0; i < pending.size(); ++i)
    if (pending[i].use_count() > owners[i]) names.push_back(pending[i]);
  return names;
}

}  // namespace detail

inline void run_program(std::span<node_base* const> roots) {
  machine& home = *roots.front()->home();
  const std::lock_guard turn(home.turn());
  detail::run_roots(home, roots);
}

inline void run_pending(machine& home) {
  const std::lock_guard turn(home.turn());
  const std::vector<std::shared_ptr<node_base>> names = detail::named(home.pending().hold());
  if (names.empty()) return;
  std::vector<node_base*> roots;
  for (const std::shared_ptr<node_base>& name : names) roots.push_back(name.get());
  detail::run_roots(home, roots);
}

}  // namespace shardwise
