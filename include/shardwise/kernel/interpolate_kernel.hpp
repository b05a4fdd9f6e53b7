// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/copy_kernel.hpp"
#include "shardwise/kernel/function_kernels.hpp"
#include "shardwise/kernel/interpolation_weights.hpp"
#include "shardwise/kernel/kernel_call.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>

namespace shardwise {

namespace detail {

/// Weighted sums of the elements along a dimension, many lines at once. A sum begins with the
/// product of its first term and adds the others in order, without contraction, so that an element
/// has the same bits in every layout.
template <class C>
class interpolated_lines {
 public:
  using term = typename interpolation_weights<C>::term;

  interpolated_lines(int dim, const interpolation_weights<C>& weights, const strided<const C>& from,
                     const strided<C>& to)
      : dim_(dim), weights_(weights), from_(from), to_(to) {
    for (int d = 0; d < to.rank(); ++d)
      if (d != dim) nest_.push({to.extents[d], {from.strides[d], to.strides[d]}});
  }
  void run() const {
    const bool are_rows = nest_.inner_stride(0) == 1 && nest_.inner_stride(1) == 1;
    if (are_rows && nest_.inner_extent() >= lanes) return sum_rows();
    if (nest_.size() < lanes || std::max(from_.extents[dim_], to_.extents[dim_]) > longest)
      return sum_lines();
    sum_beside();
  }

 private:
  using vector = typename vector_of<C>::type;
  static constexpr index_t lanes = sizeof(vector) / sizeof(C);
  /// The number of lines that are computed together, and the greatest length with which they fit a
  /// cache.
  static constexpr index_t beside = 64 / sizeof(C);
  static constexpr index_t longest = 4096;

  /// Rows that lie along other dimensions are summed as they are.
  void sum_rows() const {
    for_each_row(nest_, [&](const index_t(&at)[2]) {
      for (index_t i = 0; i < to_.extents[dim_]; ++i)
        sum(from_.data + at[0], from_.strides[dim_], weights_.of(i),
            to_.data + at[1] + i * to_.strides[dim_], nest_.inner_extent());
    });
  }
  /// Lines that are few or long are summed element by element.
  void sum_lines() const {
    for (index_t line = 0; line < nest_.size(); ++line) {
      const auto at = nest_.at(line);
      for (index_t i = 0; i < to_.extents[dim_]; ++i)
        sum(from_.data + at.offsets[0], from_.strides[dim_], weights_.of(i),
            to_.data + at.offsets[1] + i * to_.strides[dim_], 1);
    }
  }
  /// Lines are transposed, so that those side by side are rows.
  void sum_beside() const {
    const index_t width = std::min(beside, nest_.size());
    const index_t size = from_.extents[dim_], new_size = to_.extents[dim_];
    const auto read = make_scratch<C>(static_cast<std::size_t>(size * width));
    const auto made = make_scratch<C>(static_cast<std::size_t>(new_size * width));
    for (index_t first = 0; first < nest_.size(); first += width) {
      const index_t count = std::min(width, nest_.size() - first);
      for_each_piece(nest_, first, count, [&](index_t done, const index_t(&at)[2], index_t run) {
        copy_block<C>(
            {from_.data + at[0], {size, run}, {from_.strides[dim_], nest_.inner_stride(0)}},
            {read.get() + done, {size, run}, {width, 1}});
      });
      for (index_t i = 0; i < new_size; ++i)
        sum(read.get(), width, weights_.of(i), made.get() + i * width, count);
      for_each_piece(nest_, first, count, [&](index_t done, const index_t(&at)[2], index_t run) {
        copy_block<C>(
            {made.get() + done, {new_size, run}, {width, 1}},
            {to_.data + at[1], {new_size, run}, {to_.strides[dim_], nest_.inner_stride(1)}});
      });
    }
  }

  /// Computes `count` adjacent results, each a sum of elements that are `step` apart.
  static void sum(const C* from, index_t step, std::span<const term> terms, C* to,
                  index_t count) noexcept {
    if (terms.empty()) {
      std::fill_n(to, count, C{0});
      return;
    }
    if (terms.size() == 1 && terms[0].weight == C{1})
      return gather_elements(from + terms[0].from * step, 1, count, to);
    index_t i = 0;
    for (; i + 4 * lanes <= count; i += 4 * lanes) sum_vectors<4>(from + i, step, terms, to + i);
    for (; i + lanes <= count; i += lanes) sum_vectors<1>(from + i, step, terms, to + i);
    for (; i < count; ++i) {
      C total = multiply(terms[0].weight, from[terms[0].from * step + i]);
      for (const term& one : terms.subspan(1))
        total = add(total, multiply(one.weight, from[one.from * step + i]));
      to[i] = total;
    }
  }
  /// Computes the sums of `Count` vectors, which stay in registers.
  template <std::size_t Count>
  static void sum_vectors(const C* from, index_t step, std::span<const term> terms,
                          C* to) noexcept {
    vector sums[Count];
    const auto product = [&]<std::size_t I>(const term& one, const vector& weight) {
      return multiply(
          weight, packet::ploadu<vector>(from + one.from * step + static_cast<index_t>(I) * lanes));
    };
    const vector first = packet::pset1<vector>(terms[0].weight);
    for_each_index<Count>(
        [&]<std::size_t I>() { sums[I] = product.template operator()<I>(terms[0], first); });
    for (const term& one : terms.subspan(1)) {
      const vector weight = packet::pset1<vector>(one.weight);
      for_each_index<Count>([&]<std::size_t I>() {
        sums[I] = add(sums[I], product.template operator()<I>(one, weight));
      });
    }
    for_each_index<Count>(
        [&]<std::size_t I>() { packet::pstoreu(to + static_cast<index_t>(I) * lanes, sums[I]); });
  }
  template <class V>
  [[gnu::always_inline]] static V multiply(const V& a, const V& b) noexcept {
    return rounded(kernel<functions::multiply>::run(a, b));
  }
  template <class V>
  [[gnu::always_inline]] static V add(const V& a, const V& b) noexcept {
    return rounded(kernel<functions::add>::run(a, b));
  }

