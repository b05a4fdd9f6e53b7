// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/index.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <vector>

namespace shardwise {

/// The tasks of a phase, assigned to threads: each thread first takes those of its own range and
/// then helps with the others.
///
/// So a task runs on the same core in every phase, with its data still in that core's cache, and a
/// late or slow thread does not delay the others.
class task_ranges {
 public:
  explicit task_ranges(unsigned threads) : ranges_(threads) {}

  /// Assigns the tasks [first, last); no thread may be working.
  void assign(index_t first, index_t last) noexcept {
    const index_t tasks = last - first;
    used_ = static_cast<std::size_t>(std::clamp(tasks, index_t{1}, size()));
    chunk_ = std::max(index_t{1}, tasks / (4 * size()));
    for (std::size_t i = 0; i < used_; ++i) {
      const auto part = static_cast<index_t>(i);
      const auto parts = static_cast<index_t>(used_);
      ranges_[i].next.store(first + tasks * part / parts, std::memory_order_relaxed);
      ranges_[i].end = first + tasks * (part + 1) / parts;
    }
  }

  /// Returns the number of threads to which tasks can be assigned.
  [[nodiscard]] std::size_t threads() const noexcept { return ranges_.size(); }
  /// Returns the number of threads with tasks of their own.
  [[nodiscard]] index_t useful_threads() const noexcept { return static_cast<index_t>(used_); }

  /// Takes tasks, several at a time, until none are left, and calls `work(from, to)` for them.
  template <class Work>
  void take_all(std::size_t thread, const Work& work) noexcept {
    for (std::size_t i = 0; i < used_; ++i) {
      range& tasks = ranges_[(thread + i) % used_];
      // Tested first: a needless addition would take the cache line from its owner.
      while (tasks.next.load(std::memory_order_relaxed) < tasks.end) {
        const index_t from = tasks.next.fetch_add(chunk_, std::memory_order_relaxed);
        if (from < tasks.end) work(from, std::min(from + chunk_, tasks.end));
      }
    }
  }

 private:
  // In a separate cache line: the counter of a range is mostly written by its own thread.
  struct alignas(64) range {
    std::atomic<index_t> next{0};
    index_t end = 0;
  };

  [[nodiscard]] index_t size() const noexcept { return static_cast<index_t>(ranges_.size()); }

  std::vector<range> ranges_;
  std::size_t used_ = 0;
  index_t chunk_ = 1;
};

}  // namespace shardwise
