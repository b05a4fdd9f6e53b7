// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/layout/shard.hpp"
#include "shardwise/mesh/device_owners.hpp"

namespace shardwise {

/// The owners of the devices that hold each distinct shard of a layout.
class shard_owners {
 public:
  constexpr shard_owners(const mesh_desc& mesh, const layout_desc& layout,
                         const device_owners& owners) noexcept
      : shards_(shards_of(mesh, layout)), owners_(owners) {}

  [[nodiscard]] constexpr index_t count() const noexcept { return shards_.size(); }
  [[nodiscard]] constexpr index_t shard_of(index_t device) const noexcept {
    return shards_.position_of(device);
  }
  [[nodiscard]] constexpr index_t device_of(index_t shard) const noexcept {
    return shards_.member(0, shard);
  }
  /// Returns the first device of an owner that holds a shard, or -1.
  [[nodiscard]] constexpr index_t holder(index_t shard, index_t owner) const noexcept {
    for (index_t replica = 0; replica < shards_.count(); ++replica)
      if (const index_t device = shards_.member(replica, shard); owners_.owner_of(device) == owner)
        return device;
    return -1;
  }
  /// Returns the owner that sends a shard to owners that do not hold it.
  [[nodiscard]] constexpr index_t keeper(index_t shard) const noexcept {
    return owners_.owner_of(device_of(shard));
  }

 private:
  device_groups shards_;
  device_owners owners_;
};

}  // namespace shardwise
