// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/growable.hpp"
#include "shardwise/engine/pool_state.hpp"
#include "shardwise/layout/shard_owners.hpp"
#include "shardwise/tensor/node.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace shardwise::internal {

/// All distinct shards of a computed tensor, on all owners of the mesh or on one: those of other
/// owners are received. All owners must do this together.
///
/// Throws `replicas_differ` if owners check what they have alike, and a shard differs.
class shards_of_all {
 public:
  explicit shards_of_all(const tensor_node& read, std::optional<index_t> reader = std::nullopt);

  /// Returns a distinct shard as a row-major block.
  [[nodiscard]] const_any_block block_of(index_t shard) const noexcept {
    const_any_block block = read_.block_of(shard);
    if (!read_.where().is_here(shard)) block.data = brought_[static_cast<std::size_t>(shard)];
    return block;
  }

  /// What the constructor does where there are other owners.
  void collect(pool_state& home);

 private:
  [[nodiscard]] bool is_for(index_t owner) const noexcept { return !reader_ || owner == *reader_; }
  /// Compares the shards that several owners have.
  void check_replicas(pool_state& home, const shard_owners& holders) const;
  /// Copies the shards of others that are in memory that this owner can read.
  void copy(pool_state& home, const shard_owners& holders);
  /// Receives the shards of others.
  void bring(pool_state& home, const shard_owners& holders);

  const tensor_node& read_;
  /// The only owner that needs the shards.
  std::optional<index_t> reader_;
  owner_link::bytes_by_owner received_;
  /// The shards received from other owners, by shard.
  growable<const std::byte*> brought_;
};

}  // namespace shardwise::internal

#if !defined(SHARDWISE_COMPILED)
#include "shardwise/engine/definitions.hpp"
#endif
