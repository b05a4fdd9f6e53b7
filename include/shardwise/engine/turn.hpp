// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/error.hpp"
#include "shardwise/core/growable.hpp"

#include <mutex>
#include <utility>

namespace shardwise {

/// The right to run a program on a machine: one thread at a time has it, as with a mutex.
///
/// A program waits for its device functions, which may run programs on other machines. If the
/// program that has the turn waits for the calling thread, directly or through programs of other
/// threads, waiting for the turn throws `pool_waits_for_itself`.
class machine_turn {
 public:
  machine_turn() = default;
  machine_turn(const machine_turn&) = delete;
  machine_turn& operator=(const machine_turn&) = delete;

  /// Waits for the turn, or throws if it would wait for ever.
  void lock();
  void unlock() noexcept {
    innermost() = outer_;
    mutex_.unlock();
  }

  /// Returns true if the program that has the turn waits for the calling thread: it called the
  /// device function that this thread runs, or an enclosing one.
  [[nodiscard]] bool waits_here() const noexcept;

  /// Returns the turn of the program whose device function the calling thread runs; null outside
  /// device functions.
  [[nodiscard]] static const machine_turn* current() noexcept { return innermost(); }

  /// Marks the calling thread, for the lifetime of this object, as running a device function of the
  /// program that holds `turn`.
  class worker {
   public:
    explicit worker(const machine_turn* turn) noexcept
        : before_(std::exchange(innermost(), turn)) {}
    worker(const worker&) = delete;
    worker& operator=(const worker&) = delete;
    ~worker() { innermost() = before_; }

   private:
    const machine_turn* before_;
  };

  /// Held by a thread that reads the state of a machine. It takes the turn; inside a device
  /// function of the program that has the turn, and that waits for this function, it excludes only
  /// other readers.
  class look {
   public:
    explicit look(machine_turn& at);
    look(const look&) = delete;
    look& operator=(const look&) = delete;
    ~look();

   private:
    machine_turn& at_;
    bool inside_;
  };

 private:
  /// A waiting thread: the turn that it works for, and the one that it waits for.
  struct waiter {
    const machine_turn* works_for;
    const machine_turn* wants;
  };
  struct waiting_room;

  [[nodiscard]] static const machine_turn*& innermost() noexcept {
    static thread_local const machine_turn* turn = nullptr;
    return turn;
  }
  [[nodiscard]] static waiting_room& room();
  /// Returns true if the predicate holds for a turn, or for one that its thread had before.
  template <class Such>
  [[nodiscard]] static bool reaches(const machine_turn* turn, const Such& such) noexcept;
  [[noreturn]] static void refuse() { fail({.rule = violation::pool_waits_for_itself}); }

  /// Waits in the shared list, unless the turn would never come. Every waiting thread is in the
  /// list, so the last thread that would complete a cycle sees all the others.
  void wait();
  /// Returns true if the holder of this turn waits, through others, for a thread that works for
  /// `own`.
  [[nodiscard]] bool would_wait_for(const machine_turn* own,
                                    const internal::growable<waiter>& waiters) const;

  std::mutex mutex_;
  std::mutex looking_;
  /// The turn that the holder of this one worked for before; also for threads that work for the
  /// holder.
  const machine_turn* outer_ = nullptr;
};

}  // namespace shardwise
