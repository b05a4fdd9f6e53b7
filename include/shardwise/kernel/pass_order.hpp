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
  int read(index_t bytes) {
    values_.push_back({bytes});
    leaves_.push_back(static_cast<int>(values_.size()) - 1);
    return leaves_.back();
  }
  /// A number of so many bytes.
  int number(std::uint64_t bits, index_t bytes) {
    for (const constant& known : numbers_)
      if (known.bits == bits && values_[at(known.slot)].bytes == bytes) return known.slot;
    values_.push_back({bytes});
    numbers_.push_back({static_cast<int>(values_.size()) - 1, bits});
    return numbers_.back().slot;
  }
  /// What a function gives of values.
  int apply(const block_function& function, std::span<const int> operands, index_t bytes) {
    // Passes may be long, so only calls with the same first operand are compared.
    for (int i = values_[at(operands[0])].last_reader; i >= 0; i = calls_[at(i)].reader_before) {
      const call& known = calls_[at(i)];
      if (known.function == function && std::equal(operands.begin(), operands.end(), known.operands,
                                                   known.operands + known.count))
        return known.result;
    }
    values_.push_back({bytes});
    call next{
        function, {}, static_cast<int>(operands.size()), static_cast<int>(values_.size()) - 1};
    std::copy(operands.begin(), operands.end(), next.operands);
    next.reader_before =
        std::exchange(values_[at(operands[0])].last_reader, static_cast<int>(calls_.size()));
    calls_.push_back(next);
    return next.result;
  }
  /// How often a function is called.
  [[nodiscard]] int calls(const block_function& function) const noexcept {
    return static_cast<int>(std::count_if(
        calls_.begin(), calls_.end(), [&](const call& one) { return one.function == function; }));
  }

  /// Orders everything that a value, which some function gives, is made of.
  void close(int result) {
    form_chains(result);
    list_steps();
    find_locals();
    share_buffers();
  }

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
  void form_chains(int result) {
    maker_.assign(values_.size(), -1);
    std::vector<int> readers(values_.size(), 0);
    for (std::size_t i = 0; i < calls_.size(); ++i)
      maker_[at(calls_[i].result)] = static_cast<int>(i);
    readers[at(result)] = 1;
    for (auto one = calls_.rbegin(); one != calls_.rend(); ++one)
      if (readers[at(one->result)] > 0)
        for (int k = 0; k < one->count; ++k) ++readers[at(one->operands[k])];
    for (call& one : calls_) {
      one.is_stored = readers[at(one.result)] > 0;
      if (!one.is_stored || one.function.chain == nullptr) continue;
      // Of two operands that end chains the later one, whose own operands are read next.
      call* before = nullptr;
      for (int k = 0; k < one.count; ++k) {
        call* const made = maker(one.operands[k]);
        if (made == nullptr || made->function.chain != one.function.chain ||
            readers[at(made->result)] != 1 || made->length + 2 > most_chain_links ||
            (before != nullptr && made < before))
          continue;
        before = made;
        one.continues = k;
      }
      if (before == nullptr) continue;
      before->is_stored = false;
      one.length = before->length + 1;
    }
  }

  /// Lists what is stored, step by step. Chains that follow each other are one.
  void list_steps() {
    for (call& last : calls_) {
      if (!last.is_stored) continue;
      const std::size_t first = operands_.size();
      const bool is_chain = last.function.chain != nullptr;
      if (is_chain)
        list_links(last);
      else
        for (int k = 0; k < last.count; ++k) operands_.push_back({last.operands[k]});
      const std::size_t count = operands_.size() - first;
      if (is_chain && !steps_.empty() && steps_.back().is_chain &&
          steps_.back().function.chain == last.function.chain &&
          steps_.back().operands + 1 + count <= std::size_t{most_chain_links}) {
        step& longer = steps_.back();
        const auto begin = operands_.begin() + static_cast<std::ptrdiff_t>(first);
        // What is kept is still the value so far.
        if (begin->slot == longer.result)
          begin->link = chain_link::keep;
        else
          operands_.insert(begin, {longer.result, chain_link::keep});
        longer.operands = operands_.size() - longer.first_operand;
        longer.result = last.result;
        continue;
      }
      steps_.push_back({last.function, is_chain, last.result, first, count});
    }
    // A function alone is no chain.
    for (step& one : steps_) {
      if (!one.is_chain || one.operands > 2) continue;
      one.is_chain = false;
      if (operands_[one.first_operand + 1].slot < 0) --one.operands;
    }
  }
  /// The links of a chain from its first value to its last call.
  void list_links(const call& last) {
    const std::size_t first = operands_.size();
    for (const call* one = &last; one != nullptr;) {
      const int before = std::max(one->continues, 0);
      const int other = one->count == 2 ? one->operands[1 - before] : -1;
      operands_.push_back({other, before == 1 ? reversed(one->function.link) : one->function.link});
      if (one->continues < 0) {
        operands_.push_back({one->operands[0]});
        break;
      }
      one = maker(one->operands[before]);
    }
    std::reverse(operands_.begin() + static_cast<std::ptrdiff_t>(first), operands_.end());
  }

  /// Finds what a chain keeps for itself alone.
  void find_locals() {
    std::vector<const step*> reader(values_.size(), nullptr);
    std::vector<bool> has_others(values_.size(), false);
    for (const step& one : steps_)
      for (const operand& each : operands(one)) {
        if (each.slot < 0) continue;
        const step*& only = reader[at(each.slot)];
        if (only != nullptr && only != &one) has_others[at(each.slot)] = true;
        only = &one;
      }
    for (const operand& each : operands_)
      if (each.link == chain_link::keep)
        values_[at(each.slot)].is_local = !has_others[at(each.slot)];
  }

  /// Gives every value that is stored a buffer: what is read and numbers have one each; the result
  /// of a step takes that of an operand which nothing reads after it, or of another value that is
  /// not needed any more. What a chain keeps is apart from all that it reads.
  void share_buffers() {
    std::vector<std::size_t> last_use(values_.size(), 0);
    for (std::size_t i = 0; i < steps_.size(); ++i)
      for (const operand& each : operands(steps_[i]))
        if (each.slot >= 0) last_use[at(each.slot)] = i;
    for (int leaf : leaves_) values_[at(leaf)].buffer = buffers_++;
    for (const constant& number : numbers_) values_[at(number.slot)].buffer = buffers_++;
    const int own = buffers_;
    std::vector<int> free;
    const auto take = [&] {
      if (free.empty()) return buffers_++;
      const int buffer = free.back();
      free.pop_back();
      return buffer;
    };
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      value& result = values_[at(steps_[i].result)];
      std::vector<int> ended;
      std::vector<int> kept;
      for (const operand& each : operands(steps_[i])) {
        if (each.slot < 0) continue;
        value& from = values_[at(each.slot)];
        if (each.link == chain_link::keep) {
          from.buffer = take();
          kept.push_back(from.buffer);
        }
        if (from.buffer < own || last_use[at(each.slot)] != i ||
            std::find(ended.begin(), ended.end(), from.buffer) != ended.end())
          continue;
        if (result.buffer < 0 && from.bytes == result.bytes &&
            std::find(kept.begin(), kept.end(), from.buffer) == kept.end())
          result.buffer = from.buffer;
        else if (from.buffer != result.buffer)
          ended.push_back(from.buffer);
      }
      if (result.buffer < 0) result.buffer = take();
      free.insert(free.end(), ended.begin(), ended.end());
    }
    shared_ = buffers_ - own;
  }

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