  int dim_;
  const interpolation_weights<C>& weights_;
  const strided<const C>& from_;
  const strided<C>& to_;
  loop_nest<2> nest_;
};

}  // namespace detail

/// The nearest elements are copied; all others are sums along one dimension after the other, in the
/// type of arithmetic, and rounded once.
template <>
struct kernel_of<interpolate_operation> {
  static constexpr bool widens_halves = true;

  template <class T>
  static void run(const kernel_call& call) {
    const bool is_transposed = interpolate_operation::is_transposed(call.how);
    const bool picks = interpolate_operation::picks(interpolate_operation::method(call.how));
    if constexpr (std::is_same_v<T, bool>) {
      copy_nearest<T>(call);
    } else if (picks && !is_transposed) {
      copy_nearest<T>(call);
    } else {
      on_blocks<T, 1>(
          call, [&](const auto& from, const auto& to) { sum_weighted<T>(call.how, from, to); });
    }
  }

 private:
  using what = interpolate_operation;

  [[nodiscard]] static internal::interpolated_positions positions(const attributes& how,
                                                                  index_t from,
                                                                  index_t to) noexcept {
    if (what::is_transposed(how)) std::swap(from, to);
    return {what::method(how), what::is_aligned(how), from, to};
  }

  template <class C>
  static void sum_weighted(const attributes& how, const strided<const C>& from,
                           const strided<C>& to) {
    const auto order = what::order(from.extents, to.extents);
    if (order.empty()) return copy_block<C>(from, to);
    if (to.size() == 0) return;
    if (from.size() == 0) return fill_block<C>(C{0}, to);
    strided<const C> source = from;
    scratch_array<C> held;
    for (int k = 0; k < order.ssize(); ++k) {
      const int dim = order[k];
      strided<C> target = to;
      scratch_array<C> memory;
      if (k + 1 < order.ssize()) {
        target.extents = source.extents;
        target.extents[dim] = to.extents[dim];
        target.strides = row_major(target.extents);
        memory = make_scratch<C>(static_cast<std::size_t>(target.size()));
        target.data = memory.get();
      }
      const detail::interpolation_weights<C> weights(
          positions(how, source.extents[dim], target.extents[dim]), what::is_transposed(how));
      detail::interpolated_lines<C>(dim, weights, source, target).run();
      source = {target.data, target.extents, target.strides};
      held = std::move(memory);
    }
  }

  /// Copies row by row; which element each one is copied from is computed once for each dimension.
  template <class T>
  static void copy_nearest(const kernel_call& call) {
    const strided<const T> from = call.operands[0].as<const T>();
    const strided<T> to = call.results[0].as<T>();
    if (to.size() == 0) return;
    const int last = to.rank() - 1;
    inplace_vector<scratch_vector<index_t>, max_rank> offsets;
    for (int d = 0; d <= last; ++d) {
      offsets.push_back({});
      if (from.extents[d] == to.extents[d]) continue;
      const auto places = positions(call.how, from.extents[d], to.extents[d]);
      offsets[d].resize(static_cast<std::size_t>(to.extents[d]));
      for (index_t i = 0; i < to.extents[d]; ++i)
        offsets[d][static_cast<std::size_t>(i)] = places.nearest(i) * from.strides[d];
    }
    inplace_vector<index_t, max_rank> at;
    at.resize(to.extents.size());
    const scratch_vector<index_t>& along = offsets[last];
    const index_t count = to.extents[last], move = to.strides[last];
    const auto next = [&] {
      for (int d = last - 1; d >= 0; --d) {
        if (++at[d] < to.extents[d]) return true;
        at[d] = 0;
      }
      return false;
    };
    do {
      const T* source = from.data;
      T* target = to.data;
      for (int d = 0; d < last; ++d) {
        source += offsets[d].empty() ? at[d] * from.strides[d]
                                     : offsets[d][static_cast<std::size_t>(at[d])];
        target += at[d] * to.strides[d];
      }
      if (along.empty() && move == 1)
        gather_elements(source, from.strides[last], count, target);
      else if (along.empty())
        for (index_t i = 0; i < count; ++i) target[i * move] = source[i * from.strides[last]];
      else
        for (index_t i = 0; i < count; ++i)
          target[i * move] = source[along[static_cast<std::size_t>(i)]];
    } while (next());
  }
};

}  // namespace shardwise
