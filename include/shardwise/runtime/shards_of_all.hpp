// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/runtime/device_pool.hpp"
#include "shardwise/tensor/node.hpp"

#include <cstddef>
#include <vector>

namespace shardwise::internal {

/// All distinct shards of a computed tensor: if several processes own the mesh, those of other
/// processes are received; all owners must do this together.
class shards_of_all {
 public:
  explicit shards_of_all(const tensor_node& read);

  /// Returns a distinct shard as a row-major block.
  [[nodiscard]] const_any_block block_of(index_t shard) const noexcept {
    const_any_block block = read_.block_of(shard);
    if (!read_.where().is_here(shard)) block.data = brought_[static_cast<std::size_t>(shard)];
    return block;
  }

 private:
  void bring(pool_state& home);

  const tensor_node& read_;
  owner_link::bytes_by_owner received_;
  /// The shards received from other owners, by shard.
  std::vector<const std::byte*> brought_;
};

}  // namespace shardwise::internal

#if !defined(SHARDWISE_COMPILED)
#include "shardwise/runtime/shards_of_all_work.hpp"
#endif
