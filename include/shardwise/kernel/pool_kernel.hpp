// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/copy_kernel.hpp"
#include "shardwise/kernel/fold_identity.hpp"
#include "shardwise/kernel/window_panel.hpp"
#include "shardwise/operation/pool.hpp"

#include <algorithm>
#include <concepts>
#include <memory>

namespace shardwise {

namespace detail {

/// The walk of the windows `windows` of a pooling over a block without gaps that holds `read`.
[[nodiscard]] inline window_walk pool_walk(const attributes& how, const held_box& read,
                                           const held_box& windows) noexcept {
  return walk_windows(
      row_major(extents_of(read)), read, windows, pooled::dimensions(how),
      [&](int d) {
        window_numbers one = pooled::at(how, d);
        one.extent = 1;
        return one;
      },
      [&](int d) { return pooled::at(how, d).extent; });
}

/// Calls `f(element, first, step, windows)` for each element `k` of the windows of each row of
/// windows that reads some of a row of the block: those windows, numbered from the first of the
/// row, begin to read at `first`, every `step`-th element. `row(number)` is told each row before.
template <class Row, class F>
void for_each_pooled_row(const window_walk& walk, const Row& row, const F& f) {
  for (index_t i = 0; i < walk.count[0]; ++i)
    for (index_t j = 0; j < walk.count[1]; ++j) {
      row(i * walk.count[1] + j);
      for (index_t k = 0; k < walk.elements(); ++k) {
        const index_t a = walk.index_at(0, i, k / (walk.size[1] * walk.size[2]));
        const index_t b = walk.index_at(1, j, k / walk.size[2] % walk.size[1]);
        if (a < 0 || b < 0) continue;
        const index_t line = a * walk.step[0] + b * walk.step[1], element = k % walk.size[2];
        if (walk.numbers[2].spacing == 1) {
          const index_range inside = walk.inside(2, element);
          const index_t stride = walk.numbers[2].stride;
          if (!inside.empty())
            f(line + walk.offset_of(2, element) + inside.begin * stride, stride, inside);
          continue;
        }
        for (index_t p = 0; p < walk.count[2]; ++p)
          if (const index_t at = walk.index_at(2, p, element); at >= 0)
            f(line + at, 1, index_range{p, p + 1});
      }
    }
}

/// True for equal elements, and for NaN and NaN.
template <class C>
[[nodiscard]] bool matches(C a, C b) noexcept {
  return a == b || (a != a && b != b);
}

/// How many blocks of spatial dimensions there are: the product of the dimensions before them.
[[nodiscard]] inline index_t leading_blocks(const held_box& held, int dimensions) noexcept {
  index_t n = 1;
  for (int d = 0; d < held.ssize() - dimensions; ++d) n *= held[d].size();
  return n;
}

}  // namespace detail

/// Row by row of the result: each element of the windows is folded into all of them at once.
template <>
struct kernel_of<pool_operation> {
  template <class T>
  static void run(const kernel_call& call) {
    using C = compute_type<T>;
    in_compute_type<T, 1>(call, [&](const strided<const C>& x, const strided<C>& to) {
      std::unique_ptr<C[]> memory;
      const C* from = detail::without_gaps(x, memory);
      const detail::window_walk walk = detail::pool_walk(call.how, call.parts[0], call.made);
      const index_t read = walk.have[0] * walk.have[1] * walk.have[2];
      const index_t blocks =
          detail::leading_blocks(call.made, detail::pooled::dimensions(call.how));
      C* out = to.data;
      for (index_t n = 0; n < blocks; ++n, from += read, out += walk.positions()) {
        if (call.how.kind == reduction::max)
          fold<C>(walk, from, out, identity_of<C>(reduction::max),
                  [](C a, C b) { return b > a || b != b ? b : a; });
        else
          fold<C>(walk, from, out, C{0}, [](C a, C b) { return static_cast<C>(a + b); });
        if constexpr (std::floating_point<C>)
          if (call.how.integers[15] != 1)
            for (index_t p = 0; p < walk.positions(); ++p)
              out[p] /= static_cast<C>(call.how.integers[15]);
      }
    });
  }

