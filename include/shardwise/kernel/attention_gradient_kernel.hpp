// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/attention_kernel.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace shardwise {

namespace internal {

/// The cotangents of a head that are wanted, those with memory, to which they are added.
template <class C>
struct attention_cotangents {
  matrix_view<C> queries{}, keys{}, values{};
  /// True for the cotangent of a mask, which has no matrix.
  bool of_mask = false;
};

/// The gradient of one head, for blocks of queries: computes all their weights and the cotangents
/// of these, one row of keys at a time.
template <class C>
class attention_gradient_head {
 public:
  attention_gradient_head(index_t width, index_t keys)
      : scale_(width == 0 ? C(1) : C(1) / std::sqrt(static_cast<C>(width))),
        most_queries_(std::clamp<index_t>(most_weights / std::max<index_t>(keys, 1), 16, 64)),
        weights_(static_cast<std::size_t>(most_queries_ * keys)),
        slopes_(weights_.size()) {}

  /// Adds cotangents to `out`; that of a mask is passed to `give_row(i, count, row)`: the
  /// derivatives with respect to the scores of query `i` and the first `count` keys.
  template <class Mask, class Keys, class Give>
  void run(const matrix_view<const C>& q, const matrix_view<const C>& all_keys,
           const matrix_view<const C>& all_values, const matrix_view<const C>& dy,
           const attention_cotangents<C>& out, const Mask& mask_row, const Keys& keys_of,
           const Give& give_row) {
    const C scale = out.of_mask ? C(1) : scale_;
    const bool wants_slopes =
        out.of_mask || out.queries.data != nullptr || out.keys.data != nullptr;
    for (index_t begin = 0; begin < q.rows; begin += most_queries_) {
      const index_t end = std::min(begin + most_queries_, q.rows);
      // Keys that none of these queries attends to do not affect the gradient.
      index_t met = 0;
      for (index_t i = begin; i < end; ++i) met = std::max(met, keys_of(i));
      if (met == 0) continue;
      const auto k = all_keys.row_range(0, met), v = all_values.row_range(0, met);
      const matrix_view<C> weights{weights_.data(), end - begin, met, met, 1};
      const matrix_view<C> slopes{slopes_.data(), end - begin, met, met, 1};
      product(q.row_range(begin, end), k.transposed(), weights);
      for (index_t i = begin; i < end; ++i) {
        C* const row = weights_.data() + (i - begin) * met;
        for (index_t j = 0; j < met; ++j) row[j] *= scale_;
        mask_row(i, 0, met, row);
        std::fill(row + keys_of(i), row + met, lowest);
        weigh(row, met);
      }
      if (out.values.data != nullptr)
        add_product(constant(weights).transposed(), dy.row_range(begin, end),
                    out.values.row_range(0, met));
      if (!wants_slopes) continue;
      product(dy.row_range(begin, end), v.transposed(), slopes);
      for (index_t i = 0; i < end - begin; ++i) {
        const C* const weight = weights_.data() + i * met;
        C* const slope = slopes_.data() + i * met;
        for (index_t j = 0; j < met; ++j) slope[j] *= weight[j];
        const C mean = reduce_run<C, functions::add>(slope, met, C(0));
        for (index_t j = 0; j < met; ++j)
          slope[j] = weight[j] == 0 ? C(0) : (slope[j] - weight[j] * mean) * scale;
        if (out.of_mask) give_row(begin + i, met, slope);
      }
      if (out.queries.data != nullptr)
        add_product(constant(slopes), k, out.queries.row_range(begin, end));
      if (out.keys.data != nullptr)
        add_product(constant(slopes).transposed(), q.row_range(begin, end),
                    out.keys.row_range(0, met));
    }
  }

 private:
  [[nodiscard]] static matrix_view<const C> constant(const matrix_view<C>& x) noexcept {
    return {x.data, x.rows, x.columns, x.row_stride, x.column_stride};
  }
  /// Computes a product, which is 0 if there is nothing to sum.
  static void product(const matrix_view<const C>& a, const matrix_view<const C>& b,
                      const matrix_view<C>& out) {
    if (a.columns == 0)
      std::fill_n(out.data, out.rows * out.columns, C(0));
    else
      multiply_matrices<C>(a, b, out);
  }
  void add_product(const matrix_view<const C>& a, const matrix_view<const C>& b,
                   const matrix_view<C>& out) {
    if (a.columns == 0 || out.rows * out.columns == 0) return;
    part_.resize(static_cast<std::size_t>(out.rows * out.columns));
    multiply_matrices<C>(a, b, {part_.data(), out.rows, out.columns, out.columns, 1});
    for (index_t r = 0; r < out.rows; ++r)
      for (index_t c = 0; c < out.columns; ++c)
        out.data[r * out.row_stride + c * out.column_stride] +=
            part_[static_cast<std::size_t>(r * out.columns + c)];
  }
  /// Converts a row of scores to weights.
  static void weigh(C* row, index_t keys) {
    const C high = largest_score(row, keys);
    if (high == lowest) {
      std::fill_n(row, keys, C(0));
      return;
    }
    const C total = weigh_scores(row, keys, high);
    for (index_t j = 0; j < keys; ++j) row[j] /= total;
  }

