// SPDX-License-Identifier: BSL-1.0
#pragma once

// Provides the clocks and durations of <chrono> without calendars and streams: 1,600 lines fewer.
#include <thread>

#if defined(_MSC_VER)
#include <intrin.h>
#endif

namespace shardwise {

/// Tells the core that this thread polls, which saves power and gives resources to the sibling
/// thread.
inline void relax() noexcept {
#if defined(_MSC_VER) && (defined(_M_X64) || defined(_M_IX86))
  _mm_pause();
#elif defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__) && !defined(_MSC_VER)
  asm volatile("yield");
#endif
}

/// Polls until the condition holds, for at most about `limit`; returns whether it held.
///
/// With a limit of zero the condition is tested once. The bound is a time and not a number of
/// polls, because the cost of `relax` differs by a factor of ten between cores.
template <class Condition>
[[nodiscard]] bool spin(std::chrono::nanoseconds limit, const Condition& condition) {
  using clock = std::chrono::steady_clock;
  if (condition()) return true;
  if (limit <= limit.zero()) return false;
  const clock::time_point end = clock::now() + limit;
  do {
    for (int poll = 0; poll < 16; ++poll) {
      relax();
      if (condition()) return true;
    }
  } while (clock::now() < end);
  return false;
}

}  // namespace shardwise
