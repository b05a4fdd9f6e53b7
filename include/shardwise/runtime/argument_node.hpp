// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/runtime/computation.hpp"

#include <memory>
#include <span>
#include <utility>

namespace shardwise {

/// What stands for a tensor while a function of it is recorded whose gradient is taken: nothing
/// reads its elements.
class argument_node : public pending_node {
 public:
  explicit argument_node(node_ptr real)
      : pending_node(real->home(), real->share_where(), real->elements(), next_sequence()),
        real_(std::move(real)) {}

  [[nodiscard]] const node_ptr& real() const noexcept { return real_; }

  void evaluate() override { refuse(); }
  [[nodiscard]] value_id describe(described_program&, std::span<const value_id>) const override {
    refuse();
  }
  [[nodiscard]] std::int32_t instructions() const noexcept override { return 1; }
  [[nodiscard]] operation_cost cost() const noexcept override { return {}; }
  void run_shard(index_t) override { refuse(); }

 private:
  [[noreturn]] static void refuse() { fail({.rule = broken::value_is_being_differentiated}); }

  node_ptr real_;
};

}  // namespace shardwise
