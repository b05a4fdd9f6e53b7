// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/arithmetic.hpp"
#include "shardwise/runtime/each_node.hpp"

#include <memory>
#include <span>
#include <utility>

namespace shardwise {

/// A pending tensor filled with one number.
class fill_node : public pending_node {
 public:
  fill_node(std::shared_ptr<pool_state> home, shard_table_ptr where,
            const element_kernels& elements, const attributes& value,
            const operation_kernel& identity)
      : pending_node(std::move(home), std::move(where), elements, next_sequence()),
        value_(value),
        identity_(identity) {}

  [[nodiscard]] value_id describe(described_program& to, std::span<const value_id>) const override {
    const value_id filled =
        to.code().append(operation_of<constant_operation>, value_, {}, tensor());
    return to.computed_by(
        to.code().append(operation_of<pointwise<functions::identity>>, {}, {filled}, tensor()),
        identity_);
  }
  [[nodiscard]] std::int32_t instructions() const noexcept override { return 2; }
  [[nodiscard]] bool is_pass() const noexcept override { return true; }
  [[nodiscard]] operation_cost cost() const noexcept override { return {}; }

  void run_shard(index_t shard) override {
    internal::with_number(value_, tensor().type, [&](auto filled) {
      constexpr index_t some = 256;
      decltype(filled) values[some];
      for (auto& each : values) each = filled;
      const index_t size = where().size_of_shard(shard);
      std::byte* const to = writable_data<std::byte>(shard);
      for (index_t done = 0; done < size; done += some)
        elements().store(values, size - done < some ? size - done : some,
                         to + done * size_of(tensor().type));
    });
  }

 private:
  attributes value_;
  operation_kernel identity_;
};

}  // namespace shardwise
