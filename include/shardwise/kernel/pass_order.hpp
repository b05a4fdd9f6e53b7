// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/growable.hpp"
#include "shardwise/kernel/block_function.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>

namespace shardwise {

/// The computations of a pass, their order, and their buffers. Values are numbered: the same
/// function of the same values is one value, computed once.
///
///     tanh(a) * tanh(a) + 1: tanh(a) by itself, then the product and the sum as one chain
class pass_order {
 public:
  /// The maximum number of operands of a function.
  static constexpr std::size_t most_operands = 3;

  /// A value: the bytes of an element, the buffer that holds it, and whether only the step that
  /// computes it reads it.
  struct value {
    index_t bytes;
    int buffer = -1;
    bool is_local = false;
    /// The last call of which it is the latest operand, or -1.
    int last_reader = -1;
  };
  /// A value filled with a single number.
  struct constant {
    int slot;
    std::uint64_t bits;
  };
  /// An operand of a step and, in a chain, the link that reads or keeps it; -1 for none.
  struct operand {
    int slot;
    chain_link link = chain_link::first;
  };
  /// One function, or a chain of them.
  struct step {
    block_function function;
    bool is_chain;
    int result;
    std::size_t first_operand;
    std::size_t operands;
  };

  /// Adds a value that the pass reads.
  int read(index_t bytes);
  /// Adds a number of the given size in bytes.
  int number(std::uint64_t bits, index_t bytes);
  /// Adds the result of a function of values.
  int apply(const block_function& function, std::span<const int> operands, index_t bytes);
  /// Returns the number of calls of a function.
  [[nodiscard]] int calls(const block_function& function) const noexcept;

  /// Orders everything that the result of a function depends on.
  void close(int result);

  [[nodiscard]] const internal::growable<value>& values() const noexcept { return values_; }
  [[nodiscard]] const internal::growable<constant>& numbers() const noexcept { return numbers_; }
  /// Returns the steps in order; the last one computes the result.
  [[nodiscard]] const internal::growable<step>& steps() const noexcept { return steps_; }
  [[nodiscard]] std::span<const operand> operands(const step& of) const noexcept {
    return {operands_.data() + of.first_operand, of.operands};
  }
  /// Returns the number of buffers, and how many of them hold results of functions.
  [[nodiscard]] int buffers() const noexcept { return buffers_; }
  [[nodiscard]] int shared_buffers() const noexcept { return shared_; }

 private:
  struct call {
    block_function function;
    int operands[most_operands];
    int count;
    int result;
    /// The previous call with the same latest operand, or -1.
    int reader_before = -1;
    /// The operand, counted from 0, whose call this one continues as a link of its chain; -1 for
    /// none.
    int continues = -1;
    /// The number of links up to this call.
    int length = 1;
    /// True if its value is stored.
    bool is_stored = false;
  };

  [[nodiscard]] static constexpr std::size_t at(int number) noexcept {
    return static_cast<std::size_t>(number);
  }
  /// Returns the call that computes a value, or null.
  [[nodiscard]] call* maker(int slot) noexcept {
    return maker_[at(slot)] < 0 ? nullptr : &calls_[at(maker_[at(slot)])];
  }

  /// Decides which values are needed and which of them are stored: those that are read twice, or by
  /// a call that is not a link of a chain.
  void form_chains(int result);

  /// Lists the stored values, step by step. Consecutive chains are merged.
  void list_steps();
  /// The links of a chain from its first value to its last call.
  void list_links(const call& last);

  /// Finds the values that a chain keeps only for itself.
  void find_locals();

  /// Assigns a buffer to every stored value. Operands of the pass and numbers have separate
  /// buffers; the result of a step reuses that of an operand which no later step reads, or of
  /// another value that is no longer needed. Values that a chain keeps do not share a buffer with
  /// anything that it reads.
  void share_buffers();

  internal::growable<value> values_;
  internal::growable<int> leaves_;
  internal::growable<constant> numbers_;
  internal::growable<call> calls_;
  internal::growable<int> maker_;
  internal::growable<step> steps_;
  internal::growable<operand> operands_;
  int buffers_ = 0;
  int shared_ = 0;
};

}  // namespace shardwise

#if !defined(SHARDWISE_COMPILED)
#include "shardwise/kernel/pass_order_work.hpp"
#endif
