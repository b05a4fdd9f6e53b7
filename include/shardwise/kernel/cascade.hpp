// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/reduction_arithmetic.hpp"

#include <algorithm>
#include <cstddef>

namespace shardwise::detail {

/// Reduces any number of rows of `n` elements to one, as a tree whose shape depends only on their
/// number: rows in pairs, and `radix` partial results of a level to one of the next.
template <class T, std::size_t Width>
class cascade {
 public:
  cascade(const reducer<T>& reduce, index_t n) noexcept : reducer_(reduce), n_(n) {}

  void add(const T* row) noexcept {
    rows_[pending_++] = row;
    if (pending_ == radix) put_away(radix);
  }
  /// Adds rows that are `step` elements apart, before any others.
  void add(const T* row, index_t step, index_t count) noexcept {
    for (; count >= radix; count -= radix, row += radix * step) {
      for (int r = 0; r < radix; ++r) rows_[r] = row + r * step;
      put_away(radix);
    }
    for (; count > 0; --count, row += step) add(row);
  }
  /// Returns true if added rows are no longer read.
  [[nodiscard]] bool is_settled() const noexcept { return pending_ == 0; }

  /// Returns the reduction of all rows.
  [[nodiscard]] const T* finish() noexcept {
    if (pending_ > 0) put_away(pending_);
    std::fill_n(sum_, n_, reducer_.identity);
    for (int level = 0; level < levels; ++level)
      if (counts_[level] > 0) reducer_.pair(sum_, partial_[level], sum_, n_);
    return sum_;
  }

 private:
  static constexpr int levels = 12;

  /// Reduces the first `count` rows.
  void put_away(int count) noexcept {
    if (count < radix) std::fill_n(sum_, n_, reducer_.identity);
    while (count < radix) rows_[count++] = sum_;
    (counts_[0] == 0 ? reducer_.rows : reducer_.rows_onto)(rows_, partial_[0], n_);
    pending_ = 0;
    for (int level = 0; ++counts_[level] == radix && level < levels - 1; ++level) {
      counts_[level] = 0;
      if (counts_[level + 1] == 0)
        std::copy_n(partial_[level], n_, partial_[level + 1]);
      else
        reducer_.pair(partial_[level + 1], partial_[level], partial_[level + 1], n_);
    }
  }

  const reducer<T>& reducer_;
  index_t n_;
  int pending_ = 0;
  index_t counts_[levels]{};
  const T* rows_[radix];
  // Aligned, so that a packet does not span two cache lines.
  alignas(64) T sum_[Width];
  alignas(64) T partial_[levels][Width];
};

}  // namespace shardwise::detail
