// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/core/growable.hpp"
#include "shardwise/engine/turn.hpp"

#include <algorithm>

namespace shardwise {

/// The threads that wait for a turn.
struct machine_turn::waiting_room {
  std::mutex mutex;
  internal::growable<waiter> waiters;
};

SHARDWISE_INLINE machine_turn::waiting_room& machine_turn::room() {
  static waiting_room all;
  return all;
}

template <class Such>
bool machine_turn::reaches(const machine_turn* turn, const Such& such) noexcept {
  for (; turn != nullptr; turn = turn->outer_)
    if (such(turn)) return true;
  return false;
}

SHARDWISE_INLINE void machine_turn::lock() {
  if (waits_here()) refuse();
  if (!mutex_.try_lock()) wait();
  outer_ = std::exchange(innermost(), this);
}

SHARDWISE_INLINE bool machine_turn::waits_here() const noexcept {
  return reaches(innermost(), [this](const machine_turn* held) { return held == this; });
}

SHARDWISE_INLINE machine_turn::look::look(machine_turn& at) : at_(at), inside_(at.waits_here()) {
  if (inside_)
    at_.looking_.lock();
  else
    at_.lock();
}

SHARDWISE_INLINE machine_turn::look::~look() {
  if (inside_)
    at_.looking_.unlock();
  else
    at_.unlock();
}

SHARDWISE_INLINE void machine_turn::wait() {
  waiting_room& all = room();
  const machine_turn* const own = innermost();
  {
    const std::lock_guard lock(all.mutex);
    if (own != nullptr && would_wait_for(own, all.waiters)) refuse();
    all.waiters.push_back({own, this});
  }
  mutex_.lock();
  const std::lock_guard lock(all.mutex);
  const auto here = std::find_if(all.waiters.begin(), all.waiters.end(), [&](const waiter& w) {
    return w.works_for == own && w.wants == this;
  });
  *here = all.waiters.back();
  all.waiters.pop_back();
}

SHARDWISE_INLINE bool machine_turn::would_wait_for(
    const machine_turn* own, const internal::growable<waiter>& waiters) const {
  internal::growable<const machine_turn*> awaited{this};
  const auto is_awaited = [&](const machine_turn* turn) {
    return std::find(awaited.begin(), awaited.end(), turn) != awaited.end();
  };
  for (std::size_t before = 0; before != awaited.size();) {
    before = awaited.size();
    for (const waiter& w : waiters)
      if (!is_awaited(w.wants) && reaches(w.works_for, is_awaited)) awaited.push_back(w.wants);
  }
  return reaches(own, is_awaited);
}

}  // namespace shardwise
