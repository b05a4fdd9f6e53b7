// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/process/host_values.hpp"
#include "shardwise/process/stop_signals.hpp"

#include <algorithm>
#include <mutex>

namespace shardwise {

namespace detail {

/// How many objects watch: those of the owners that are threads of this process.
struct signal_watchers {
  std::mutex mutex;
  int count = 0;

  [[nodiscard]] static signal_watchers& all() {
    static signal_watchers of_process;
    return of_process;
  }
};

}  // namespace detail

SHARDWISE_INLINE stop_signals::stop_signals() {
  detail::signal_watchers& watchers = detail::signal_watchers::all();
  const std::lock_guard lock(watchers.mutex);
  if (watchers.count++ > 0) return;
  told = false;
  for (std::size_t i = 0; i < watched.size(); ++i) {
    before[i] = std::signal(watched[i], note);
    // A program that is started with a signal ignored, as by nohup, goes on ignoring it.
    if (before[i] == SIG_IGN) std::signal(watched[i], SIG_IGN);
  }
}

SHARDWISE_INLINE stop_signals::~stop_signals() {
  detail::signal_watchers& watchers = detail::signal_watchers::all();
  const std::lock_guard lock(watchers.mutex);
  if (--watchers.count == 0 && !told) restore();
}

SHARDWISE_INLINE bool stop_signals::requested() {
  if (was_requested_) return true;
  const bool told_here = told.load(std::memory_order_relaxed);
  was_requested_ = mesh_reduce("stop_signals", told_here, [](const std::vector<bool>& all) {
    return std::find(all.begin(), all.end(), true) != all.end();
  });
  return was_requested_;
}

}  // namespace shardwise
