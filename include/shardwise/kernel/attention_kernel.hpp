// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/kernel_call.hpp"
#include "shardwise/kernel/matrix_product.hpp"
#include "shardwise/operation/attention.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace shardwise {

namespace detail {

/// Attention of one head in blocks of queries and keys: the largest score of each query so far, the
/// sum of the weights below it, and the values weighted so.
template <class C>
class attention_head {
 public:
  attention_head(index_t width, index_t values)
      : scale_(C(1) / std::sqrt(static_cast<C>(width))),
        values_(values),
        scores_(static_cast<std::size_t>(most_queries * most_keys)),
        part_(static_cast<std::size_t>(most_queries * values)),
        sum_(part_.size()),
        largest_(most_queries),
        weight_(most_queries) {}

  static constexpr index_t most_queries = 64;
  static constexpr index_t most_keys = 128;

  /// Computes `out` for all queries. `mask_row(i, first, count, row)` adds the mask of query `i`
  /// and `count` keys from `first` on to a row of scores; `keys_of(i)` is how many keys it meets.
  template <class Mask, class Keys>
  void run(const matrix_view<const C>& q, const matrix_view<const C>& k,
           const matrix_view<const C>& v, const matrix_view<C>& out, const Mask& mask_row,
           const Keys& keys_of) {
    for (index_t begin = 0; begin < q.rows; begin += most_queries) {
      const index_t queries = std::min(most_queries, q.rows - begin);
      std::fill(sum_.begin(), sum_.end(), C(0));
      std::fill(largest_.begin(), largest_.end(), lowest);
      std::fill(weight_.begin(), weight_.end(), C(0));
      index_t met = 0;
      for (index_t i = 0; i < queries; ++i) met = std::max(met, keys_of(begin + i));
      for (index_t first = 0; first < met; first += most_keys) {
        const index_t keys = std::min(most_keys, met - first);
        const matrix_view<C> scores{scores_.data(), queries, keys, keys, 1};
        if (q.columns == 0)
          std::fill_n(scores_.data(), queries * keys, C(0));
        else
          multiply_matrices<C>(q.row_range(begin, begin + queries),
                               k.row_range(first, first + keys).transposed(), scores);
        for (index_t i = 0; i < queries; ++i) {
          C* const row = scores_.data() + i * keys;
          for (index_t j = 0; j < keys; ++j) row[j] *= scale_;
          mask_row(begin + i, first, keys, row);
          const index_t own = std::clamp(keys_of(begin + i) - first, index_t{0}, keys);
          std::fill(row + own, row + keys, lowest);
          weigh(i, row, keys);
        }
        if (values_ == 0) continue;
        multiply_matrices<C>({scores_.data(), queries, keys, keys, 1},
                             v.row_range(first, first + keys),
                             {part_.data(), queries, values_, values_, 1});
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

  /// Turns a row of scores into weights, and what was summed before into what it weighs now.
  void weigh(index_t query, C* row, index_t keys) {
    const auto i = static_cast<std::size_t>(query);
    C high = largest_[i];
    for (index_t j = 0; j < keys; ++j) high = row[j] > high || row[j] != row[j] ? row[j] : high;
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
    Eigen::Map<Eigen::Array<C, Eigen::Dynamic, 1>> weights(row, keys);
    // What is not met weighs nothing at all: the exponential of the lowest number is above 0.
    weights = (weights == lowest).select(C(0), (weights - high).exp());
    weight_[i] += weights.sum();
  }

  C scale_;
  index_t values_;
  std::vector<C> scores_, part_, sum_, largest_, weight_;
};

/// A block in the type that is computed in: itself, or a copy that this holds.
template <class T>
class computed_block {
 public:
  using C = compute_type<T>;
  explicit computed_block(const const_any_block& block) {
    if constexpr (std::same_as<T, C>) {
      view_ = block.as<const T>();
    } else {
      wide_ = std::make_unique<widened_block<T>>(block.as<const T>());
      view_ = wide_->read();
    }
  }
  [[nodiscard]] const strided<const C>& view() const noexcept { return view_; }

 private:
  struct nothing {};
  std::conditional_t<std::same_as<T, C>, nothing, std::unique_ptr<widened_block<T>>> wide_{};
  strided<const C> view_;
};

}  // namespace detail

/// Head by head; the heads of a device share its heads of keys and values in equal groups.
template <>
struct kernel_of<attention_operation> {
  template <class T>
  static void run(const kernel_call& call) {
    using C = compute_type<T>;
    const detail::computed_block<T> queries(call.operands[0]), keys(call.operands[1]),
        values(call.operands[2]);
    if constexpr (std::same_as<T, C>) {
      run_heads<T>(call, queries.view(), keys.view(), values.view(), call.results[0].as<T>());
    } else {
      const detail::widened_block<T> out(call.results[0].extents);
      run_heads<T>(call, queries.view(), keys.view(), values.view(), out.block());
      out.store(call.results[0].as<T>());
    }
  }

 private:
  /// A matrix of the last two dimensions of a block.
  template <class C>
  [[nodiscard]] static matrix_view<C> matrix_of(const strided<C>& block, index_t offset) noexcept {
    const int last = block.rank() - 1;
    return {block.data + offset, block.extents[last - 1], block.extents[last],
            block.strides[last - 1], block.strides[last]};
  }

  template <class T, class C>
  static void run_heads(const kernel_call& call, const strided<const C>& q,
                        const strided<const C>& k, const strided<const C>& v,
                        const strided<C>& out) {
    if (out.size() == 0) return;
    const int head = q.rank() - 3;
    const bool is_causal = call.how.integers[0] == static_cast<int>(attends::to_earlier);
    const index_t all_keys = k.extents[head + 1];
    const index_t group = q.extents[head] / k.extents[head];
    const mask_block<T, C> mask(call);
    detail::attention_head<C> work(q.extents[head + 2], v.extents[head + 2]);
    loop_nest<1> heads;
    for (int d = 0; d <= head; ++d) heads.push({q.extents[d], {1}});
    inplace_vector<index_t, max_rank> at;
    at.resize(static_cast<std::size_t>(head + 1));
    for (index_t h = 0; h < heads.size(); ++h) {
      index_t rest = h, offsets[4] = {};
      for (int d = head; d >= 0; --d) {
        at[d] = rest % q.extents[d];
        rest /= q.extents[d];
        const index_t shared = d == head ? at[d] / group : at[d];
        offsets[0] += at[d] * q.strides[d];
        offsets[1] += shared * k.strides[d];
        offsets[2] += shared * v.strides[d];
        offsets[3] += at[d] * out.strides[d];
      }
      work.run(
          matrix_of(q, offsets[0]), matrix_of(k, offsets[1]), matrix_of(v, offsets[2]),
          matrix_of(out, offsets[3]),
          [&](index_t i, index_t first, index_t count, C* row) {
            mask.add(at, i, first, count, row);
          },
          [&](index_t i) {
            if (!is_causal) return all_keys;
            return std::min(all_keys, call.parts[0][head + 1].global(i) + 1);
          });
    }
  }

  /// The mask, if there is one.
  template <class T, class C>
  struct mask_block {
    const const_any_block* block = nullptr;
    int missing = 0;

    explicit mask_block(const kernel_call& call) {
      if (call.operands.size() < 4) return;
      block = &call.operands[3];
      missing = call.operands[0].rank() - block->rank();
    }
    /// Adds what the mask has of query `i` of a head, and keys from `first` on, to their scores.
    void add(const inplace_vector<index_t, max_rank>& at, index_t i, index_t first, index_t count,
             C* row) const {
      if (block == nullptr) return;
      const int inner = block->rank() - 1;
      index_t offset = 0;
      for (int d = 0; d < inner; ++d) {
        const int met = d + missing;
        const index_t index = met < at.ssize() ? at[met] : i;
        offset += block->extents[d] == 1 ? 0 : index * block->strides[d];
      }
      const bool stands = inner < 0 || block->extents[inner] == 1;
      const index_t step = stands ? 0 : block->strides[inner];
      offset += first * step;
      for (index_t j = 0; j < count; ++j, offset += step) {
        if (block->type == element::boolean)
          row[j] = static_cast<const bool*>(block->data)[offset]
                       ? row[j]
                       : -std::numeric_limits<C>::infinity();
        else
          row[j] += static_cast<C>(static_cast<const T*>(block->data)[offset]);
      }
    }
  };
};

}  // namespace shardwise
