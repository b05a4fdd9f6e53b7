// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/function_kernels.hpp"
#include "shardwise/kernel/kernel_call.hpp"
#include "shardwise/kernel/loop_nest.hpp"
#include "shardwise/kernel/reduction_arithmetic.hpp"
#include "shardwise/operation/cumprod.hpp"
#include "shardwise/operation/cumsum.hpp"
#include "shardwise/operation/logcumsumexp.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

namespace shardwise {

namespace detail {

/// One traversal for each row along the last dimension, row by row along others. Integers wrap
/// around.
template <class Class, class Function>
struct scan_kernel {
  template <class T>
  static void run(const kernel_call& call) {
    const auto dim = static_cast<int>(call.how.integers[0]);
    in_compute_type<T, 1>(call, [&](const auto& from, const auto& to) {
      if (from.size() == 0) return;
      if (dim == from.rank() - 1)
        scan_along_rows<compute_type<T>>(from, to);
      else
        scan_rows<compute_type<T>>(from, to, dim);
    });
  }

 private:
  template <class C>
  static void scan_along_rows(const strided<const C>& from, const strided<C>& to) {
    const int last = from.rank() - 1;
    loop_nest<2> nest;
    for (int d = 0; d < last; ++d) nest.push({from.extents[d], {from.strides[d], to.strides[d]}});
    for (index_t i = 0; i < nest.size(); ++i) {
      const auto at = nest.at(i);
      const C* const row = from.data + at.offsets[0];
      C* const out = to.data + at.offsets[1];
      const index_t count = from.extents[last];
      C running = row[0];
      out[0] = running;
      index_t x = 1;
      if constexpr (is_extreme)
        if (from.strides[last] == 1 && to.strides[last] == 1)
          for (; x + run_length <= count; x += run_length)
            running = scan_run(running, row + x, out + x);
      for (; x < count; ++x) {
        running = next_running(running, row[x * from.strides[last]]);
        out[x * to.strides[last]] = running;
      }
    }
  }
  static constexpr bool is_extreme = Class::kind == reduction::max || Class::kind == reduction::min;
  static constexpr index_t run_length = 32;

