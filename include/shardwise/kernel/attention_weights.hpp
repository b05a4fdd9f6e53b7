// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/attention_kernel.hpp"
#include "shardwise/kernel/hidden_keys.hpp"
#include "shardwise/kernel/matrix_product.hpp"
#include "shardwise/kernel/scratch_memory.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace shardwise::internal {

/// Returns a matrix that is only read.
template <class C>
[[nodiscard]] matrix_view<const C> constant(const matrix_view<C>& x) noexcept {
  return {x.data, x.rows, x.columns, x.row_stride, x.column_stride};
}

/// The weights of one head, computed again for its gradients: all those of a block of queries at
/// once.
template <class C>
class attention_weights {
 public:
  attention_weights(index_t width, index_t keys)
      : scale_(width == 0 ? C(1) : C(1) / std::sqrt(static_cast<C>(width))),
        most_queries_(std::clamp<index_t>(most_weights / std::max<index_t>(keys, 1), 16, 64)),
        weights_(static_cast<std::size_t>(most_queries_ * keys)) {}

  /// The number by which products of queries and keys are multiplied.
  [[nodiscard]] C scale() const noexcept { return scale_; }
  [[nodiscard]] index_t most_queries() const noexcept { return most_queries_; }
  /// The number of weights of a block.
  [[nodiscard]] std::size_t size() const noexcept { return weights_.size(); }

  /// Computes the weights of the queries [begin, end) for the leading keys that any of them attends
  /// to, of which there are `met()`; later keys do not affect the gradient.
  template <class Attended>
  void compute(const matrix_view<const C>& q, const matrix_view<const C>& k, index_t begin,
               index_t end, const Attended& attended) {
    queries_ = end - begin;
    met_ = 0;
    for (index_t i = begin; i < end; ++i) met_ = std::max(met_, attended.met(i));
    if (met_ == 0) return;
    may_hide_ = false;
    hidden_.enter(begin, queries_, 0, met_);
    product(q.row_range(begin, end), k.row_range(0, met_).transposed(), matrix(weights_));
    for (index_t i = begin; i < end; ++i) {
      C* const row = weights_.data() + (i - begin) * met_;
      for (index_t j = 0; j < met_; ++j) row[j] *= scale_;
      if (attended.add(i, 0, met_, row)) may_hide_ = true;
      may_hide_ = may_hide_ || attended.met(i) < met_;
      std::fill(row + attended.met(i), row + met_, lowest);
      if (weigh(row) || !may_hide_) continue;
      hidden_.find(attended);
      hidden_.clear_hidden(i - begin, row);
    }
  }
  [[nodiscard]] index_t met() const noexcept { return met_; }
  /// The weights, one row for each query. Those of hidden keys are 0.
  [[nodiscard]] matrix_view<const C> all() noexcept { return constant(matrix(weights_)); }
  [[nodiscard]] const C* row(index_t i) const noexcept { return weights_.data() + i * met_; }
  /// Returns other memory as numbers of the same queries and keys.
  [[nodiscard]] matrix_view<C> matrix(scratch_vector<C>& memory) const noexcept {
    return {memory.data(), queries_, met_, met_, 1};
  }

  /// Computes a product, which is 0 if there is nothing to sum.
  static void product(const matrix_view<const C>& a, const matrix_view<const C>& b,
                      const matrix_view<C>& out) {
    if (a.columns == 0)
      std::fill_n(out.data, out.rows * out.columns, C(0));
    else
      multiply_matrices<C>(a, b, out);
  }
  /// Multiplies the numbers of query `i` of the block by its weights and returns their sum. Numbers
  /// of hidden keys do not count, whatever they are.
  template <class Attended>
  C weigh_and_sum(index_t i, C* numbers, const Attended& attended) {
    const C* const weight = row(i);
    for (index_t j = 0; j < met_; ++j) numbers[j] *= weight[j];
    const C sum = reduce_run<C, functions::add>(numbers, met_, C(0));
    if (!may_hide_ || sum - sum == 0) return sum;
    hidden_.find(attended);
    hidden_.clear_hidden(i, numbers);
    return reduce_run<C, functions::add>(numbers, met_, C(0));
  }
  /// Replaces by 0 the numbers of query `i` that belong to hidden keys.
  template <class Attended>
  void clear_hidden(index_t i, C* numbers, const Attended& attended) {
    if (!may_hide_ || detail::have_finite_sum(numbers, met_)) return;
    hidden_.find(attended);
    hidden_.clear_hidden(i, numbers);
  }
  /// Adds the product of numbers and rows to `out`. The numbers are those of queries and keys, or
  /// of keys and queries if `by_key`; those of hidden keys are 0.
  template <class Attended>
  void add_product(const matrix_view<const C>& numbers, const matrix_view<const C>& rows,
                   bool by_key, const matrix_view<C>& out, const Attended& attended) {
    if (numbers.columns == 0 || out.rows * out.columns == 0) return;
    part_.resize(static_cast<std::size_t>(out.rows * out.columns));
    const matrix_view<C> part{part_.data(), out.rows, out.columns, out.columns, 1};
    multiply_matrices<C>(numbers, rows, part);
    if (may_hide_ && !detail::have_finite_sum(part.data, out.rows * out.columns)) {
      hidden_.find(attended);
      hidden_.multiply_again(numbers, rows, by_key, part);
    }
    for (index_t r = 0; r < out.rows; ++r)
      for (index_t c = 0; c < out.columns; ++c)
        out.data[r * out.row_stride + c * out.column_stride] +=
            part_[static_cast<std::size_t>(r * out.columns + c)];
  }

 private:
  /// Converts a row of scores to weights. Returns false if they are NaN.
  bool weigh(C* row) const {
    const C high = detail::largest_score(row, met_);
    if (high == lowest) {
      std::fill_n(row, met_, C(0));
      return true;
    }
    const C total = detail::weigh_scores(row, met_, high);
    for (index_t j = 0; j < met_; ++j) row[j] /= total;
    return total == total;
  }

  static constexpr C lowest = -std::numeric_limits<C>::infinity();
  /// The number of weights stored at once: few enough to stay in a cache, unless rows are longer.
  static constexpr index_t most_weights = 8192;

  C scale_;
  index_t most_queries_, queries_ = 0, met_ = 0;
  bool may_hide_ = false;
  scratch_vector<C> weights_, part_;
  detail::hidden_keys<C> hidden_;
};

}  // namespace shardwise::internal
