// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/block_function.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

namespace shardwise {

/// What a pass computes, in which order, and in which buffers. Values are numbered: the same
/// function of the same values is one value, computed once.
///
///     tanh(a) * tanh(a) + 1: tanh(a) by itself, then the product and the sum as one chain
class pass_order {
 public:
  /// The most operands of a function.
  static constexpr std::size_t most_operands = 3;

  /// A value: the bytes of an element, the buffer that holds it, and the only step that reads it if
  /// that makes it too.
  struct value {
    index_t bytes;
    int buffer = -1;
    bool is_local = false;
    /// The last call of which it is the first operand, or -1.
    int last_reader = -1;
  };
  /// A value that is the same number throughout.
  struct constant {
    int slot;
    std::uint64_t bits;
  };
  /// An operand of a step, and in a chain the link that reads or keeps it; -1 is no operand.
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

  /// A value that the pass reads.
  int read(index_t bytes);
  /// A number of so many bytes.
  int number(std::uint64_t bits, index_t bytes);
  /// What a function gives of values.
  int apply(const block_function& function, std::span<const int> operands, index_t bytes);
  /// How often a function is called.
  [[nodiscard]] int calls(const block_function& function) const noexcept;

  /// Orders everything that a value, which some function gives, is made of.
  void close(int result);

  [[nodiscard]] const std::vector<value>& values() const noexcept { return values_; }
  [[nodiscard]] const std::vector<constant>& numbers() const noexcept { return numbers_; }
  /// The steps in order; the last one gives the result.
  [[nodiscard]] const std::vector<step>& steps() const noexcept { return steps_; }
  [[nodiscard]] std::span<const operand> operands(const step& of) const noexcept {
    return {operands_.data() + of.first_operand, of.operands};
  }
  /// The number of buffers, and how many of them hold results of functions.
  [[nodiscard]] int buffers() const noexcept { return buffers_; }
  [[nodiscard]] int shared_buffers() const noexcept { return shared_; }

 private:
  struct call {
    block_function function;
    int operands[most_operands];
    int count;
    int result;
    /// The call before this one with the same first operand, or -1.
    int reader_before = -1;
    /// The operand, from 0, whose call this one continues as a link of its chain; -1 for none.
    int continues = -1;
    /// How many links end with this call.
    int length = 1;
    /// True if it gives a value that is stored.
    bool is_stored = false;
  };

  [[nodiscard]] static constexpr std::size_t at(int number) noexcept {
    return static_cast<std::size_t>(number);
  }
  /// The call that gives a value, or null.
  [[nodiscard]] call* maker(int slot) noexcept {
    return maker_[at(slot)] < 0 ? nullptr : &calls_[at(maker_[at(slot)])];
  }

  /// Decides which values are needed and which of them are stored: those that are read twice, or by
  /// what is no link of a chain.
  void form_chains(int result);

  /// Lists what is stored, step by step. Chains that follow each other are one.
  void list_steps();
  /// The links of a chain from its first value to its last call.
  void list_links(const call& last);

  /// Finds what a chain keeps for itself alone.
  void find_locals();

  /// Gives every value that is stored a buffer: what is read and numbers have one each; the result
  /// of a step takes that of an operand which nothing reads after it, or of another value that is
  /// not needed any more. What a chain keeps is apart from all that it reads.
  void share_buffers();

  std::vector<value> values_;
  std::vector<int> leaves_;
  std::vector<constant> numbers_;
  std::vector<call> calls_;
  std::vector<int> maker_;
  std::vector<step> steps_;
  std::vector<operand> operands_;
  int buffers_ = 0;
  int shared_ = 0;
};

}  // namespace shardwise

#if !defined(SHARDWISE_COMPILED)
#include "shardwise/kernel/pass_order_work.hpp"
#endif