  /// Scans a run of elements. In most runs no element exceeds the running extreme, which then fills
  /// the run. An element equal to it would be no different, unless one of them is -0.
  template <class C>
  [[nodiscard]] static C scan_run(C running, const C* from, C* to) noexcept {
    const auto exceeds = [](const C& a, const C& b) {
      return Class::kind == reduction::max ? a > b : a < b;
    };
    using count_type = std::conditional_t<sizeof(C) == 8, std::int64_t, std::int32_t>;
    count_type changes = 0;  // as wide as an element, so that compilers vectorise the loop
    if (running == C{0})
      for (index_t i = 0; i < run_length; ++i) changes += exceeds(running, from[i]) ? 0 : 1;
    else
      for (index_t i = 0; i < run_length; ++i)
        changes += exceeds(running, from[i]) || running == from[i] ? 0 : 1;
    if (changes == 0) {
      for (index_t i = 0; i < run_length; ++i) to[i] = running;
      return running;
    }
    for (index_t i = 0; i < run_length; ++i) to[i] = running = next_running(running, from[i]);
    return running;
  }
  /// The function; for extremes, a comparison decides for most elements.
  template <class C>
  [[nodiscard]] static C next_running(const C& running, const C& next) noexcept {
    if constexpr (Class::kind == reduction::max) {
      if (next < running) return running;
      if (next > running) return next;
    } else if constexpr (Class::kind == reduction::min) {
      if (next > running) return running;
      if (next < running) return next;
    }
    return kernel<Function>::run(running, next);
  }
  /// Row by row: each is combined with the one before it, which is still in the cache.
  template <class C>
  static void scan_rows(const strided<const C>& from, const strided<C>& to, int dim) {
    loop_nest<2> nest;  // without the scanned operand
    for (int d = 0; d < from.rank(); ++d)
      if (d != dim) nest.push({from.extents[d], {from.strides[d], to.strides[d]}});
    const index_t row = nest.inner_extent();
    const index_t step = nest.inner_stride(0), move = nest.inner_stride(1);
    for_each_row(nest, [&](const index_t(&at)[2]) {
      const C* source = from.data + at[0];
      C* target = to.data + at[1];
      for (index_t i = 0; i < row; ++i) target[i * move] = source[i * step];
      for (index_t x = 1; x < from.extents[dim]; ++x) {
        const C* const before = target;
        source += from.strides[dim];
        target += to.strides[dim];
        if (step == 1 && move == 1)
          detail::reduce_pair<C, Function>(before, source, target, row);
        else
          for (index_t i = 0; i < row; ++i)
            target[i * move] = kernel<Function>::run(before[i * move], source[i * step]);
      }
    });
  }
};

}  // namespace detail

namespace detail {

/// One traversal for each line, which keeps the position of the extreme: the value of each element
/// is added there, or taken from there.
template <class Class, bool IsPicked>
struct running_extreme_kernel {
  template <class T>
  static void run(const kernel_call& call) {
    const auto dim = static_cast<int>(call.how.integers[0]);
    in_compute_type<T, 2>(call, [&](const auto& x, const auto& given, const auto& to) {
      using C = compute_type<T>;
      loop_nest<3> nest;
      for (int d = 0; d < x.rank(); ++d)
        if (d != dim) nest.push({x.extents[d], {x.strides[d], given.strides[d], to.strides[d]}});
      for (index_t i = 0; i < nest.size(); ++i) {
        const auto at = nest.at(i);
        index_t best = 0;
        for (index_t n = 0; n < x.extents[dim]; ++n) {
          const C next = x.data[at.offsets[0] + n * x.strides[dim]];
          const C have = x.data[at.offsets[0] + best * x.strides[dim]];
          const bool is_better = Class::kind == reduction::max ? next > have : next < have;
          if (n > 0 && (is_better || (next != next && have == have))) best = n;
          C& here = to.data[at.offsets[2] + n * to.strides[dim]];
          if constexpr (IsPicked) {
            here = given.data[at.offsets[1] + best * given.strides[dim]];
          } else {
            here = C{};
            to.data[at.offsets[2] + best * to.strides[dim]] +=
                given.data[at.offsets[1] + n * given.strides[dim]];
          }
        }
      }
    });
  }
};

/// A running sum of exponentials, in units of that of the greatest element so far. Its digits do
/// not depend on how large the elements are.
template <class C>
struct exponential_sum {
  C greatest = -std::numeric_limits<C>::infinity();
  C total{};

  /// Adds the exponential of an element.
  void add(C x) noexcept {
    if (x == -std::numeric_limits<C>::infinity()) return;
    if (x <= greatest) {
      total += x == greatest ? C{1} : std::exp(x - greatest);
    } else {
      total = total == C{} ? C{1} : total * std::exp(greatest - x) + C{1};
      greatest = x;
    }
  }
  /// Returns the logarithm of the sum.
  [[nodiscard]] C log() const noexcept {
    return total == C{} ? greatest : greatest + std::log(total);
  }
  /// Returns the share of an element in the sum.
  [[nodiscard]] C share_of(C x) const noexcept {
    return x == -std::numeric_limits<C>::infinity() ? C{} : std::exp(x - greatest) / total;
  }
  /// Returns the share of an earlier sum in this one.
  [[nodiscard]] C share_of(const exponential_sum& earlier) const noexcept {
    return earlier.total == C{} ? C{} : share_of(earlier.greatest) * earlier.total;
  }
};

/// The elements along one dimension.
template <class C>
struct strided_line {
  C* data;
  index_t stride;
  [[nodiscard]] C& operator[](index_t n) const noexcept { return data[n * stride]; }
};

/// One traversal for each line.
struct logcumsumexp_kernel {
  template <class T>
  static void run(const kernel_call& call) {
    const auto dim = static_cast<int>(call.how.integers[0]);
    in_compute_type<T, 1>(call, [&](const auto& x, const auto& to) {
      using C = compute_type<T>;
      const index_t count = x.extents[dim];
      loop_nest<2> nest;
      for (int d = 0; d < x.rank(); ++d)
        if (d != dim) nest.push({x.extents[d], {x.strides[d], to.strides[d]}});
      for (index_t i = 0; i < nest.size() && count > 0; ++i) {
        const auto at = nest.at(i);
        const strided_line<const C> from{x.data + at.offsets[0], x.strides[dim]};
        const strided_line<C> out{to.data + at.offsets[1], to.strides[dim]};
        exponential_sum<C> sum;
        for (index_t n = 0; n < count; ++n) {
          sum.add(from[n]);
          out[n] = sum.log();
        }
      }
    });
  }
};

/// Sums in which each element is weighted, line by line. The weights of one result are those of its
/// neighbour times one factor, at most 1, so that a line takes time in proportion to its length.
template <bool IsPicked>
struct logcumsumexp_weighted_kernel {
  template <class T>
  static void run(const kernel_call& call) {
    const auto dim = static_cast<int>(call.how.integers[0]);
    in_compute_type<T, 2>(call, [&](const auto& x, const auto& given, const auto& to) {
      using C = compute_type<T>;
      const index_t count = x.extents[dim];
      loop_nest<3> nest;
      for (int d = 0; d < x.rank(); ++d)
        if (d != dim) nest.push({x.extents[d], {x.strides[d], given.strides[d], to.strides[d]}});
      std::vector<exponential_sum<C>> sums(IsPicked ? 0 : static_cast<std::size_t>(count));
      for (index_t i = 0; i < nest.size() && count > 0; ++i) {
        const auto at = nest.at(i);
        const strided_line<const C> from{x.data + at.offsets[0], x.strides[dim]};
        const strided_line<const C> terms{given.data + at.offsets[1], given.strides[dim]};
        const strided_line<C> out{to.data + at.offsets[2], to.strides[dim]};
        if constexpr (IsPicked)
          pick(from, terms, out, count);
        else
          share(from, sums, terms, out);
      }
    });
  }

