// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/error.hpp"
#include "shardwise/plan/pieces.hpp"
#include "shardwise/process/process_group.hpp"

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace shardwise {

/// Another owner of the mesh has failed, or has been silent for too long: `owner 1: device 3: ...`.
/// Values that need its shards can no longer be computed.
class owner_error : public std::runtime_error {
 public:
  owner_error(index_t owner, const std::string& words);

  /// Returns the number of the owner that failed.
  [[nodiscard]] index_t owner() const noexcept { return owner_; }

 private:
  index_t owner_;
};

/// How a process shares the devices of a mesh with others.
///
///     device_pool mine(pod{}, owner_share{.owner_of = owners_in_turn(8, 2), .group = processes});
struct owner_share {
  /// The owner of each device, by device. Every owner has at least one.
  std::vector<index_t> owner_of{};
  /// The processes that own devices, of which this is one.
  std::shared_ptr<process_group> group{};
  /// How long an owner may give no sign of life while another one waits for it.
  std::chrono::milliseconds patience{60'000};
  /// The maximum size of a message in bytes, and the maximum number of messages in flight to one
  /// owner; each at least 1.
  ///
  /// MPIs send small messages at once, up to 64 KiB in Open MPI over TCP, and ask before a large
  /// one. What is asked and answered waits behind the data on the same connection, so that owners
  /// that send large messages to each other take turns, in twice the time.
  index_t message_bytes = 60_KiB;
  index_t in_flight = 16;
  /// The most bytes that an owner receives in an all_reduce of one round; see `crossing_rules`.
  index_t one_round_bytes = crossing_rules{}.one_round_bytes;
  /// True if owners of one host read each other's shards in memory that all of them map, where the
  /// host permits it.
  bool shares_memory = true;
  /// True if owners compare what they must have alike: the data that each gives to `distribute`,
  /// and replicas when they are read.
  bool checks = false;
};

/// Returns the owner of each device in contiguous blocks: devices are in the order of their
/// numbers, and the first owner gets the first ones.
[[nodiscard]] std::vector<index_t> owners_in_blocks(index_t devices, index_t owners);
/// Returns the owner of each device, distributed round-robin.
[[nodiscard]] std::vector<index_t> owners_in_turn(index_t devices, index_t owners);

/// The data exchanged between this owner and the others since the last reset.
struct owner_traffic {
  /// The bytes of tensors' elements in messages.
  index_t bytes_sent = 0;
  index_t bytes_received = 0;
  /// Those of the bytes received that came from other hosts.
  index_t bytes_from_hosts = 0;
  /// The bytes of tensors' elements that this owner has read in the memory of others.
  index_t bytes_read = 0;
  /// The number of times that owners compared what they had run.
  index_t agreements = 0;

  friend bool operator==(const owner_traffic&, const owner_traffic&) = default;
};

}  // namespace shardwise

#if !defined(SHARDWISE_COMPILED)
#include "shardwise/process/owner_share_work.hpp"
#endif
