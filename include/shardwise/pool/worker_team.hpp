// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/index.hpp"
#include "shardwise/pool/cores.hpp"
#include "shardwise/pool/phase_gate.hpp"
#include "shardwise/pool/task_ranges.hpp"

#include <algorithm>
#include <atomic>
#include <cfenv>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <limits>
#include <memory>
#include <mutex>
#include <stop_token>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace shardwise {

/// The work of a phase, in bytes read and written plus arithmetic operations, up to which other
/// threads do not pay off: about a microsecond of one core.
inline constexpr index_t small_work = 64_KiB;

/// The work up to which waking a thread does not pay off: about 20 microseconds of one core.
inline constexpr index_t work_worth_waking = 1_MiB;

/// Work of unknown size, for which all threads are used.
inline constexpr index_t large_work = std::numeric_limits<index_t>::max();

/// Thrown by a phase that a stop request interrupted: some of its tasks never started.
class pool_stopped : public std::exception {
 public:
  [[nodiscard]] const char* what() const noexcept override {
    return "the device pool was stopped before all of its devices had run";
  }
};

/// Threads that run the tasks of one phase after another, including the calling thread.
///
///     worker_team team(2);
///     team.run(8, [&](index_t task) { results[task] = compute(task); });
///
/// - Small work stays in the calling thread, larger work is shared with the helpers that are awake,
///   and work for which waking pays off (in one phase, or in many that found all helpers asleep)
///   with as many as it can use.
/// - Helpers poll for about 20 microseconds after their last phase and then sleep; they sleep
///   immediately if the team has more threads than the process has cores. A phase never waits for a
///   helper that has not begun to help.
/// - Any number of threads may call `run`. One of them at a time has the helpers; the others work
///   through their own tasks and take over the helpers as soon as they are free. A `run` inside a
///   task is treated in the same way, so it never waits for itself.
/// - The destructor waits for the calls that are inside `run`. It must not be called inside a task.
class worker_team {
 public:
  /// Creates a team of the caller and `threads - 1` helpers; 0 means the number of available cores.
  /// There are fewer threads if the system cannot create them, and at most 8191. A request on
  /// `stop` has the effect of `request_stop`. Throws `amount_is_out_of_range` if `threads` is
  /// negative.
  explicit worker_team(index_t threads = 0, std::stop_token stop = {});

  worker_team(const worker_team&) = delete;
  worker_team& operator=(const worker_team&) = delete;

  ~worker_team();

  /// Returns the number of threads of the team, including the caller.
  [[nodiscard]] unsigned threads() const noexcept {
    return static_cast<unsigned>(helpers_.size()) + 1;
  }

  /// Calls `body(0)` ... `body(count - 1)`, each once, and returns when all have returned; their
  /// writes are then visible to the caller. Does not allocate.
  ///
  /// A phase of one task, or of at most `small_work`, runs in the calling thread. If tasks throw,
  /// the exception of the lowest of them is rethrown, whatever the threads do: all tasks before it
  /// have run, and those after it may not have. After a stop request no further task starts; if any
  /// was left out, the call throws `pool_stopped` (or aborts if exceptions are disabled).
  template <class Body>
  void run(index_t count, Body&& body, index_t work = large_work) {
    visit here(visitors_);
    const helpers wanted = judge(count, work);
    for (index_t task = 0; task < count; ++task) {
      if (wanted != helpers::unused && count - task > 1 && here.take_team()) {
        const auto address = const_cast<void*>(static_cast<const void*>(std::addressof(body)));
        return run_together(task, count, wanted, call<std::remove_reference_t<Body>>, address);
      }
      if (stop_requested()) report_stop();
      body(task);
    }
  }

  /// Lets running tasks finish and starts no others, permanently.
  void request_stop() noexcept { stopped_.store(true, std::memory_order_relaxed); }
  [[nodiscard]] bool stop_requested() const noexcept {
    return stopped_.load(std::memory_order_relaxed) || stop_.stop_requested();
  }

  /// Throws `pool_stopped`, as an interrupted phase does.
  [[noreturn]] static void report_stop();

 private:
  using function = void (*)(void* body, index_t task);
  enum class helpers : unsigned char { unused, awake, all };
  static constexpr std::uint32_t has_team = 0x80000000;

  worker_team(index_t threads, const core_set& cores, std::stop_token stop);

  /// Returns the number of threads of a team that is asked for `threads`.
  [[nodiscard]] static unsigned threads_for(index_t threads, const core_set& cores);

  /// A call of `run`, which the destructor waits for and which may hold the helpers.
  class visit {
   public:
    explicit visit(std::atomic<std::uint32_t>& visitors) noexcept : visitors_(visitors) {
      visitors_.fetch_add(1, std::memory_order_relaxed);
    }
    visit(const visit&) = delete;
    visit& operator=(const visit&) = delete;
    ~visit() { visitors_.fetch_sub(1 + held_, std::memory_order_release); }

    [[nodiscard]] bool take_team() noexcept {
      if ((visitors_.load(std::memory_order_relaxed) & has_team) != 0) return false;
      if ((visitors_.fetch_or(has_team, std::memory_order_acquire) & has_team) != 0) return false;
      held_ = has_team;
      return true;
    }

   private:
    std::atomic<std::uint32_t>& visitors_;
    std::uint32_t held_ = 0;
  };

  template <class Body>
  static void call(void* body, index_t task) {
    (*static_cast<Body*>(body))(task);
  }

  [[nodiscard]] helpers judge(index_t count, index_t work) noexcept;

  void run_together(index_t first, index_t count, helpers wanted, function task, void* body);

  void help(std::size_t thread) noexcept;

  void work(std::size_t thread) noexcept;

  void attempt(index_t task);

  phase_gate gate_;
  alignas(64) std::atomic<std::uint32_t> visitors_{0};
  std::atomic<index_t> worked_alone_{0};
  // The phase.
  alignas(64) task_ranges tasks_;
  function call_ = nullptr;
  void* body_ = nullptr;
  std::fenv_t environment_{};  // how the caller rounds, for all threads
  std::atomic<index_t> failed_{0};
  std::atomic<bool> abandoned_{false};
  std::atomic<bool> stopped_{false};
  std::stop_token stop_;
  std::exception_ptr failure_;
  std::mutex failure_mutex_;
  std::vector<std::jthread> helpers_;
};

}  // namespace shardwise

#if !defined(SHARDWISE_COMPILED)
#include "shardwise/pool/worker_team_work.hpp"
#endif
