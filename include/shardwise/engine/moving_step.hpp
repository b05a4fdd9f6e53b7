// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/engine/owner_work.hpp"
#include "shardwise/engine/shard_rows.hpp"
#include "shardwise/plan/collective_operation.hpp"
#include "shardwise/tensor/node.hpp"

#include <memory>

namespace shardwise::internal {

struct message_memory;

/// The work of a step in which devices read from each other's shards. A program of headers alone
/// contains collectives only if it makes nodes of some.
class moving_step {
 public:
  moving_step() = default;
  moving_step(const moving_step&) = delete;
  moving_step& operator=(const moving_step&) = delete;
  virtual ~moving_step() = default;

  /// Finds once, for many runs, which blocks are copied.
  virtual void prepare() = 0;
  /// Computes one distinct shard.
  virtual void run_shard(index_t shard) const = 0;
  /// Returns true if the rows of a shard may be computed apart.
  [[nodiscard]] virtual bool is_divisible() const noexcept = 0;
  /// Computes some rows of one distinct shard.
  virtual void run_rows(index_t shard, const shard_rows& rows) const = 0;
  /// Exchanges data with the other owners of the mesh, before the shards of each run.
  virtual void exchange(pool_state& home, message_memory& memory) = 0;
  /// Ends a run after its shards are computed: the other owners may change what this one has read.
  virtual void finish(pool_state& home) const = 0;
  /// The same after a failure: no other owner reads memory of this one any more.
  virtual void give_up(pool_state& home) const noexcept = 0;
};

/// Makes the work of a step that moves the elements of `source` to `result`, whose memory is
/// allocated before it runs. Both must outlive it.
using moving_step_maker = std::unique_ptr<moving_step> (*)(const applied_operation& does,
                                                           const tensor_node& source,
                                                           tensor_node& result);

inline void exchange_step(moving_step& of, pool_state& home, message_memory& memory) {
  of.exchange(home, memory);
}

}  // namespace shardwise::internal
