// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/runtime/computation.hpp"

#include <memory>
#include <span>
#include <utility>

namespace shardwise {

/// Represents an argument of a function while the function is recorded, for a gradient or a
/// compiled step. It has no elements, so reading it, or a value that depends on it, is an error.
class argument_node : public pending_node {
 public:
  explicit argument_node(const tensor_node& real) : argument_node(real, real.share_where()) {}
  argument_node(const tensor_node& like, shard_table_ptr where)
      : pending_node(like.home(), std::move(where), like.elements(), next_sequence()) {}

  void evaluate() override { refuse(); }
  [[nodiscard]] value_id describe(described_program&, std::span<const value_id>) const override {
    refuse();
  }
  [[nodiscard]] std::int32_t instructions() const noexcept override { return 1; }
  [[nodiscard]] operation_cost cost() const noexcept override { return {}; }
  [[nodiscard]] bool is_argument() const noexcept override { return true; }
  void run_shard(index_t) override { refuse(); }

 private:
  [[noreturn]] static void refuse() { fail({.rule = violation::value_is_being_differentiated}); }
};

}  // namespace shardwise
