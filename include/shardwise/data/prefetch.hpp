// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/error.hpp"

#include <type_traits>
#include <utility>

namespace shardwise {

/// How far a loader reads ahead, by the names and with the defaults of PyTorch/XLA's
/// `ParallelLoader`; its `batchdim` is an argument of `batch`.
struct prefetch_options {
  /// The most batches that have been read and are not on the devices yet.
  index_t loader_prefetch_size = 8;
  /// The most batches that are on the devices and have not been received yet.
  index_t device_prefetch_size = 4;
  /// The threads that copy batches to the devices, beside the one that reads samples.
  index_t host_to_device_transfer_threads = 1;
  /// After so many batches everything that is pending in the pool is computed.
  index_t batches_per_execution = 1;
};

namespace detail {

struct prefetch_of_batches {
  prefetch_options options;

  template <class Loader>
    requires(!std::is_lvalue_reference_v<Loader>)
  &&requires(Loader loader) { std::move(loader).prefetched(prefetch_options()); }
  [[nodiscard]] friend auto operator|(Loader&& loader, const prefetch_of_batches& how) {
    return std::forward<Loader>(loader).prefetched(how.options);
  }
};

}  // namespace detail

/// Lets a loader read samples and copy them to the devices while steps run: one thread reads
/// samples, others copy batches, and the loop receives them in their order. Samples are computed by
/// one thread at a time. Queues of one batch suffice; throws `amount_is_out_of_range` for less.
///
///     samples | batch(32, last_batch::dropped) | distribute<X, Y>(pool) | prefetch()
[[nodiscard]] inline detail::prefetch_of_batches prefetch(const prefetch_options& options = {}) {
  const auto require_one = [](index_t amount, const char* name) {
    if (amount < 1)
      fail({.rule = violation::amount_is_out_of_range, .have = amount, .want = 1}, name);
  };
  require_one(options.loader_prefetch_size, "loader_prefetch_size");
  require_one(options.device_prefetch_size, "device_prefetch_size");
  require_one(options.host_to_device_transfer_threads, "host_to_device_transfer_threads");
  require_one(options.batches_per_execution, "batches_per_execution");
  return {options};
}

}  // namespace shardwise
