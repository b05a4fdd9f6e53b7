// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/growable.hpp"
#include "shardwise/kernel/attention_gradient_kernel.hpp"

#include <algorithm>
#include <cstddef>

namespace shardwise {

namespace internal {

/// The cotangents of the results of a gradient, for one head; those that are given have memory.
template <class C>
struct attention_directions {
  matrix_view<const C> queries{}, keys{}, values{};
};

/// The gradient of the gradient of one head, for blocks of queries. The directions are the
/// cotangents of the gradient's results; along them, scores and weights have derivatives.
template <class C>
class attention_second_gradient_head {
 public:
  attention_second_gradient_head(index_t width, index_t keys)
      : weights_(width, keys),
        of_scores_(weights_.size()),
        along_(weights_.size()),
        twice_(weights_.size()),
        part_(weights_.size()) {}

  /// Adds the cotangent of operand `of` to `out`; that of a mask is passed to `give_row`.
  /// `add_direction(i, count, row)` adds the direction of a mask.
  template <class Attended, class Add, class Give>
  void run(const matrix_view<const C>& q, const matrix_view<const C>& keys,
           const matrix_view<const C>& values, const matrix_view<const C>& dy,
           const attention_directions<C>& given, const Attended& attended, const Add& add_direction,
           int of, const matrix_view<C>& out, const Give& give_row) {
    for (index_t begin = 0; begin < q.rows; begin += weights_.most_queries()) {
      const index_t end = std::min(begin + weights_.most_queries(), q.rows);
      weights_.compute(q, keys, begin, end, attended);
      const index_t met = weights_.met();
      if (met == 0) continue;
      const auto block = [&](const matrix_view<const C>& x) { return x.row_range(begin, end); };
      const auto leading = [&](const auto& x) { return x.row_range(0, met); };
      const auto scores = weights_.matrix(of_scores_), along = weights_.matrix(along_),
                 twice = weights_.matrix(twice_);
      weights_.product(block(dy), leading(values).transposed(), scores);
      std::fill_n(along.data, along.rows * met, C(0));
      if (given.queries.data != nullptr)
        weights_.product(block(given.queries), leading(keys).transposed(), along);
      if (given.keys.data != nullptr) add_part(block(q), leading(given.keys).transposed(), along);
      std::fill_n(twice.data, twice.rows * met, C(0));
      if (given.values.data != nullptr)
        weights_.product(block(dy), leading(given.values).transposed(), twice);
      for (index_t i = 0; i < end - begin; ++i) {
        C* const row = along_.data() + i * met;
        for (index_t j = 0; j < met; ++j) row[j] *= weights_.scale();
        add_direction(begin + i, met, row);
        differentiate(i, of < 2 ? weights_.scale() : C(1), attended);
        if (of == 4) give_row(begin + i, met, twice_.data() + i * met);
      }
      const auto add = [&](const matrix_view<const C>& numbers, const matrix_view<const C>& rows,
                           bool by_key, const matrix_view<C>& to) {
        if (rows.data != nullptr) weights_.add_product(numbers, rows, by_key, to, attended);
      };
      if (of == 0) {
        const auto to = out.row_range(begin, end);
        add(constant(twice), leading(keys), false, to);
        if (given.keys.data != nullptr) add(constant(scores), leading(given.keys), false, to);
      } else if (of == 1) {
        add(constant(twice).transposed(), block(q), true, leading(out));
        if (given.queries.data != nullptr)
          add(constant(scores).transposed(), block(given.queries), true, leading(out));
      } else if (of == 2) {
        add(constant(along).transposed(), block(dy), true, leading(out));
      } else if (of == 3) {
        const auto to = out.row_range(begin, end);
        add(constant(along), leading(values), false, to);
        if (given.values.data != nullptr) add(weights_.all(), leading(given.values), false, to);
      }
    }
  }

