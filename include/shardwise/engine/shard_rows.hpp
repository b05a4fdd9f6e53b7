// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/any_block.hpp"
#include "shardwise/layout/index_range.hpp"
#include "shardwise/pool/worker_team.hpp"

#include <algorithm>

namespace shardwise::internal {

/// One of several parts of a shard: some of its rows, the indices of the first dimension. Where a
/// value has fewer distinct shards than there are threads, such as a replicated parameter, several
/// threads compute the parts of one.
struct shard_rows {
  index_t part = 0;
  index_t parts = 1;

  [[nodiscard]] constexpr index_range of(index_t rows) const noexcept {
    return {rows * part / parts, rows * (part + 1) / parts};
  }
  /// Returns the rows of a block of one dimension or more.
  template <class Block>
  [[nodiscard]] Block in(Block block) const noexcept {
    const index_range rows = of(block.extents[0]);
    advance(block, rows.begin * block.strides[0]);
    block.extents[0] = rows.size();
    return block;
  }
};

/// Returns the number of parts of each of some shards, given the work of all of them (see
/// `small_work`): parts of little work are not worth a task.
[[nodiscard]] inline index_t parts_of_shards(const worker_team& team, index_t shards,
                                             index_t work) noexcept {
  const auto threads = static_cast<index_t>(team.threads());
  return std::clamp<index_t>(std::min(threads / std::max<index_t>(shards, 1), work / small_work), 1,
                             threads);
}

}  // namespace shardwise::internal
