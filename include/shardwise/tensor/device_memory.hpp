// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/index.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <vector>

namespace shardwise {

/// The number of bytes that each logical device holds, and its peak.
///
/// Devices that share one replica in the memory of the process are each charged for it, like the
/// physical devices that they represent. Thread-safe.
class device_memory {
 public:
  explicit device_memory(index_t devices) : accounts_(static_cast<std::size_t>(devices)) {}

  /// Charges a device with `bytes`, or credits it if they are negative.
  void charge(index_t device, index_t bytes) noexcept {
    account& a = accounts_[static_cast<std::size_t>(device)];
    raise_peak(a, a.held.fetch_add(bytes) + bytes);
  }

  /// Returns the bytes that a device holds now.
  [[nodiscard]] index_t held(index_t device) const noexcept {
    return accounts_[static_cast<std::size_t>(device)].held.load(std::memory_order_relaxed);
  }
  /// Returns the peak bytes of a device.
  [[nodiscard]] index_t peak(index_t device) const noexcept {
    return accounts_[static_cast<std::size_t>(device)].peak.load(std::memory_order_relaxed);
  }
  /// Returns the peak bytes of any device.
  [[nodiscard]] index_t peak() const noexcept {
    index_t most = 0;
    for (const account& a : accounts_)
      most = std::max(most, a.peak.load(std::memory_order_relaxed));
    return most;
  }

  /// Starts a new measurement: every peak becomes the current value.
  void reset_peaks() noexcept {
    for (account& a : accounts_) {
      a.peak.store(0);
      // What is charged from now on raises the peak itself.
      raise_peak(a, a.held.load());
    }
  }

 private:
  // A cache line for each device: different threads charge different devices.
  struct alignas(64) account {
    std::atomic<index_t> held{0};
    std::atomic<index_t> peak{0};
  };

  static void raise_peak(account& a, index_t held) noexcept {
    index_t peak = a.peak.load();
    while (peak < held && !a.peak.compare_exchange_weak(peak, held)) {
    }
  }

  std::vector<account> accounts_;
};

}  // namespace shardwise
