// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/process/process_group.hpp"
#include "shardwise/process/thread_transport.hpp"

#include <cstddef>
#include <exception>
#include <memory>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace shardwise {

/// The processes that run this program together, as the calling thread sees them: those of
/// `spawn`, those of an MPI program, or this one alone. Null only if it is alone.
///
/// A library that starts processes sets `start`, which is called once, when they are needed first.
class current_group {
 public:
  using starter = std::shared_ptr<process_group> (*)();

  [[nodiscard]] static std::shared_ptr<process_group> get() {
    if (mine() != nullptr) return mine();
    return start() != nullptr ? start()() : nullptr;
  }
  [[nodiscard]] static starter& start() noexcept {
    static starter how = nullptr;
    return how;
  }

  /// Makes a group that of the calling thread, for the lifetime of this object.
  explicit current_group(std::shared_ptr<process_group> group)
      : before_(std::exchange(mine(), std::move(group))) {}
  current_group(const current_group&) = delete;
  current_group& operator=(const current_group&) = delete;
  ~current_group() { mine() = std::move(before_); }

 private:
  [[nodiscard]] static std::shared_ptr<process_group>& mine() noexcept {
    thread_local std::shared_ptr<process_group> group;
    return group;
  }

  std::shared_ptr<process_group> before_;
};

/// How `spawn` connects its owners.
struct spawn_options {
  /// False if they send messages, like processes on different hosts.
  bool shares_memory = true;
  /// The bytes of messages for which memory is there from the start; see `thread_hub`.
  std::size_t reserved = 0;
};

/// Calls `f()` in `n` threads, each of which is a process of its own to everything that asks for
/// the processes of a program, such as `distributed_pool`; returns what each has thrown.
///
///     spawn(2, [] {
///       auto pool = distributed_pool(pod{});      // half of the devices
///       std::cout << to_host(reshard<P<>>(sum(iota<X>(pool)))); // printed twice
///     });
template <class F>
[[nodiscard]] std::vector<std::exception_ptr> spawn_all(index_t n, const F& f,
                                                        spawn_options how = {}) {
  const auto hub = std::make_shared<thread_hub>(n, how.shares_memory, how.reserved);
  std::vector<std::shared_ptr<process_group>> groups;
  for (index_t i = 0; i < n; ++i)
    groups.push_back(std::make_shared<process_group>(std::make_shared<thread_transport>(hub, i)));
  std::vector<std::exception_ptr> thrown(static_cast<std::size_t>(n));
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < groups.size(); ++i)
    threads.emplace_back([&, i] {
      const std::shared_ptr<process_group> group = std::move(groups[i]);
      const current_group scope(group);
#if defined(__cpp_exceptions)
      try {
        f();
      } catch (const std::exception& failure) {
        thrown[i] = std::current_exception();
        group->leave(failure.what());
      } catch (...) {
        thrown[i] = std::current_exception();
        group->leave("an exception that is not a std::exception");
      }
#else
      f();
#endif
      group->leave("has left: its program has ended");
    });
  for (std::thread& thread : threads) thread.join();
  return thrown;
}

/// The same; the first exception is rethrown.
template <class F>
void spawn(index_t n, const F& f, spawn_options how = {}) {
  for (const std::exception_ptr& each : spawn_all(n, f, how))
    if (each) std::rethrow_exception(each);
}

}  // namespace shardwise
