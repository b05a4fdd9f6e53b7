// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/matrix_product.hpp"
#include "shardwise/kernel/matrix_view.hpp"
#include "shardwise/kernel/reduction_arithmetic.hpp"
#include "shardwise/kernel/scratch_memory.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>

namespace shardwise::detail {

/// Returns true if the sum of contiguous elements is finite: then none is infinite or NaN.
template <class C>
[[nodiscard]] bool have_finite_sum(const C* from, index_t count) noexcept {
  const C sum = reduce_run<C, functions::add>(from, count, C(0));
  return sum - sum == C(0);
}

/// The keys to which queries of a block do not attend. Their weights are 0, which would hide finite
/// elements but not infinite ones or NaN; so products that are not finite are computed again
/// without what is hidden. Only these need to know the keys, so they are found on demand.
template <class C>
class hidden_keys {
 public:
  /// Begins a block of queries and keys.
  void enter(index_t begin, index_t queries, index_t first, index_t keys) noexcept {
    begin_ = begin;
    queries_ = queries;
    first_ = first;
    keys_ = keys;
    are_found_ = false;
  }
  /// Finds the keys of the block that are hidden, unless they are known.
  template <class Attended>
  void find(const Attended& attended) {
    if (are_found_) return;
    are_found_ = true;
    scores_.assign(static_cast<std::size_t>(queries_ * keys_), C(0));
    for (index_t i = 0; i < queries_; ++i) {
      C* const row = scores_.data() + i * keys_;
      attended.add(begin_ + i, first_, keys_, row);
      std::fill(row + std::clamp(attended.met(begin_ + i) - first_, index_t{0}, keys_), row + keys_,
                lowest);
    }
  }
  /// Returns true if query `i` of the block does not attend to key `j` of the block.
  [[nodiscard]] bool hides(index_t i, index_t j) const noexcept {
    return scores_[static_cast<std::size_t>(i * keys_ + j)] == lowest;
  }
  /// Replaces by 0 the numbers of query `i` that belong to hidden keys.
  void clear_hidden(index_t i, C* row) const noexcept {
    for (index_t j = 0; j < keys_; ++j)
      if (hides(i, j)) row[j] = C(0);
  }

  /// Computes the product of numbers and rows again, so that a hidden number contributes nothing.
  /// The numbers are those of queries and keys, or of keys and queries if `by_key`.
  void multiply_again(const matrix_view<const C>& numbers, const matrix_view<const C>& rows,
                      bool by_key, const matrix_view<C>& out) {
    const auto is_hidden = [&](index_t r, index_t k) { return by_key ? hides(k, r) : hides(r, k); };
    // As in a product without hidden numbers, except that what is not finite comes last.
    const bool is_turned = !rows.is_row_major();
    finite_.resize(static_cast<std::size_t>(rows.rows * rows.columns));
    matrix_view<C> finite{finite_.data(), rows.rows, rows.columns, rows.columns, 1};
    if (is_turned) finite = {finite_.data(), rows.rows, rows.columns, 1, rows.rows};
    scratch_vector<index_t> others;
    bool is_any_hidden = false;
    for (index_t k = 0; k < rows.rows; ++k) {
      bool is_finite = true;
      for (index_t x = 0; x < rows.columns; ++x) {
        const C element = at(rows, k, x);
        const bool counts = element - element == C(0);
        at(finite, k, x) = counts ? element : C(0);
        is_finite = is_finite && counts;
      }
      if (is_finite) continue;
      others.push_back(k);
      for (index_t r = 0; r < out.rows && !is_any_hidden; ++r) is_any_hidden = is_hidden(r, k);
    }
    if (!is_any_hidden) return;
    multiply_matrices<C>(
        numbers,
        {finite.data, finite.rows, finite.columns, finite.row_stride, finite.column_stride}, out);
    for (index_t k : others)
      for (index_t r = 0; r < out.rows; ++r) {
        if (is_hidden(r, k)) continue;
        for (index_t x = 0; x < out.columns; ++x)
          if (const C element = at(rows, k, x); element - element != C(0))
            at(out, r, x) += at(numbers, r, k) * element;
      }
  }

 private:
  template <class T>
  [[nodiscard]] static T& at(const matrix_view<T>& m, index_t r, index_t c) noexcept {
    return m.data[r * m.row_stride + c * m.column_stride];
  }

  static constexpr C lowest = -std::numeric_limits<C>::infinity();

  index_t begin_ = 0, queries_ = 0, first_ = 0, keys_ = 0;
  bool are_found_ = false;
  scratch_vector<C> scores_, finite_;
};

}  // namespace shardwise::detail
