// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/index_block.hpp"
#include "shardwise/kernel/kernel_call.hpp"
#include "shardwise/operation/attention.hpp"
#include "shardwise/rule/composite.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>

namespace shardwise::detail {

/// The keys that the queries of a call attend to. The operand at a given place, if it is not -1, is
/// the mask or the position of the first query.
template <class T>
struct attention_mask {
  using C = compute_type<T>;
  const const_any_block* block = nullptr;
  bool is_causal;
  index_t start = 0;
  const held_range* positions;
  index_t all_keys;

  attention_mask(const kernel_call& call, int place)
      : is_causal(call.how.integers[0] == static_cast<int>(attends::to_earlier)),
        positions(&call.parts[0][call.operands[0].rank() - 2]),
        all_keys(call.operands[1].extents[call.operands[0].rank() - 2]) {
    if (place < 0) return;
    const const_any_block& given = call.operands[static_cast<std::size_t>(place)];
    if (given.rank() == 0 && is_whole_number(given.type)) {
      start = index_of(given);
      return;
    }
    block = &given;
  }
  /// Returns the number of leading keys that a query of the device attends to.
  [[nodiscard]] index_t keys_met(index_t i) const noexcept {
    return is_causal ? std::clamp(size_sum(start, positions->global(i) + 1), index_t{0}, all_keys)
                     : all_keys;
  }
  /// The position of the keys of query `i` of a head in a mask, and their distance: 0 if all keys
  /// share one number.
  struct run {
    index_t offset = 0, step = 0;
  };
  template <class Block>
  [[nodiscard]] static run run_of(const Block& mask, const inplace_vector<index_t, max_rank>& at,
                                  index_t i) noexcept {
    const int inner = mask.rank() - 1;
    const int missing = at.ssize() + 1 - inner;
    run found;
    for (int d = 0; d < inner; ++d) {
      const index_t index = d + missing < at.ssize() ? at[d + missing] : i;
      found.offset += mask.extents[d] == 1 ? 0 : index * mask.strides[d];
    }
    if (inner >= 0 && mask.extents[inner] != 1) found.step = mask.strides[inner];
    return found;
  }
  /// Adds the mask of query `i` of a head, for the keys from `first` on, to their scores: those of
  /// keys that it hides become the lowest number, whatever they were. Returns true if there is a
  /// mask, which may hide keys.
  bool add(const inplace_vector<index_t, max_rank>& at, index_t i, index_t first, index_t count,
           C* row) const {
    if (block == nullptr) return false;
    constexpr C lowest = -std::numeric_limits<C>::infinity();
    const run keys = run_of(*block, at, i);
    const index_t step = keys.step;
    index_t offset = keys.offset + first * step;
    for (index_t j = 0; j < count; ++j, offset += step) {
      if (block->type == element::boolean) {
        row[j] = static_cast<const bool*>(block->data)[offset] ? row[j] : lowest;
      } else {
        const C added = static_cast<C>(static_cast<const T*>(block->data)[offset]);
        row[j] = added == lowest ? lowest : row[j] + added;
      }
    }
    return true;
  }
};

/// The keys that the queries of one head attend to.
template <class T>
struct attended_keys {
  const attention_mask<T>* mask;
  const inplace_vector<index_t, max_rank>* head;

  /// See `attention_mask`.
  [[nodiscard]] index_t met(index_t i) const noexcept { return mask->keys_met(i); }
  bool add(index_t i, index_t first, index_t count, compute_type<T>* row) const {
    return mask->add(*head, i, first, count, row);
  }
};

}  // namespace shardwise::detail
