// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/runtime/collective_run.hpp"
#include "shardwise/runtime/computation.hpp"

#include <memory>
#include <span>
#include <utility>

namespace shardwise {

/// One collective: the devices of a group read from each other's shards.
class collective_node : public pending_node {
 public:
  collective_node(std::shared_ptr<pool_state> home, shard_table_ptr where,
                  const element_kernels& elements, const applied_operation& does,
                  const operation_cost& cost)
      : pending_node(std::move(home), std::move(where), elements, next_sequence()),
        does_(does),
        cost_(cost) {}

  [[nodiscard]] value_id describe(described_program& to,
                                  std::span<const value_id> read) const override {
    return to.code().append(*does_.what, does_.how, {read[0]}, tensor());
  }
  [[nodiscard]] std::int32_t instructions() const noexcept override { return 1; }
  [[nodiscard]] operation_cost cost() const noexcept override { return cost_; }

  void run_shard(index_t shard) override {
    internal::collective_run(does_, *operands()[0], *this).run_shard(shard);
  }

 private:
  applied_operation does_;
  operation_cost cost_;
};

}  // namespace shardwise
