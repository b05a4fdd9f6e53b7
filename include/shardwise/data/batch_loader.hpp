// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/data/batch_tensors.hpp"
#include "shardwise/data/epoch_pass.hpp"

#include <cstddef>
#include <iterator>
#include <memory>
#include <utility>

namespace shardwise {

/// A data set as batches of tensors on devices: each pass is an epoch, whose order depends on the
/// key of `shuffle` and the number of the epoch only. The result of `distribute` and `prefetch`.
///
///     for (auto&& [x, y] : loader) loss = train(model, state, rate, x, y);
///
/// A loop that is left early ends its pass, with all of its threads, and the next loop is the next
/// epoch. An exception of the data set arrives at the batch of its sample.
template <class Stream, class Tensors>
class batch_loader {
  using pass = detail::epoch_pass<Stream, Tensors>;

 public:
  /// What a loop receives: one tensor, a tuple of them, or a map.
  using value_type = typename Tensors::value;

  batch_loader(Stream samples, const epoch_plan& plan, Tensors tensors)
      : job_(std::make_unique<detail::loader_job<Stream, Tensors>>(std::move(samples), plan,
                                                                   std::move(tensors))) {}

  /// A pass over one epoch, which it ends when it is destroyed.
  class iterator {
   public:
    using value_type = typename Tensors::value;
    using difference_type = std::ptrdiff_t;
    using iterator_concept = std::input_iterator_tag;

    iterator() = default;
    explicit iterator(std::unique_ptr<pass> of) : pass_(std::move(of)) {}

    [[nodiscard]] value_type& operator*() const noexcept { return pass_->batch(); }
    iterator& operator++() {
      pass_->advance();
      return *this;
    }
    void operator++(int) { pass_->advance(); }
    friend bool operator==(const iterator& at, std::default_sentinel_t) noexcept {
      return at.pass_ == nullptr || !at.pass_->has_batch();
    }

   private:
    std::unique_ptr<pass> pass_;
  };

  /// Begins the pass of the next epoch, or goes on with the one of the state that was resumed.
  /// Throws `loader_state_differs` if another pass has not ended.
  [[nodiscard]] iterator begin() { return iterator(std::make_unique<pass>(*job_)); }
  [[nodiscard]] std::default_sentinel_t end() const noexcept { return {}; }

  /// Returns the number of batches in an epoch.
  [[nodiscard]] index_t size() const noexcept { return job_->plan.batches(); }
  /// Returns the epoch, and the batches of it that loops have received: what is prefetched does not
  /// count. After the last batch it is the begin of the next epoch.
  [[nodiscard]] loader_state state() const noexcept { return job_->state; }
  /// Goes on from a state, which a loader on another mesh, or in another number of processes, may
  /// have returned. Throws `loader_state_differs` if it belongs to other samples, batches or
  /// another order, or if a pass has begun.
  void resume(const loader_state& from) { job_->resume(from); }
  /// Returns what has been received; also while another thread runs the loop.
  [[nodiscard]] loader_progress progress() const noexcept { return job_->progress(); }

  /// Reads batches ahead of the loop.
  [[nodiscard]] batch_loader prefetched(const prefetch_options& options) && {
    job_->ahead = options;
    return std::move(*this);
  }

 private:
  std::unique_ptr<detail::loader_job<Stream, Tensors>> job_;
};

}  // namespace shardwise
