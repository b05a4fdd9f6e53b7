// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/function_kernels.hpp"
#include "shardwise/kernel/kernel_call.hpp"
#include "shardwise/kernel/loop_nest.hpp"
#include "shardwise/kernel/reduction_arithmetic.hpp"
#include "shardwise/operation/cumprod.hpp"
#include "shardwise/operation/cumsum.hpp"

#include <cstdint>
#include <type_traits>

namespace shardwise {

namespace detail {

/// One traversal for each row along the last dimension, row by row along others. Integers wrap
/// around.
template <class Class, class Function>
struct scan_kernel {
  static constexpr bool widens_halves = true;
  static constexpr bool widens_bytes = true;

  template <class T>
  static void run(const kernel_call& call) {
    const auto dim = static_cast<int>(call.how.integers[0]);
    on_blocks<T, 1>(call, [&](const auto& from, const auto& to) {
      if (from.size() == 0) return;
      if (dim == from.rank() - 1)
        scan_along_rows<T>(from, to);
      else
        scan_rows<T>(from, to, dim);
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
  static constexpr bool widens_halves = true;

  template <class C>
  static void run(const kernel_call& call) {
    const auto dim = static_cast<int>(call.how.integers[0]);
    on_blocks<C, 2>(call, [&](const auto& x, const auto& given, const auto& to) {
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
struct kernel_of<cumsum_operation> : detail::scan_kernel<cumsum_operation, functions::add> {};
template <>
struct kernel_of<cumprod_operation> : detail::scan_kernel<cumprod_operation, functions::multiply> {
};
template <>
struct kernel_of<cummax_operation> : detail::scan_kernel<cummax_operation, functions::maximum> {};
template <>
struct kernel_of<cummin_operation> : detail::scan_kernel<cummin_operation, functions::minimum> {};

}  // namespace shardwise