 private:
  template <class C>
  static void pick(const strided_line<const C>& x, const strided_line<const C>& terms,
                   const strided_line<C>& out, index_t count) noexcept {
    exponential_sum<C> sum;
    C mean{};
    for (index_t n = 0; n < count; ++n) {
      const exponential_sum<C> before = sum;
      sum.add(x[n]);
      mean = mean * sum.share_of(before) + terms[n] * sum.share_of(x[n]);
      out[n] = mean;
    }
  }
  template <class C>
  static void share(const strided_line<const C>& x, std::vector<exponential_sum<C>>& sums,
                    const strided_line<const C>& terms, const strided_line<C>& out) noexcept {
    exponential_sum<C> sum;
    for (std::size_t n = 0; n < sums.size(); ++n) {
      sum.add(x[static_cast<index_t>(n)]);
      sums[n] = sum;
    }
    C later{};
    for (std::size_t n = sums.size(); n-- > 0;) {
      const auto at = static_cast<index_t>(n);
      if (n + 1 < sums.size()) later *= sums[n + 1].share_of(sums[n]);
      later += terms[at];
      out[at] = later * sums[n].share_of(x[at]);
    }
  }
};

}  // namespace detail

template <>
struct kernel_of<cummax_share_operation>
    : detail::running_extreme_kernel<cummax_share_operation, false> {};
template <>
struct kernel_of<cummin_share_operation>
    : detail::running_extreme_kernel<cummin_share_operation, false> {};
template <>
struct kernel_of<cummax_pick_operation>
    : detail::running_extreme_kernel<cummax_pick_operation, true> {};
template <>
struct kernel_of<cummin_pick_operation>
    : detail::running_extreme_kernel<cummin_pick_operation, true> {};
template <>
struct kernel_of<logcumsumexp_operation> : detail::logcumsumexp_kernel {};
template <>
struct kernel_of<logcumsumexp_share_operation> : detail::logcumsumexp_weighted_kernel<false> {};
template <>
struct kernel_of<logcumsumexp_pick_operation> : detail::logcumsumexp_weighted_kernel<true> {};
template <>
struct kernel_of<cumsum_operation> : detail::scan_kernel<cumsum_operation, functions::add> {};
template <>
struct kernel_of<cumprod_operation> : detail::scan_kernel<cumprod_operation, functions::multiply> {
};
template <>
struct kernel_of<cummax_operation> : detail::scan_kernel<cummax_operation, functions::maximum> {};
template <>
struct kernel_of<cummin_operation> : detail::scan_kernel<cummin_operation, functions::minimum> {};

}  // namespace shardwise
