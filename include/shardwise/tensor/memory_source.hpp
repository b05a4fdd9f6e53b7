// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>

namespace shardwise {

/// Where an arena gets its memory from, if not from the system: such as a file that other processes
/// of the host map. Thread-safe.
class memory_source {
 public:
  memory_source() = default;
  memory_source(const memory_source&) = delete;
  memory_source& operator=(const memory_source&) = delete;
  virtual ~memory_source() = default;

  /// Returns memory of this size, aligned like a shard (to `shard_alignment`, and to `huge_page`
  /// from that size on); null if there is none.
  [[nodiscard]] virtual void* take(std::size_t bytes) noexcept = 0;
  /// Takes back a block of this size.
  virtual void give_back(void* block, std::size_t bytes) noexcept = 0;
};

}  // namespace shardwise
