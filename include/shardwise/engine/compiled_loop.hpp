// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/engine/described_program.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <type_traits>

namespace shardwise {

class pending_node;

/// Several operations of a node that are compiled as one loop, in programs of headers alone: an
/// expression of the program, alone or before a reduction.
///
/// The functions depend on the type of the expression; its numbers are stored here.
class compiled_loop {
 public:
  /// What can be done with expressions of one type.
  struct functions {
    /// The number of operations.
    std::int32_t instructions;
    /// True for an elementwise pass.
    bool is_pass;
    /// Appends the operations to a program, unfused and in the order of evaluation, where `read`
    /// are the values of the node's operands.
    value_id (*describe)(described_program& to, std::span<const value_id> read,
                         const pending_node& of);
    /// Returns the cost for one device.
    operation_cost (*cost)(const pending_node& of);
    /// Computes one distinct shard of the node.
    void (*run)(pending_node& of, index_t shard);
  };

  compiled_loop() = default;
  /// `expression` is copied.
  template <class Expression>
  compiled_loop(const functions& does, const Expression& expression) : does_(&does) {
    static_assert(std::is_trivially_copyable_v<Expression>);
    std::byte* to = few_;
    if (sizeof(Expression) > sizeof few_) {
      more_.reset(new std::byte[sizeof(Expression)]);
      to = more_.get();
    }
    std::memcpy(to, &expression, sizeof(Expression));
  }

  explicit operator bool() const noexcept { return does_ != nullptr; }
  [[nodiscard]] const functions* operator->() const noexcept { return does_; }
  /// Returns the expression, which has the type that the functions are for.
  template <class Expression>
  [[nodiscard]] const Expression& as() const noexcept {
    const std::byte* const from = sizeof(Expression) > sizeof few_ ? more_.get() : few_;
    return *static_cast<const Expression*>(static_cast<const void*>(from));
  }

 private:
  const functions* does_ = nullptr;
  alignas(std::max_align_t) std::byte few_[32]{};
  std::shared_ptr<std::byte[]> more_;
};

}  // namespace shardwise
