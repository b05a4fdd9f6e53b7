// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/core/error.hpp"
#include "shardwise/pool/worker_team.hpp"

namespace shardwise {

SHARDWISE_INLINE worker_team::worker_team(index_t threads, std::stop_token stop)
    : worker_team(threads, core_set::available(), std::move(stop)) {}

SHARDWISE_INLINE worker_team::~worker_team() {
  // Polled, because a caller that leaves could not notify without touching freed memory.
  while (visitors_.load(std::memory_order_acquire) != 0)
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  gate_.shut();
  helpers_.clear();
}

SHARDWISE_INLINE void worker_team::report_stop() {
#if defined(__cpp_exceptions)
  throw pool_stopped();
#else
  std::fputs(pool_stopped().what(), stderr);
  std::abort();
#endif
}

SHARDWISE_INLINE unsigned worker_team::threads_for(index_t threads, const core_set& cores) {
  if (threads < 0)
    fail({.rule = violation::amount_is_out_of_range, .have = threads, .want = 0},
         "the number of threads is 1 or more, or 0 to have it chosen");
  const index_t wanted = threads == 0 ? index_t{cores.size()} : threads;
  return static_cast<unsigned>(std::min(wanted, index_t{phase_gate::most_helpers}));
}

SHARDWISE_INLINE worker_team::worker_team(index_t threads, const core_set& cores,
                                          std::stop_token stop)
    : gate_(cores, std::chrono::microseconds(threads > index_t{cores.size()} ? 0 : 20)),
      tasks_(threads_for(threads, cores)),
      stop_(std::move(stop)) {
  helpers_.reserve(tasks_.threads() - 1);
  const auto hire = [&] {
    for (std::size_t thread = 1; thread < tasks_.threads(); ++thread)
      helpers_.emplace_back([this, thread] { help(thread); });
  };
#if defined(__cpp_exceptions)
  try {
    hire();
  } catch (...) {
    // A smaller team gives the same results.
  }
#else
  hire();
#endif
}

SHARDWISE_INLINE worker_team::helpers worker_team::judge(index_t count, index_t work) noexcept {
  if (helpers_.empty() || count < 2 || work <= small_work) return helpers::unused;
  if (work <= work_worth_waking) {
    if (gate_.sleepers() < index_t{threads()} - 1) return helpers::awake;
    // For many such phases waking pays off, but only afterwards is it known whether they follow.
    const index_t waited = worked_alone_.fetch_add(work, std::memory_order_relaxed) + work;
    if (waited <= work_worth_waking) return helpers::unused;
  }
  worked_alone_.store(0, std::memory_order_relaxed);
  return helpers::all;
}

SHARDWISE_INLINE void worker_team::run_together(index_t first, index_t count, helpers wanted,
                                                function task, void* body) {
  call_ = task;
  body_ = body;
  std::fegetenv(&environment_);
  tasks_.assign(first, count);
  failed_.store(count, std::memory_order_relaxed);
  abandoned_.store(false, std::memory_order_relaxed);
  gate_.open(wanted == helpers::all ? tasks_.useful_threads() - 1 : 0);
  work(0);
  gate_.close();
#if defined(__cpp_exceptions)
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
#endif
  if (abandoned_.load(std::memory_order_relaxed)) report_stop();
}

SHARDWISE_INLINE void worker_team::help(std::size_t thread) noexcept {
  phase_gate::memory last;
  while (gate_.enter(last)) {
    std::fesetenv(&environment_);
    work(thread);
    gate_.leave();
  }
}

SHARDWISE_INLINE void worker_team::work(std::size_t thread) noexcept {
  tasks_.take_all(thread, [this](index_t from, index_t to) {
    for (index_t task = from; task < to; ++task) {
      if (task > failed_.load(std::memory_order_relaxed)) return;
      if (stop_requested()) return abandoned_.store(true, std::memory_order_relaxed);
      attempt(task);
    }
  });
}

SHARDWISE_INLINE void worker_team::attempt(index_t task) {
#if defined(__cpp_exceptions)
  try {
    call_(body_, task);
  } catch (...) {
    const std::lock_guard lock(failure_mutex_);
    if (task >= failed_.load(std::memory_order_relaxed)) return;
    failed_.store(task, std::memory_order_relaxed);
    failure_ = std::current_exception();
  }
#else
  call_(body_, task);
#endif
}

}  // namespace shardwise
