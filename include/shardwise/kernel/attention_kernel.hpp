// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/attention_mask.hpp"
#include "shardwise/kernel/block_functions.hpp"
#include "shardwise/kernel/hidden_keys.hpp"
#include "shardwise/kernel/kernel_call.hpp"
#include "shardwise/kernel/matrix_product.hpp"
#include "shardwise/kernel/reduction_arithmetic.hpp"
#include "shardwise/kernel/scratch_memory.hpp"
#include "shardwise/kernel/transcendental_kernels.hpp"
#include "shardwise/kernel/wide_result.hpp"
#include "shardwise/operation/attention.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace shardwise {

namespace detail {

/// Returns the maximum of a row of scores, or NaN if there is one.
template <class C>
[[nodiscard]] C largest_score(const C* row, index_t count) noexcept {
  return reduce_run<C, functions::maximum>(row, count, identity_of<C>(reduction::max));
}
/// Converts scores, none above `high`, to weights, whose logarithms they are, and returns their
/// sum. The lowest value, which marks masked keys, has weight 0. The bits depend only on the
/// scores, not on their positions.
template <class C>
C weigh_scores(C* row, index_t count, C high) {
  for (index_t j = 0; j < count; ++j) row[j] -= high;
  const void* const from[]{row};
  const index_t moves[]{1};
  run_function<functions::exp, C, 1>(from, moves, row, count);
  return reduce_run<C, functions::add>(row, count, C(0));
}

/// Attention of one head in blocks of queries and keys: keeps the running maximum of each query's
/// scores, the sum of its weights, and the weighted sum of the values.
template <class C>
class attention_head {
 public:
  attention_head(index_t width, index_t values)
      : scale_(width == 0 ? C(1) : C(1) / std::sqrt(static_cast<C>(width))),
        values_(values),
        scores_(static_cast<std::size_t>(most_queries * most_keys)),
        part_(static_cast<std::size_t>(most_queries * values)),
        sum_(part_.size()),
        largest_(most_queries),
        weight_(most_queries) {}

  static constexpr index_t most_queries = 64;
  static constexpr index_t most_keys = 128;

  /// Computes `out` for all queries. `attended.add(i, first, count, row)` adds the mask of query
  /// `i` and `count` keys from `first` on to a row of scores, and returns true if it may hide keys;
  /// `attended.met(i)` returns the number of leading keys that it may attend to.
  template <class Attended>
  void run(const matrix_view<const C>& q, const matrix_view<const C>& k,
           const matrix_view<const C>& v, const matrix_view<C>& out, const Attended& attended) {
    for (index_t begin = 0; begin < q.rows; begin += most_queries) {
      const index_t queries = std::min(most_queries, q.rows - begin);
      std::fill(sum_.begin(), sum_.end(), C(0));
      std::fill(largest_.begin(), largest_.end(), lowest);
      std::fill(weight_.begin(), weight_.end(), C(0));
      index_t met = 0;
      for (index_t i = 0; i < queries; ++i) met = std::max(met, attended.met(begin + i));
      for (index_t first = 0; first < met; first += most_keys) {
        const index_t keys = std::min(most_keys, met - first);
        const matrix_view<C> scores{scores_.data(), queries, keys, keys, 1};
        bool may_hide = false;
        hidden_.enter(begin, queries, first, keys);
        if (q.columns == 0)
          std::fill_n(scores_.data(), queries * keys, C(0));
        else
          multiply_matrices<C>(q.row_range(begin, begin + queries),
                               k.row_range(first, first + keys).transposed(), scores);
        for (index_t i = 0; i < queries; ++i) {
          C* const row = scores_.data() + i * keys;
          for (index_t j = 0; j < keys; ++j) row[j] *= scale_;
          if (attended.add(begin + i, first, keys, row)) may_hide = true;
          const index_t own = std::clamp(attended.met(begin + i) - first, index_t{0}, keys);
          may_hide = may_hide || own < keys;
          std::fill(row + own, row + keys, lowest);
          weigh(i, row, keys);
        }
        if (values_ == 0) continue;
        const matrix_view<const C> weights{scores_.data(), queries, keys, keys, 1};
        const matrix_view<const C> rows = v.row_range(first, first + keys);
        const matrix_view<C> part{part_.data(), queries, values_, values_, 1};
        multiply_matrices<C>(weights, rows, part);
        if (may_hide && !have_finite_sum(part.data, queries * values_)) {
          hidden_.find(attended);
          hidden_.multiply_again(weights, rows, false, part);
        }
        for (index_t x = 0; x < queries * values_; ++x)
          sum_[static_cast<std::size_t>(x)] += part_[static_cast<std::size_t>(x)];
      }
      for (index_t i = 0; i < queries; ++i) {
        const C total = weight_[static_cast<std::size_t>(i)];
        for (index_t x = 0; x < values_; ++x)
          out.data[(begin + i) * out.row_stride + x * out.column_stride] =
              total == 0 ? C(0) : sum_[static_cast<std::size_t>(i * values_ + x)] / total;
      }
    }
  }

