// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/index.hpp"
#include "shardwise/pool/cores.hpp"
#include "shardwise/pool/spin.hpp"

#include <atomic>
#include <cstdint>

namespace shardwise {

/// A gate where helpers wait for the next phase of work, and where its caller waits for them to
/// leave.
///
/// A helper enters while the gate is open; a phase ends when the gate is closed and no helper is
/// inside. So a phase never waits for a helper that slept through it. One caller at a time.
class phase_gate {
 public:
  /// The maximum number of helpers that a gate can count.
  static constexpr unsigned most_helpers = 8191;

  /// The state of a helper between phases.
  struct memory {
    std::uint32_t phase = 0;
    int avoided_core = -1;
  };

  /// Creates a gate for threads on these cores that poll for `patience` before they sleep.
  phase_gate(const core_set& cores, std::chrono::nanoseconds patience) noexcept
      : cores_(cores), patience_(patience) {}

  /// Returns the number of sleeping helpers; waking them costs several microseconds.
  [[nodiscard]] index_t sleepers() const noexcept {
    return sleepers_.load(std::memory_order_relaxed);
  }

  /// Begins a phase and wakes up to `welcome` sleepers; polling helpers see it without being woken.
  void open(index_t welcome) noexcept {
    caller_core_.store(core_set::current(), std::memory_order_relaxed);
    const std::uint32_t phase = gate_.load(std::memory_order_relaxed) & ~(one_phase - 1);
    // Sequentially consistent, like every operation that decides about sleeping: either the caller
    // sees the sleeper, or the sleeper sees the phase.
    gate_.store((phase + one_phase) | is_open);
    const index_t sleepers = sleepers_.load();
    if (sleepers == 0) return;
    if (sleepers <= welcome) return gate_.notify_all();
    for (index_t woken = 0; woken < welcome; ++woken) gate_.notify_one();
  }

  /// Ends the phase: admits no more helpers and waits until none is inside. Their writes are then
  /// visible.
  void close() noexcept {
    const auto empty = [](std::uint32_t gate) { return (gate & inside) == 0; };
    if (empty(gate_.fetch_and(~is_open, std::memory_order_acq_rel))) return;
    if (spin(patience_, [&] { return empty(gate_.load(std::memory_order_acquire)); })) return;
    emptied_.store(0, std::memory_order_relaxed);
    if (empty(gate_.fetch_or(caller_sleeps, std::memory_order_acq_rel))) return;
    emptied_.wait(0, std::memory_order_acquire);
  }

  /// Dismisses all helpers; no phase may be open.
  void shut() noexcept {
    gate_.fetch_or(is_shut);
    gate_.notify_all();
  }

  /// For helpers: waits for a new phase and enters it; returns false if there will be no more.
  [[nodiscard]] bool enter(memory& last) noexcept {
    for (;;) {
      std::uint32_t gate = await(last);
      if ((gate & is_shut) != 0) return false;
      last.phase = phase_of(gate);
      while ((gate & is_open) != 0 && phase_of(gate) == last.phase)
        if (gate_.compare_exchange_weak(gate, gate + one_inside, std::memory_order_acq_rel,
                                        std::memory_order_relaxed))
          return true;
    }
  }

  /// For helpers: ends their part of the phase.
  void leave() noexcept {
    const std::uint32_t gate = gate_.fetch_sub(one_inside, std::memory_order_acq_rel) - one_inside;
    if ((gate & inside) != 0 || (gate & caller_sleeps) == 0) return;
    emptied_.store(1, std::memory_order_release);
    emptied_.notify_one();
  }

 private:
  // The gate in one word: three flags, 13 bits for the number of helpers inside, 16 for the number
  // of the phase. A helper that sleeps through exactly 65536 phases misses one more, which is
  // harmless.
  static constexpr std::uint32_t is_open = 1;
  static constexpr std::uint32_t is_shut = 2;
  static constexpr std::uint32_t caller_sleeps = 4;
  static constexpr std::uint32_t one_inside = 8;
  static constexpr std::uint32_t inside = 0xfff8;
  static constexpr std::uint32_t one_phase = 0x10000;

  [[nodiscard]] static std::uint32_t phase_of(std::uint32_t gate) noexcept {
    return gate / one_phase;
  }

  /// Polls, then sleeps, until the gate is open for a new phase, or shut.
  [[nodiscard]] std::uint32_t await(memory& last) noexcept {
    std::uint32_t gate = 0;
    const auto ready = [&] {
      gate = gate_.load(std::memory_order_acquire);
      return (gate & is_shut) != 0 || ((gate & is_open) != 0 && phase_of(gate) != last.phase);
    };
    if (spin(patience_, ready)) return gate;
    while (!ready()) {
      avoid_caller(last);
      sleepers_.fetch_add(1);
      gate_.wait(gate);
      sleepers_.fetch_sub(1);
    }
    return gate;
  }

  /// Leaves the caller's core permanently. Virtual machines tend to wake a thread on the core of
  /// its waker even if others are idle, where it would wait until the caller is done.
  void avoid_caller(memory& last) const noexcept {
    const int core = caller_core_.load(std::memory_order_relaxed);
    if (core == last.avoided_core || patience_ == patience_.zero()) return;
    cores_.stay_off(core);
    last.avoided_core = core;
  }

  // The word that helpers poll has its own cache line.
  alignas(64) std::atomic<std::uint32_t> gate_{0};
  alignas(64) std::atomic<index_t> sleepers_{0};
  std::atomic<std::uint32_t> emptied_{0};
  std::atomic<int> caller_core_{-1};
  core_set cores_;
  std::chrono::nanoseconds patience_;
};

}  // namespace shardwise
