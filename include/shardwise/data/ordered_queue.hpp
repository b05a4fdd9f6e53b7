// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/index.hpp"

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace shardwise::detail {

/// A queue of at most `capacity` items that are taken in the order of their numbers, from `first`
/// on, whichever thread puts them first.
template <class T>
class ordered_queue {
 public:
  struct entry {
    index_t number;
    T item;
  };

  ordered_queue(index_t first, index_t capacity)
      : next_(first), slots_(static_cast<std::size_t>(capacity)) {}

  /// Waits until there is room for this number, and puts its item; returns false after `end`.
  bool put(index_t number, T item) {
    std::unique_lock lock(mutex_);
    const auto capacity = static_cast<index_t>(slots_.size());
    has_room_.wait(lock, [&] { return is_ended_ || number < next_ + capacity; });
    if (is_ended_) return false;
    slot_of(number).emplace(std::move(item));
    has_item_.notify_all();
    return true;
  }
  /// Waits for the item of the next number, and takes it; returns nothing after `end`.
  [[nodiscard]] std::optional<entry> take() {
    std::unique_lock lock(mutex_);
    has_item_.wait(lock, [&] { return is_ended_ || slot_of(next_).has_value(); });
    if (is_ended_) return {};
    const index_t number = next_++;
    entry taken{number, *std::exchange(slot_of(number), std::nullopt)};
    const bool wakes = ++taken_since_ * 2 >= static_cast<index_t>(slots_.size());
    if (wakes) taken_since_ = 0;
    lock.unlock();
    // A thread that waits for room is woken when there is room for several items.
    if (wakes) has_room_.notify_all();
    // Another thread may wait for the number that follows.
    has_item_.notify_all();
    return taken;
  }
  /// Ends every wait, and drops what is in the queue.
  void end() {
    std::vector<std::optional<T>> dropped(slots_.size());
    const std::lock_guard lock(mutex_);
    is_ended_ = true;
    slots_.swap(dropped);
    has_room_.notify_all();
    has_item_.notify_all();
  }

 private:
  [[nodiscard]] std::optional<T>& slot_of(index_t number) noexcept {
    return slots_[static_cast<std::size_t>(number) % slots_.size()];
  }

  std::mutex mutex_;
  std::condition_variable has_room_, has_item_;
  index_t next_;
  index_t taken_since_ = 0;  // threads that wait for room were woken
  bool is_ended_ = false;
  std::vector<std::optional<T>> slots_;
};

}  // namespace shardwise::detail