 private:
  static constexpr C lowest = -std::numeric_limits<C>::infinity();

  /// Converts a row of scores to weights, and rescales the previous sums.
  void weigh(index_t query, C* row, index_t keys) {
    const auto i = static_cast<std::size_t>(query);
    C high = largest_[i];
    if (const C own = largest_score(row, keys); own > high || own != own) high = own;
    if (high == lowest) {
      std::fill_n(row, keys, C(0));
      return;
    }
    if (high != largest_[i]) {
      const C shrink = largest_[i] == lowest ? C(0) : std::exp(largest_[i] - high);
      weight_[i] *= shrink;
      for (index_t x = 0; x < values_; ++x)
        sum_[i * static_cast<std::size_t>(values_) + static_cast<std::size_t>(x)] *= shrink;
      largest_[i] = high;
    }
    weight_[i] += weigh_scores(row, keys, high);
  }

  C scale_;
  index_t values_;
  scratch_vector<C> scores_, part_, sum_, largest_, weight_;
  hidden_keys<C> hidden_;
};

/// A block in the type used for arithmetic, whose last two dimensions are matrices that products
/// read in place: itself, or a copy that this object holds.
template <class T>
class computed_block {
 public:
  using C = compute_type<T>;
  explicit computed_block(const const_any_block& block) {
    if constexpr (std::same_as<T, C>) {
      view_ = block.as<const T>();
      if (has_rows()) return;
    }
    copy_ = std::make_unique<widened_block<T>>(block.as<const T>());
    view_ = copy_->read();
  }
  [[nodiscard]] const strided<const C>& view() const noexcept { return view_; }

 private:
  /// Returns true if rows are contiguous and do not overlap, unlike those of some views.
  [[nodiscard]] bool has_rows() const noexcept {
    const int row = view_.rank() - 1;
    return (view_.extents[row] == 1 || view_.strides[row] == 1) &&
           (view_.extents[row - 1] == 1 || view_.strides[row - 1] >= view_.extents[row]);
  }

  std::unique_ptr<widened_block<T>> copy_;
  strided<const C> view_;
};

/// Returns a matrix of the last two dimensions of a block.
template <class C>
[[nodiscard]] matrix_view<C> head_of(const strided<C>& block, index_t offset) noexcept {
  const int last = block.rank() - 1;
  return {block.data + offset, block.extents[last - 1], block.extents[last],
          block.strides[last - 1], block.strides[last]};
}
/// Returns the position of the head at an index in a block; `group` heads share one.
template <class C>
[[nodiscard]] index_t head_offset(const strided<C>& block,
                                  const inplace_vector<index_t, max_rank>& at,
                                  index_t group) noexcept {
  index_t offset = 0;
  for (int d = 0; d < at.ssize(); ++d)
    offset += (d + 1 == at.ssize() ? at[d] / group : at[d]) * block.strides[d];
  return offset;
}

/// Calls `f(index)` for each head of queries, the last index fastest.
template <class C, class F>
void for_each_head(const strided<C>& queries, const F& f) {
  const int head = queries.rank() - 3;
  inplace_vector<index_t, max_rank> at;
  at.resize(static_cast<std::size_t>(head + 1));
  index_t count = 1;
  for (int d = 0; d <= head; ++d) count *= queries.extents[d];
  for (index_t h = 0; h < count; ++h) {
    index_t rest = h;
    for (int d = head; d >= 0; --d) {
      at[d] = rest % queries.extents[d];
      rest /= queries.extents[d];
    }
    f(at);
  }
}

}  // namespace detail

/// Computes one head after another; the heads of a device share its heads of keys and values in
/// equal groups.
template <>
struct kernel_of<attention_operation> {
  template <class T>
  static void run(const kernel_call& call) {
    using C = compute_type<T>;
    const detail::computed_block<T> queries(call.operands[0]), keys(call.operands[1]),
        values(call.operands[2]);
    const auto &q = queries.view(), &k = keys.view(), &v = values.view();
    detail::with_wide_result<T>(call, [&](const strided<C>& out) {
      if (out.size() == 0) return;
      const int head = q.rank() - 3;
      const index_t group = q.extents[head] / k.extents[head];
      const detail::attention_mask<T> mask(call, call.operands.size() > 3 ? 3 : -1);
      detail::attention_head<C> work(q.extents[head + 2], v.extents[head + 2]);
      detail::for_each_head(q, [&](const inplace_vector<index_t, max_rank>& at) {
        work.run(detail::head_of(q, detail::head_offset(q, at, 1)),
                 detail::head_of(k, detail::head_offset(k, at, group)),
                 detail::head_of(v, detail::head_offset(v, at, group)),
                 detail::head_of(out, detail::head_offset(out, at, 1)),
                 detail::attended_keys<T>{&mask, &at});
      });
    });
  }
};

}  // namespace shardwise