  static constexpr C lowest = -std::numeric_limits<C>::infinity();
  /// The number of weights stored at once: few enough to stay in a cache, unless rows are longer.
  static constexpr index_t most_weights = 8192;

  C scale_;
  index_t most_queries_;
  scratch_vector<C> weights_, slopes_, part_;
};

/// The gradient of attention, one head after another; the heads that share keys and values are
/// added up.
template <class T>
class attention_gradient {
 public:
  using C = compute_type<T>;

  explicit attention_gradient(const kernel_call& call)
      : queries_(call.operands[0]),
        keys_(call.operands[1]),
        values_(call.operands[2]),
        cotangents_(call.operands[3]),
        mask_(call, 4) {}

  /// `out_of(at, group)` returns where the cotangents of a head of queries are added, of which
  /// `group` share a head of keys; `give_row(at, i, count, row)` takes that of a mask.
  template <class Out, class Give>
  void run(const Out& out_of, const Give& give_row) const {
    const auto &q = queries_.view(), &k = keys_.view(), &v = values_.view(),
               &dy = cotangents_.view();
    const int head = q.rank() - 3;
    // Heads of width 0 have equal weights, and values with gradients.
    if (dy.size() == 0 || v.size() == 0) return;
    const index_t group = q.extents[head] / k.extents[head];
    attention_gradient_head<C> work(q.extents[head + 2], k.extents[head + 1]);
    for_each_head(q, [&](const inplace_vector<index_t, max_rank>& at) {
      work.run(
          head_of(q, head_offset(q, at, 1)), head_of(k, head_offset(k, at, group)),
          head_of(v, head_offset(v, at, group)), head_of(dy, head_offset(dy, at, 1)),
          out_of(at, group),
          [&](index_t i, index_t first, index_t count, C* row) {
            mask_.add(at, i, first, count, row);
          },
          [&](index_t i) { return mask_.keys_met(i); },
          [&](index_t i, index_t count, const C* row) { give_row(at, i, count, row); });
    });
  }

 private:
  computed_block<T> queries_, keys_, values_, cotangents_;
  attention_mask<T> mask_;
};

/// Returns a result of a gradient that is all zeros.
template <class C>
const strided<C>& cleared(const strided<C>& out) {
  std::fill_n(out.data, out.size(), C(0));
  return out;
}
/// Returns the cotangent of one head of an operand.
template <class C>
[[nodiscard]] matrix_view<C> cotangent_of(const strided<C>& out,
                                          const inplace_vector<index_t, max_rank>& at,
                                          index_t group) noexcept {
  return head_of(out, head_offset(out, at, group));
}

}  // namespace internal

template <>
struct kernel_of<attention_gradient_operation> {
  template <class T>
  static void run(const kernel_call& call) {
    using C = compute_type<T>;
    const internal::attention_gradient<T> work(call);
    const auto which = static_cast<int>(call.how.integers[1]);
    detail::with_wide_result<T>(call, [&](const strided<C>& given) {
      const strided<C>& out = internal::cleared(given);
      if (out.size() == 0) return;
      work.run(
          [&](const inplace_vector<index_t, max_rank>& at, index_t group) {
            internal::attention_cotangents<C> wanted{.of_mask = which == 3};
            if (which == 0) wanted.queries = internal::cotangent_of(out, at, 1);
            if (which == 1) wanted.keys = internal::cotangent_of(out, at, group);
            if (which == 2) wanted.values = internal::cotangent_of(out, at, group);
            return wanted;
          },
          [&](const inplace_vector<index_t, max_rank>& at, index_t i, index_t count, const C* row) {
            const auto to = detail::attention_mask<T>::run_of(out, at, i);
            for (index_t j = 0; j < count; ++j) out.data[to.offset + j * to.step] += row[j];
          });
    });
  }
};

template <>
struct kernel_of<attention_gradients_operation> {
  template <class T>
  [[nodiscard]] static further_elements further() noexcept {
    return {&element_kernels_of<T>, &element_kernels_of<T>};
  }
  template <class T>
  static void run(const kernel_call& call) {
    using C = compute_type<T>;
    const internal::attention_gradient<T> work(call);
    const auto with = [&](std::size_t number, const auto& f) {
      detail::with_wide_result<T>(
          call, [&](const strided<C>& out) { f(internal::cleared(out)); }, number);
    };
    with(0, [&](const strided<C>& queries) {
      with(1, [&](const strided<C>& keys) {
        with(2, [&](const strided<C>& values) {
          if (queries.size() == 0) return;
          work.run(
              [&](const inplace_vector<index_t, max_rank>& at, index_t) {
                return internal::attention_cotangents<C>{internal::cotangent_of(queries, at, 1),
                                                         internal::cotangent_of(keys, at, 1),
                                                         internal::cotangent_of(values, at, 1)};
              },
              [](const inplace_vector<index_t, max_rank>&, index_t, index_t, const C*) {});
        });
      });
    });
  }
};

}  // namespace shardwise
