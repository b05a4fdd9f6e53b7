// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/data/ends_at_exit.hpp"
#include "shardwise/data/gathered_batch.hpp"
#include "shardwise/data/ordered_queue.hpp"
#include "shardwise/data/prefetch.hpp"
#include "shardwise/engine/run_program.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <optional>
#include <span>
#include <thread>
#include <utility>
#include <vector>

namespace shardwise {

/// What a loader has given to its loops.
struct loader_progress {
  index_t batches = 0;
  /// The bytes of the tensors of these batches, each counted once.
  index_t bytes = 0;
  /// The time that loops have waited for batches.
  std::chrono::nanoseconds waited{};
};

namespace detail {

/// What a loader is, and how far it has come. A pass refers to it.
template <class Stream, class Tensors>
struct loader_job {
  loader_job(Stream of, const epoch_plan& how, Tensors to)
      : samples(std::move(of)), plan(how), tensors(std::move(to)), state{.plan = how} {}

  void resume(const loader_state& from) {
    if (is_running)
      fail({.rule = violation::loader_state_differs},
           "a pass over the loader has begun: resume before the loop, or after it");
    require(check_resumed(plan, from));
    state = from;
    end_full_epoch();
    is_resumed = true;
  }
  /// After its last batch an epoch is over.
  void end_full_epoch() noexcept {
    if (state.batches < plan.batches()) return;
    ++state.epoch;
    state.batches = 0;
  }
  [[nodiscard]] loader_progress progress() const noexcept {
    return {batches.load(std::memory_order_relaxed), bytes.load(std::memory_order_relaxed),
            std::chrono::nanoseconds(waited.load(std::memory_order_relaxed))};
  }

  Stream samples;
  epoch_plan plan;
  Tensors tensors;
  std::optional<prefetch_options> ahead{};
  loader_state state;
  bool is_running = false, is_resumed = false;
  std::atomic<index_t> batches{0}, bytes{0};
  std::atomic<std::chrono::nanoseconds::rep> waited{0};
};

/// A value, or the exception in its place.
template <class T>
struct outcome {
  std::optional<T> value{};
  std::exception_ptr thrown{};

  template <class F>
  [[nodiscard]] static outcome of(const F& f) noexcept {
    outcome made;
#if defined(__cpp_exceptions)
    try {
      made.value.emplace(f());
    } catch (...) {
      made.thrown = std::current_exception();
    }
#else
    made.value.emplace(f());
#endif
    return made;
  }
};

/// The threads that read an epoch ahead of its loop.
template <class Stream, class Tensors>
class epoch_pass final : private internal::ends_at_exit {
 public:
  using value = typename Tensors::value;

  explicit epoch_pass(loader_job<Stream, Tensors>& of)
      : job_(of),
        ahead_(of.ahead.value_or(prefetch_options{})),
        gathered_(first_number(of), ahead_.loader_prefetch_size),
        made_(of.state.batches, ahead_.device_prefetch_size),
        order_(of.plan.order(of.state.epoch)),
        epoch_(of.state.epoch),
        next_(of.state.batches) {
    job_.is_running = true;
    internal::run_guarded([&] { start(); },
                          [&](const std::exception_ptr&) {
                            // The next loop begins where this one would have.
                            job_.is_resumed = job_.state.batches > 0;
                            finish();
                          });
  }
  epoch_pass(const epoch_pass&) = delete;
  epoch_pass& operator=(const epoch_pass&) = delete;
  ~epoch_pass() { finish(); }

  [[nodiscard]] bool has_batch() const noexcept { return batch_.has_value(); }
  [[nodiscard]] value& batch() noexcept { return *batch_; }

  /// Receives the next batch, or nothing at the end of the epoch.
  void advance() {
    batch_.reset();
    if (job_.ahead && received_ > 0 && received_ % ahead_.batches_per_execution == 0)
      run_pending(*home());
    if (next_ == job_.plan.batches()) return;
    const auto since = std::chrono::steady_clock::now();
    outcome<value> got = threads_.empty() ? make(gather(next_)) : take();
    job_.waited.fetch_add((std::chrono::steady_clock::now() - since).count(),
                          std::memory_order_relaxed);
    if (got.thrown) {
      next_ = job_.plan.batches();
      end_threads();
      std::rethrow_exception(got.thrown);
    }
    batch_ = std::move(got.value);
    ++next_;
    ++received_;
    ++job_.state.batches;
    job_.end_full_epoch();
    count();
  }

