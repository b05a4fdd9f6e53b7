// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <array>
#include <atomic>
#include <csignal>
#include <cstddef>

namespace shardwise {

/// Watches for SIGINT and SIGTERM during its lifetime, so that a loop on several processes ends in
/// the same step on all of them whichever process was told. The first signal asks the loop to end;
/// a second one does what it did before.
///
///     stop_signals stop;
///     while (!stop.requested()) train();
///     save_safetensors(path, state);
class stop_signals {
 public:
  stop_signals();
  stop_signals(const stop_signals&) = delete;
  stop_signals& operator=(const stop_signals&) = delete;
  /// The last one to end restores what the signals did before the first.
  ~stop_signals();

  /// Returns true once any process has been told to stop, and then always. All processes call it,
  /// and all get the same answer.
  [[nodiscard]] bool requested();

 private:
  using handler = void (*)(int);
  static constexpr std::array<int, 2> watched{SIGINT, SIGTERM};
  static_assert(std::atomic<bool>::is_always_lock_free);

  static void restore() noexcept {
    for (std::size_t i = 0; i < watched.size(); ++i) std::signal(watched[i], before[i]);
  }
  static void note(int) {
    told.store(true, std::memory_order_relaxed);
    restore();
  }

  static inline std::atomic<bool> told{false};
  static inline std::array<handler, 2> before{};
  bool was_requested_ = false;
};

}  // namespace shardwise

#if !defined(SHARDWISE_COMPILED)
#include "shardwise/process/stop_signals_work.hpp"
#endif
