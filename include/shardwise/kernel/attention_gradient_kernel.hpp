// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/attention_kernel.hpp"
#include "shardwise/kernel/attention_weights.hpp"

#include <algorithm>
#include <cstddef>

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
      : weights_(width, keys), slopes_(weights_.size()) {}

  /// Adds cotangents to `out`; that of a mask is passed to `give_row(i, count, row)`: the
  /// derivatives with respect to the scores of query `i` and the first `count` keys.
  template <class Attended, class Give>
  void run(const matrix_view<const C>& q, const matrix_view<const C>& k,
           const matrix_view<const C>& v, const matrix_view<const C>& dy,
           const attention_cotangents<C>& out, const Attended& attended, const Give& give_row) {
    const C scale = out.of_mask ? C(1) : weights_.scale();
    const bool wants_slopes =
        out.of_mask || out.queries.data != nullptr || out.keys.data != nullptr;
    for (index_t begin = 0; begin < q.rows; begin += weights_.most_queries()) {
      const index_t end = std::min(begin + weights_.most_queries(), q.rows);
      weights_.compute(q, k, begin, end, attended);
      const index_t met = weights_.met();
      if (met == 0) continue;
      const auto add = [&](const matrix_view<const C>& numbers, const matrix_view<const C>& rows,
                           bool by_key, const matrix_view<C>& to) {
        weights_.add_product(numbers, rows, by_key, to, attended);
      };
      if (out.values.data != nullptr)
        add(weights_.all().transposed(), dy.row_range(begin, end), true,
            out.values.row_range(0, met));
      if (!wants_slopes) continue;
      const matrix_view<C> slopes = weights_.matrix(slopes_);
      weights_.product(dy.row_range(begin, end), v.row_range(0, met).transposed(), slopes);
      for (index_t i = 0; i < end - begin; ++i) {
        const C* const weight = weights_.row(i);
        C* const slope = slopes_.data() + i * met;
        const C mean = weights_.weigh_and_sum(i, slope, attended);
        for (index_t j = 0; j < met; ++j)
          slope[j] = weight[j] == 0 ? C(0) : (slope[j] - weight[j] * mean) * scale;
        if (out.of_mask) give_row(begin + i, met, slope);
      }
      if (out.queries.data != nullptr)
        add(constant(slopes), k.row_range(0, met), false, out.queries.row_range(begin, end));
      if (out.keys.data != nullptr)
        add(constant(slopes).transposed(), q.row_range(begin, end), true,
            out.keys.row_range(0, met));
    }
  }

 private:
  attention_weights<C> weights_;
  scratch_vector<C> slopes_;
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
        mask_(call, call.operands.size() > 4 ? 4 : -1) {}

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
      work.run(head_of(q, head_offset(q, at, 1)), head_of(k, head_offset(k, at, group)),
               head_of(v, head_offset(v, at, group)), head_of(dy, head_offset(dy, at, 1)),
               out_of(at, group), attended_keys<T>{&mask_, &at},
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
