// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/checkpoint/checkpoint_writer_work.hpp"
#include "shardwise/data/ends_at_exit.hpp"
#include "shardwise/process/run_result.hpp"

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <ctime>
#include <functional>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

namespace shardwise::detail {

/// A save that a manager has begun: the part of this process and, on the first one, the index after
/// all parts. In the background it has a thread, which finds the parts of other processes by their
/// names in the folder, and exchanges no message.
class save_in_progress final : private internal::ends_at_exit {
 public:
  /// `committed` runs on the first process after the checkpoint has its name.
  save_in_progress(checkpoint_writer writer, bool in_background, std::function<void()> committed)
      : writer_(std::move(writer)), committed_(std::move(committed)) {
    if (in_background) {
      thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
      registered();
    } else {
      set_part(internal::result_of_run([&] { writer_.write_part({writer_.team()}); }));
    }
  }
  ~save_in_progress() {
    if (!thread_.joinable()) return;
    unregistered();
    thread_.request_stop();
  }

  [[nodiscard]] const checkpoint_writer& writer() const noexcept { return writer_; }
  /// Lets go of the tensors if nothing reads them any more.
  void release_if_written() {
    const std::lock_guard lock(mutex_);
    if (has_part_) writer_.release();
  }
  /// Returns true once the work of this process has ended.
  [[nodiscard]] bool is_over() {
    const std::lock_guard lock(mutex_);
    return thread_.joinable() ? is_over_ : has_part_;
  }
  /// Waits until this process has written its part, and returns how that went.
  [[nodiscard]] internal::run_result part() {
    std::unique_lock lock(mutex_);
    hurry();
    changed_.wait(lock, [&] { return has_part_; });
    return part_;
  }
  /// Waits, on the first process after the parts of all are there, for the end of the checkpoint.
  [[nodiscard]] internal::run_result end() {
    if (!writer_.is_first()) return {};
    if (!thread_.joinable()) return internal::result_of_run([&] { commit(); });
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return is_over_; });
    return end_;
  }
  /// Waits for the end at most so long; a checkpoint that is not complete then does not become so.
  void end_within(std::chrono::seconds most) {
    if (!thread_.joinable()) return;
    {
      std::unique_lock lock(mutex_);
      hurry();
      changed_.wait(lock, [&] { return has_part_; });
      changed_.wait_for(lock, most, [&] { return is_over_; });
    }
    cancel();
  }
  /// Gives up what is not complete, and waits until the thread has ended.
  void cancel() {
    if (!thread_.joinable()) return;
    unregistered();
    thread_.request_stop();
    thread_.join();
  }
  /// Returns what has failed in this process, after its end.
  [[nodiscard]] internal::run_result failure() {
    const std::lock_guard lock(mutex_);
    return part_.is_failure() ? part_ : end_;
  }

 private:
  /// While nobody waits, the thread works a seventh of the time at most: even on a core of its own
  /// it shares the memory with the training beside it.
  static constexpr int rest_for_work = 6;

  void rest(const std::stop_token& stop) {
    const std::chrono::nanoseconds now = cpu_time();
    std::unique_lock lock(mutex_);
    resting_.wait_for(lock, stop, rest_for_work * (now - worked_), [&] { return is_hurried_; });
    worked_ = cpu_time();
  }
  /// Returns the time for which the calling thread has had a core.
  [[nodiscard]] static std::chrono::nanoseconds cpu_time() noexcept {
    std::timespec now{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
  }
  void hurry() {
    is_hurried_ = true;
    resting_.notify_all();
  }
  void run(const std::stop_token& stop) {
    internal::run_result part = internal::result_of_run([&] {
      writer_.write_part({nullptr, [&] { rest(stop); }});
    });
    const bool is_written = !part.is_failure();
    set_part(std::move(part));
    internal::run_result end;
    if (is_written && writer_.is_first())
      end = internal::result_of_run([&] {
        if (waits_for_parts(stop)) commit();
      });
    const std::lock_guard lock(mutex_);
    end_ = std::move(end);
    is_over_ = true;
    changed_.notify_all();
  }
  [[nodiscard]] bool waits_for_parts(const std::stop_token& stop) {
    using namespace std::chrono_literals;
    while (!writer_.parts_are_there()) {
      std::unique_lock lock(mutex_);
      if (stop.stop_requested()) return false;
      (void)resting_.wait_for(lock, stop, 5ms, [] { return false; });
    }
    return true;
  }
  void commit() {
    writer_.commit();
    committed_();
  }
  void set_part(internal::run_result part) {
    const std::lock_guard lock(mutex_);
    part_ = std::move(part);
    has_part_ = true;
    changed_.notify_all();
  }
  /// `std::exit` waits for a save of one process, and tells a failure that nobody will see thrown.
  void end_at_exit() noexcept override {
    internal::run_quietly([&] {
      {
        std::unique_lock lock(mutex_);
        hurry();
        changed_.wait(lock, [&] { return has_part_; });
        changed_.wait_for(lock, std::chrono::seconds(10), [&] { return is_over_; });
      }
      thread_.request_stop();
      thread_.join();
      if (const internal::run_result how = failure(); how.is_failure())
        std::fprintf(stderr, "checkpoint %s: %s\n", writer_.folder().c_str(), how.words.c_str());
    });
  }

  checkpoint_writer writer_;
  std::function<void()> committed_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::condition_variable_any resting_;
  bool has_part_ = false, is_over_ = false, is_hurried_ = false;
  std::chrono::nanoseconds worked_{0};  ///< when the thread last rested, in its own time
  internal::run_result part_, end_;
  std::jthread thread_;  // the last member: it uses the others
};

}  // namespace shardwise::detail
