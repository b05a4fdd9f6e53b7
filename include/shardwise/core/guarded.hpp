// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <exception>

namespace shardwise::internal {

/// Calls `run`; if it throws, calls `failed(exception)` before the exception propagates.
template <class Run, class Failed>
void run_guarded(const Run& run, [[maybe_unused]] const Failed& failed) {
#if defined(__cpp_exceptions)
  try {
    run();
  } catch (...) {
    failed(std::current_exception());
    throw;
  }
#else
  run();
#endif
}

/// Calls `run`, and ignores its exceptions.
template <class Run>
void run_quietly(const Run& run) noexcept {
#if defined(__cpp_exceptions)
  try {
    run();
  } catch (...) {
  }
#else
  run();
#endif
}

}  // namespace shardwise::internal