 private:
  template <class C, class Fold>
  static void fold(const detail::window_walk& walk, const C* from, C* out, C identity,
                   const Fold& folded) {
    C* to = out;
    detail::for_each_pooled_row(
        walk,
        [&](index_t row) {
          to = out + row * walk.count[2];
          std::fill_n(to, walk.count[2], identity);
        },
        [&](index_t first, index_t step, const index_range& windows) {
          const C* source = from + first;
          for (index_t p = windows.begin; p < windows.end; ++p, source += step)
            to[p] = folded(to[p], *source);
        });
  }
};

/// Sums over windows of what stands where an element equals that of its window.
template <>
struct kernel_of<pool_matches_operation> {
  template <class T>
  static void run(const kernel_call& call) {
    using C = compute_type<T>;
    if (call.operands.size() == 2)
      in_compute_type<T, 2>(call, [&](const auto& x, const auto& y, const strided<C>& to) {
        sum<C>(call, x, y, nullptr, to);
      });
    else
      in_compute_type<T, 3>(
          call, [&](const auto& x, const auto& y, const strided<const C>& v, const strided<C>& to) {
            std::unique_ptr<C[]> memory;
            sum<C>(call, x, y, detail::without_gaps(v, memory), to);
          });
  }

 private:
  template <class C>
  static void sum(const kernel_call& call, const strided<const C>& x, const strided<const C>& y,
                  const C* added, const strided<C>& to) {
    std::unique_ptr<C[]> x_memory, y_memory;
    const C* from = detail::without_gaps(x, x_memory);
    const C* of_window = detail::without_gaps(y, y_memory);
    const detail::window_walk walk = detail::pool_walk(call.how, call.parts[0], call.made);
    const index_t read = walk.have[0] * walk.have[1] * walk.have[2];
    const index_t blocks = detail::leading_blocks(call.made, detail::pooled::dimensions(call.how));
    C* out = to.data;
    for (index_t n = 0; n < blocks; ++n, from += read) {
      index_t row = 0;
      detail::for_each_pooled_row(
          walk,
          [&](index_t number) {
            row = number * walk.count[2];
            std::fill_n(out + row, walk.count[2], C{0});
          },
          [&](index_t first, index_t step, const index_range& windows) {
            index_t at = first;
            for (index_t p = windows.begin; p < windows.end; ++p, at += step)
              if (detail::matches(from[at], of_window[row + p]))
                out[row + p] = static_cast<C>(out[row + p] + (added == nullptr ? C{1} : added[at]));
          });
      out += walk.positions();
      of_window += walk.positions();
      if (added != nullptr) added += read;
    }
  }
};

/// What belongs to windows, added to the elements that equal theirs.
template <>
struct kernel_of<pool_spread_operation> {
  template <class T>
  static void run(const kernel_call& call) {
    using C = compute_type<T>;
    in_compute_type<T, 3>(call, [&](const strided<const C>& x, const strided<const C>& y,
                                    const strided<const C>& share, const strided<C>& to) {
      std::unique_ptr<C[]> memory[3];
      const C* own = detail::without_gaps(x, memory[0]);
      const C* of_window = detail::without_gaps(y, memory[1]);
      const C* belongs = detail::without_gaps(share, memory[2]);
      const detail::window_walk walk = detail::pool_walk(call.how, call.made, call.parts[1]);
      const index_t read = walk.have[0] * walk.have[1] * walk.have[2];
      const index_t blocks =
          detail::leading_blocks(call.made, detail::pooled::dimensions(call.how));
      C* out = to.data;
      for (index_t n = 0; n < blocks; ++n, own += read, out += read) {
        std::fill_n(out, read, C{0});
        index_t row = 0;
        detail::for_each_pooled_row(
            walk, [&](index_t number) { row = number * walk.count[2]; },
            [&](index_t first, index_t step, const index_range& windows) {
              index_t at = first;
              for (index_t p = windows.begin; p < windows.end; ++p, at += step)
                if (detail::matches(own[at], of_window[row + p]))
                  out[at] = static_cast<C>(out[at] + belongs[row + p]);
            });
        of_window += walk.positions();
        belongs += walk.positions();
      }
    });
  }
};

}  // namespace shardwise
