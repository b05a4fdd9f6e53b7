// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/process/owner_link.hpp"

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace shardwise::internal {

/// How the processes of a group exchange values of host code: with an `owner_link` of their own,
/// for which each process is one device. So a process that has left, has died, waits elsewhere or
/// exchanges something else is found as in a pool. Thread-safe.
class host_exchange {
 public:
  /// The bytes that each process gives, by its index.
  using payloads = std::vector<std::string>;
  static constexpr std::chrono::milliseconds for_ever = std::chrono::milliseconds::max();

  explicit host_exchange(process_group& group);
  /// Returns the exchange of a group, which the first call makes.
  [[nodiscard]] static host_exchange& of(process_group& group);

  /// Gives `mine` to all processes and returns what all have given, once all have come to this
  /// name. If all give the same number of bytes, `is_sized`, that takes one round and not two.
  [[nodiscard]] payloads all(std::string_view name, std::string mine, bool is_sized = false,
                             std::chrono::milliseconds within = for_ever);

 private:
  std::mutex mutex_;
  owner_link link_;
};

/// Returns what all processes of the calling thread have given under a name; if there is one
/// process, `mine`.
[[nodiscard]] host_exchange::payloads all_of_host(
    std::string_view name, std::string mine, bool is_sized = false,
    std::chrono::milliseconds within = host_exchange::for_ever);

}  // namespace shardwise::internal

#if !defined(SHARDWISE_COMPILED)
#include "shardwise/process/host_exchange_work.hpp"
#endif
