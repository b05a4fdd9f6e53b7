// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/runtime/whole_node.hpp"

#include <memory>
#include <span>
#include <utility>

namespace shardwise {

/// A further result of an operation with several results. It shares the memory that the operation
/// wrote, and is charged for it from then on.
class result_node : public pending_node {
 public:
  result_node(std::shared_ptr<pool_state> home, shard_table_ptr where,
              const element_kernels& elements, int which)
      : pending_node(std::move(home), std::move(where), elements, next_sequence()), which_(which) {}

  [[nodiscard]] value_id describe(described_program& to,
                                  std::span<const value_id> read) const override {
    return to.code().append(operation_of<result_operation>, result_operation::how(which_),
                            {read[0]}, tensor());
  }
  [[nodiscard]] std::int32_t instructions() const noexcept override { return 1; }
  [[nodiscard]] operation_cost cost() const noexcept override { return {}; }

  void prepare() override {
    auto& operation = static_cast<whole_node&>(*operands()[0]);
    share_memory(operation.further()[static_cast<std::size_t>(which_) - 1]);
    charge(home()->memory());
  }
  void run_shard(index_t) override {}

 private:
  int which_;
};

}  // namespace shardwise
