// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/core/growable.hpp"
#include "shardwise/kernel/pass_order.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace shardwise {

SHARDWISE_INLINE int pass_order::read(index_t bytes) {
  values_.push_back({bytes});
  leaves_.push_back(static_cast<int>(values_.size()) - 1);
  return leaves_.back();
}

SHARDWISE_INLINE int pass_order::number(std::uint64_t bits, index_t bytes) {
  for (const constant& known : numbers_)
    if (known.bits == bits && values_[at(known.slot)].bytes == bytes) return known.slot;
  values_.push_back({bytes});
  numbers_.push_back({static_cast<int>(values_.size()) - 1, bits});
  return numbers_.back().slot;
}

SHARDWISE_INLINE int pass_order::apply(const block_function& function,
                                       std::span<const int> operands, index_t bytes) {
  // Passes may be long, and read one number or tensor everywhere, so only calls with the same
  // latest operand are compared.
  const int latest = *std::max_element(operands.begin(), operands.end());
  for (int i = values_[at(latest)].last_reader; i >= 0; i = calls_[at(i)].reader_before) {
    const call& known = calls_[at(i)];
    if (known.function == function &&
        std::equal(operands.begin(), operands.end(), known.operands, known.operands + known.count))
      return known.result;
  }
  values_.push_back({bytes});
  call next{function, {}, static_cast<int>(operands.size()), static_cast<int>(values_.size()) - 1};
  std::copy(operands.begin(), operands.end(), next.operands);
  next.reader_before =
      std::exchange(values_[at(latest)].last_reader, static_cast<int>(calls_.size()));
  calls_.push_back(next);
  return next.result;
}

SHARDWISE_INLINE int pass_order::calls(const block_function& function) const noexcept {
  return static_cast<int>(std::count_if(calls_.begin(), calls_.end(),
                                        [&](const call& one) { return one.function == function; }));
}

SHARDWISE_INLINE void pass_order::close(int result) {
  form_chains(result);
  list_steps();
  find_locals();
  share_buffers();
}

SHARDWISE_INLINE void pass_order::form_chains(int result) {
  maker_.assign(values_.size(), -1);
  internal::growable<int> readers(values_.size(), 0);
  for (std::size_t i = 0; i < calls_.size(); ++i)
    maker_[at(calls_[i].result)] = static_cast<int>(i);
  readers[at(result)] = 1;
  for (std::size_t i = calls_.size(); i-- > 0;)
    if (const call& one = calls_[i]; readers[at(one.result)] > 0)
      for (int k = 0; k < one.count; ++k) ++readers[at(one.operands[k])];
  for (call& one : calls_) {
    one.is_stored = readers[at(one.result)] > 0;
    if (!one.is_stored || one.function.chain == nullptr) continue;
    // If two operands end chains, the later one is continued, whose own operands are read next.
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

SHARDWISE_INLINE void pass_order::list_steps() {
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
      // The kept value is still the current value.
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
  // A single function is not a chain.
  for (step& one : steps_) {
    if (!one.is_chain || one.operands > 2) continue;
    one.is_chain = false;
    if (operands_[one.first_operand + 1].slot < 0) --one.operands;
  }
}

SHARDWISE_INLINE void pass_order::list_links(const call& last) {
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

SHARDWISE_INLINE void pass_order::find_locals() {
  internal::growable<const step*> reader(values_.size(), nullptr);
  internal::growable<bool> has_others(values_.size(), false);
  for (const step& one : steps_)
    for (const operand& each : operands(one)) {
      if (each.slot < 0) continue;
      const step*& only = reader[at(each.slot)];
      if (only != nullptr && only != &one) has_others[at(each.slot)] = true;
      only = &one;
    }
  for (const operand& each : operands_)
    if (each.link == chain_link::keep) values_[at(each.slot)].is_local = !has_others[at(each.slot)];
}

SHARDWISE_INLINE void pass_order::share_buffers() {
  internal::growable<std::size_t> last_use(values_.size(), 0);
  for (std::size_t i = 0; i < steps_.size(); ++i)
    for (const operand& each : operands(steps_[i]))
      if (each.slot >= 0) last_use[at(each.slot)] = i;
  for (int leaf : leaves_) values_[at(leaf)].buffer = buffers_++;
  for (const constant& number : numbers_) values_[at(number.slot)].buffer = buffers_++;
  const int own = buffers_;
  internal::growable<int> free;
  const auto take = [&] {
    if (free.empty()) return buffers_++;
    const int buffer = free.back();
    free.pop_back();
    return buffer;
  };
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    value& result = values_[at(steps_[i].result)];
    internal::growable<int> ended;
    internal::growable<int> kept;
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
    free.append(ended.begin(), ended.end());
  }
  shared_ = buffers_ - own;
}

}  // namespace shardwise
