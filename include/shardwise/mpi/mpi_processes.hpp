// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/mpi/mpi_carrier.hpp"
#include "shardwise/process/mapped_memory.hpp"
#include "shardwise/process/process_group.hpp"
#include "shardwise/process/spawn.hpp"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <string>
#include <thread>
#include <utility>

namespace shardwise {

/// The processes that a launcher of MPI has started together: how they begin, and how they end.
///
/// MPI is initialised when the processes are needed first, and ended when the program ends. A
/// process that ends without having needed them joins the others for a moment, so that they do not
/// wait for it in vain.
class mpi_processes {
 public:
  /// How long a process waits for the others to begin. At the end it waits for one that gives no
  /// sign of life as long as its most impatient pool.
  static constexpr std::chrono::milliseconds patience{60'000};

  /// Returns the processes; null if this one is alone.
  [[nodiscard]] static std::shared_ptr<process_group> start() {
    if (const auto failure = only().failure_) std::rethrow_exception(failure);
    return only().group_;
  }

  /// Makes the processes of MPI those of the program, during its lifetime.
  class registration {
   public:
    registration() noexcept { current_group::start() = &mpi_processes::start; }
    registration(const registration&) = delete;
    registration& operator=(const registration&) = delete;
    ~registration() {
      current_group::start() = nullptr;
      if (!has_begun() && mpi_carrier::is_wanted()) (void)only();
    }
  };

  mpi_processes(const mpi_processes&) = delete;
  mpi_processes& operator=(const mpi_processes&) = delete;

 private:
  mpi_processes() {
    has_begun() = true;
    if (!mpi_carrier::is_wanted()) return;
    const auto make_memory = [](index_t owners) -> std::unique_ptr<shared_memory> {
      return mapped_memory::create(owners);
    };
#if defined(__cpp_exceptions)
    try {
#endif
      carrier_ = mpi_carrier::open(make_memory, patience, [] { only().end(); });
      if (carrier_->owners() > 1) group_ = std::make_shared<process_group>(carrier_);
#if defined(__cpp_exceptions)
    } catch (...) {
      failure_ = std::current_exception();
    }
#endif
    if (group_ != nullptr) before_ = std::set_terminate(&mpi_processes::terminate);
  }
  ~mpi_processes() { end(); }

  [[nodiscard]] static mpi_processes& only() {
    static mpi_processes processes;
    return processes;
  }
  [[nodiscard]] static bool& has_begun() noexcept {
    static bool begun = false;
    return begun;
  }

  void end() noexcept {
    if (carrier_ == nullptr) return;
    if (group_ != nullptr) group_->leave("has left: its program has ended");
    std::string why;
    const auto ended = carrier_->end([&] {
      why = missing();
      return !why.empty();
    });
    if (ended == mpi_carrier::ending::all_came) return;
    if (ended == mpi_carrier::ending::some_never_come) {
      std::fprintf(stderr, "shardwise: process %d ends without the others: %s\n",
                   static_cast<int>(carrier_->self()), why.c_str());
      let_others_speak();
    } else {
      std::fprintf(stderr,
                   "shardwise: process %d ends with code 1: messages that nobody took remain\n",
                   static_cast<int>(carrier_->self()));
    }
    mpi_carrier::leave_at_once();
  }

  /// Says why another process will never come to the end; empty if it may.
  [[nodiscard]] std::string absence_of(index_t other) const {
    if (other == group_->index()) return {};
    const std::string name = "process " + std::to_string(other);
    if (group_->shares_memory(other) && group_->memory()->is_gone(other))
      return name + " no longer exists";
    if (const auto most = group_->patience(); group_->silence_of(other) >= most)
      return name + " has been silent for " + std::to_string(most.count()) + " ms";
    return {};
  }
  /// The same for the first such process.
  [[nodiscard]] std::string missing() const {
    std::string why;
    if (group_ == nullptr) return why;
    group_->listen();
    for (index_t other = 0; other < group_->count() && why.empty(); ++other)
      why = absence_of(other);
    return why;
  }

  /// Waits a moment for the others that still exist to say why they end: as soon as one process has
  /// ended, launchers kill the rest.
  void let_others_speak() const noexcept {
    const auto last = std::chrono::steady_clock::now() + std::chrono::milliseconds(500);
    const auto may_speak = [&](index_t other) {
      return other != group_->index() &&
             !group_->departed(other, process_group::every_channel, 1) && absence_of(other).empty();
    };
    for (index_t other = 0; other < group_->count(); ++other)
      while (may_speak(other) && std::chrono::steady_clock::now() < last) {
        group_->listen();
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
  }

  /// Says why this process ends, tells the others, and lets them do the same.
  [[noreturn]] static void terminate() {
    static std::atomic<bool> has_begun_to_end{false};
    mpi_processes& all = only();
    if (!has_begun_to_end.exchange(true)) {
      const std::string words = words_of(std::current_exception());
      std::fflush(stdout);
      std::fprintf(stderr, "shardwise: process %d ends: %s\n",
                   static_cast<int>(all.group_->index()), words.c_str());
      all.group_->leave("has left: " + words);
      all.carrier_->flush(std::chrono::milliseconds(100));
      all.let_others_speak();
    }
    if (all.before_ != nullptr) all.before_();
    std::abort();
  }
  [[nodiscard]] static std::string words_of(const std::exception_ptr& thrown) {
    std::string words = "std::terminate was called";
#if defined(__cpp_exceptions)
    if (!thrown) return words;
    try {
      std::rethrow_exception(thrown);
    } catch (const std::exception& failure) {
      words = failure.what();
    } catch (...) {
      words = "an exception that is not a std::exception";
    }
#endif
    return words;
  }

  std::shared_ptr<mpi_carrier> carrier_;
  std::shared_ptr<process_group> group_;
  std::exception_ptr failure_;
  std::terminate_handler before_ = nullptr;
};

/// Registers the processes in every program that includes this header.
inline const mpi_processes::registration mpi_registration;

}  // namespace shardwise