 private:
  using gathered = outcome<gathered_batch<Stream>>;

  [[nodiscard]] static index_t first_number(loader_job<Stream, Tensors>& of) {
    if (of.is_running)
      fail({.rule = violation::loader_state_differs},
           "another pass over the loader has not ended: its iterator still exists");
    // A loop that was left has received a part of its epoch.
    if (!std::exchange(of.is_resumed, false) && of.state.batches > 0) {
      ++of.state.epoch;
      of.state.batches = 0;
    }
    return of.state.batches;
  }
  [[nodiscard]] const std::shared_ptr<pool_state>& home() const noexcept {
    return job_.tensors.layouts().home();
  }

  void start() {
    if (job_.plan.batches() == 0) {
      ++job_.state.epoch;
      return;
    }
    if (job_.ahead) start_threads();
    advance();
  }
  void start_threads() {
    registered();
    threads_.reserve(static_cast<std::size_t>(ahead_.host_to_device_transfer_threads) + 1);
    threads_.emplace_back([this, first = next_] {
      for (index_t number = first; number < job_.plan.batches(); ++number) {
        gathered read = gather(number);
        const bool is_last = read.thrown != nullptr;
        if (!gathered_.put(number, std::move(read)) || is_last) return;
      }
    });
    for (index_t t = 0; t < ahead_.host_to_device_transfer_threads; ++t)
      threads_.emplace_back([this] {
        while (auto read = gathered_.take())
          if (!made_.put(read->number, make(std::move(read->item)))) return;
      });
  }
  void end_threads() noexcept {
    gathered_.end();
    made_.end();
    for (std::jthread& each : threads_)
      if (each.joinable() && each.get_id() != std::this_thread::get_id()) each.join();
  }
  void finish() noexcept {
    unregistered();
    end_threads();
    job_.is_running = false;
  }
  void end_at_exit() noexcept override { end_threads(); }

  /// Reads the samples of a batch.
  [[nodiscard]] gathered gather(index_t number) const {
    return gathered::of([&] {
      gathered_batch<Stream> batch{number, job_.plan.rows(number)};
      const auto rows = static_cast<std::size_t>(batch.rows);
      std::vector<index_t> indices(rows);
      const index_t first = number * job_.plan.batch;
      if (order_)
        order_->items(first, indices);
      else
        for (std::size_t r = 0; r < rows; ++r) indices[r] = first + static_cast<index_t>(r);
      const std::vector<bool> needed = job_.tensors.layouts().needed(job_.plan.padded_rows(number));
      batch.samples.resize(rows);
      for (std::size_t r = 0; r < rows; ++r)
        if (needed[r]) batch.samples[r].emplace(job_.samples, epoch_, indices[r]);
      return batch;
    });
  }
  /// Copies a batch to the devices.
  [[nodiscard]] outcome<value> make(gathered read) const {
    if (read.thrown) return {.thrown = read.thrown};
    return outcome<value>::of([&] { return job_.tensors.make(*read.value, job_.plan); });
  }
  [[nodiscard]] outcome<value> take() {
    auto got = made_.take();
    // Only `end`, at the exit of the program, leaves the queue without its next batch.
    if (!got) fail({.rule = violation::loader_state_differs}, "the program is ending");
    return std::move(got->item);
  }
  /// Counts what has been received, and gives it the numbers that owners compare.
  void count() {
    index_t bytes = 0;
    Tensors::for_each_node(*batch_, [&](const node_ptr& node) {
      if (home()->link() != nullptr) node->set_origin(home()->next_origin());
      bytes += element_count(node->tensor().extents) * size_of(node->tensor().type);
    });
    job_.bytes.fetch_add(bytes, std::memory_order_relaxed);
    job_.batches.fetch_add(1, std::memory_order_relaxed);
  }

  loader_job<Stream, Tensors>& job_;
  prefetch_options ahead_;
  ordered_queue<gathered> gathered_;
  ordered_queue<outcome<value>> made_;
  std::optional<index_permutation> order_;
  std::uint64_t epoch_;
  index_t next_;
  index_t received_ = 0;
  std::optional<value> batch_;
  std::vector<std::jthread> threads_;
};

}  // namespace detail
}  // namespace shardwise