 private:
  /// Adds a product to numbers of queries and keys.
  void add_part(const matrix_view<const C>& a, const matrix_view<const C>& b,
                const matrix_view<C>& to) {
    const matrix_view<C> part = weights_.matrix(part_);
    weights_.product(a, b, part);
    for (index_t x = 0; x < to.rows * to.columns; ++x) to.data[x] += part.data[x];
  }
  /// Of query `i`, with weights `w`, cotangents `a` of these, derivatives `u` of the scores along
  /// the directions, and `z`, the cotangents of the weights from the direction of the values: turns
  /// `a` into the cotangents of the scores, `w (a - sum(w a))`; `u` into the derivatives of the
  /// weights, `w (u - sum(w u))`; and `z` into the cotangents of the scores from all directions,
  /// `w (c - sum(w c))` with `c = u (a - sum(w a)) - a sum(w u) + z`. The first and the last are
  /// times `scale`.
  template <class Attended>
  void differentiate(index_t i, C scale, const Attended& attended) {
    const index_t met = weights_.met();
    const C* const w = weights_.row(i);
    C *const a = of_scores_.data() + i * met, *const u = along_.data() + i * met,
             *const z = twice_.data() + i * met, *const part = part_.data();
    for (C* const numbers : {a, u, z}) weights_.clear_hidden(i, numbers, attended);
    const auto mean = [&](const C* numbers) {
      for (index_t j = 0; j < met; ++j) part[j] = w[j] * numbers[j];
      return reduce_run<C, functions::add>(part, met, C(0));
    };
    const C mean_a = mean(a), mean_u = mean(u);
    for (index_t j = 0; j < met; ++j) z[j] += u[j] * (a[j] - mean_a) - mean_u * a[j];
    weights_.clear_hidden(i, z, attended);
    const C mean_z = mean(z);
    for (index_t j = 0; j < met; ++j) {
      a[j] = w[j] == 0 ? C(0) : w[j] * (a[j] - mean_a) * scale;
      u[j] = w[j] == 0 ? C(0) : w[j] * (u[j] - mean_u);
      z[j] = w[j] == 0 ? C(0) : w[j] * (z[j] - mean_z) * scale;
    }
  }

  attention_weights<C> weights_;
  scratch_vector<C> of_scores_, along_, twice_, part_;
};

}  // namespace internal

template <>
struct kernel_of<attention_second_gradient_operation> {
  template <class T>
  static void run(const kernel_call& call) {
    using C = compute_type<T>;
    using own = attention_second_gradient_operation;
    const auto of = static_cast<int>(call.how.integers[1]);
    const int first = own::own_operands(call.how, static_cast<int>(call.operands.size()));
    internal::growable<detail::computed_block<T>> blocks;
    for (std::size_t o : {0U, 1U, 2U, 3U}) blocks.emplace_back(call.operands[o]);
    // The places of the directions of queries, keys and values among the blocks; -1 if not given.
    int places[3];
    auto next = static_cast<std::size_t>(first);
    for (int o = 0; o < 3; ++o) {
      places[o] = own::has_cotangent_of(call.how, o) ? static_cast<int>(blocks.size()) : -1;
      if (places[o] >= 0) blocks.emplace_back(call.operands[next++]);
    }
    const const_any_block* const of_mask =
        own::has_cotangent_of(call.how, 3) ? &call.operands[next] : nullptr;
    const detail::attention_mask<T> mask(call, first > 4 ? 4 : -1);
    const auto &q = blocks[0].view(), &k = blocks[1].view(), &v = blocks[2].view(),
               &dy = blocks[3].view();
    const int head = q.rank() - 3;
    detail::with_wide_result<T>(call, [&](const strided<C>& given) {
      const strided<C>& out = internal::cleared(given);
      if (out.size() == 0 || dy.size() == 0 || v.size() == 0) return;
      internal::attention_second_gradient_head<C> work(q.extents[head + 2], k.extents[head + 1]);
      using place = inplace_vector<index_t, max_rank>;
      detail::for_each_head(q, [&](const place& at) {
        const auto head_in = [&](const auto& block) {
          const index_t group = q.extents[head] / block.extents[head];
          return detail::head_of(block, detail::head_offset(block, at, group));
        };
        const auto direction = [&](int o) {
          return places[o] < 0 ? matrix_view<const C>{}
                               : head_in(blocks[static_cast<std::size_t>(places[o])].view());
        };
        work.run(
            head_in(q), head_in(k), head_in(v), head_in(dy),
            {direction(0), direction(1), direction(2)}, detail::attended_keys<T>{&mask, &at},
            [&](index_t i, index_t count, C* row) {
              if (of_mask == nullptr) return;
              const auto from = detail::attention_mask<T>::run_of(*of_mask, at, i);
              const T* const numbers = static_cast<const T*>(of_mask->data) + from.offset;
              for (index_t j = 0; j < count; ++j) row[j] += static_cast<C>(numbers[j * from.step]);
            },
            of, of == 4 ? matrix_view<C>{} : head_in(out),
            [&](index_t i, index_t count, const C* row) {
              const auto to = detail::attention_mask<T>::run_of(out, at, i);
              for (index_t j = 0; j < count; ++j) out.data[to.offset + j * to.step] += row[j];
            });
      });
    });
  }
};

}  // namespace shardwise
