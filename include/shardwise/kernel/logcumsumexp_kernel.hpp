// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/growable.hpp"
#include "shardwise/kernel/kernel_call.hpp"
#include "shardwise/kernel/loop_nest.hpp"
#include "shardwise/operation/logcumsumexp.hpp"

#include <cmath>
#include <cstddef>
#include <limits>

namespace shardwise {

namespace detail {

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
  static constexpr bool widens_halves = true;

  template <class C>
  static void run(const kernel_call& call) {
    const auto dim = static_cast<int>(call.how.integers[0]);
    on_blocks<C, 1>(call, [&](const auto& x, const auto& to) {
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
  static constexpr bool widens_halves = true;

  template <class C>
  static void run(const kernel_call& call) {
    const auto dim = static_cast<int>(call.how.integers[0]);
    on_blocks<C, 2>(call, [&](const auto& x, const auto& given, const auto& to) {
      const index_t count = x.extents[dim];
      loop_nest<3> nest;
      for (int d = 0; d < x.rank(); ++d)
        if (d != dim) nest.push({x.extents[d], {x.strides[d], given.strides[d], to.strides[d]}});
      internal::growable<exponential_sum<C>> sums(IsPicked ? 0 : static_cast<std::size_t>(count));
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
  static void share(const strided_line<const C>& x, internal::growable<exponential_sum<C>>& sums,
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
struct kernel_of<logcumsumexp_operation> : detail::logcumsumexp_kernel {};
template <>
struct kernel_of<logcumsumexp_share_operation> : detail::logcumsumexp_weighted_kernel<false> {};
template <>
struct kernel_of<logcumsumexp_pick_operation> : detail::logcumsumexp_weighted_kernel<true> {};

}  // namespace shardwise
