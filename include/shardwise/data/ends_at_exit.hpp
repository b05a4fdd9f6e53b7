// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdlib>
#include <mutex>
#include <vector>

namespace shardwise::internal {

/// Something with threads that `std::exit` ends before the program's static objects are destroyed,
/// which these threads may use.
class ends_at_exit {
 public:
  ends_at_exit(const ends_at_exit&) = delete;
  ends_at_exit& operator=(const ends_at_exit&) = delete;

 protected:
  ends_at_exit() = default;
  ~ends_at_exit() = default;

  /// Ends the threads; called at most once, by the thread that ends the program.
  virtual void end_at_exit() noexcept = 0;

  void registered() {
    list& all = known();
    const std::lock_guard lock(all.mutex);
    all.items.push_back(this);
  }
  /// Must be called before anything is destroyed that `end_at_exit` uses.
  void unregistered() noexcept {
    list& all = known();
    const std::lock_guard lock(all.mutex);
    std::erase(all.items, this);
  }

 private:
  struct list {
    std::mutex mutex;
    std::vector<ends_at_exit*> items;
  };
  /// The list is never destroyed: threads may leave it during the exit.
  [[nodiscard]] static list& known() {
    static list& all = []() -> list& {
      auto* const made = new list;
      std::atexit([] {
        list& here = known();
        const std::lock_guard lock(here.mutex);
        for (ends_at_exit* each : here.items) each->end_at_exit();
        here.items.clear();
      });
      return *made;
    }();
    return all;
  }
};

}  // namespace shardwise::internal
