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
  // Without branches, which would be taken at random.
  return static_cast<bool>(static_cast<int>(a == b) |
                           (static_cast<int>(a != a) & static_cast<int>(b != b)));
}

/// How many blocks of spatial dimensions there are: the product of the dimensions before them.
[[nodiscard]] inline index_t leading_blocks(const held_box& held, int dimensions) noexcept {
  index_t n = 1;
  for (int d = 0; d < held.ssize() - dimensions; ++d) n *= held[d].size();
  return n;
}

}  // namespace detail

/// Along the last dimension last: what stands above each other in windows is folded first, all rows
/// at once.
template <>
struct kernel_of<pool_operation> {
  template <class T>
  static void run(const kernel_call& call) {
    using C = compute_type<T>;
    in_compute_type<T, 1>(call, [&](const strided<const C>& x, const strided<C>& to) {
      if (to.size() == 0) return;
      std::unique_ptr<C[]> memory;
      const C* from = detail::without_gaps(x, memory);
      const detail::window_walk walk = detail::pool_walk(call.how, call.parts[0], call.made);
      const index_t read = walk.have[0] * walk.have[1] * walk.have[2];
      const index_t lines = walk.count[0] * walk.count[1] * walk.have[2];
      const auto folded = std::make_unique_for_overwrite<C[]>(static_cast<std::size_t>(lines));
      const bool is_dense =
          walk.numbers[0].spacing * walk.numbers[1].spacing * walk.numbers[2].spacing == 1;
      C* out = to.data;
      for (index_t n = to.size() / walk.positions(); n > 0; --n, out += walk.positions()) {
        std::fill_n(out, walk.positions(), identity_of<C>(call.how.kind));
        if (is_dense)
          fold<C>(walk, call.how.kind, from, folded.get(), out);
        else
          add_spaced<C>(walk, from, out);
        from += read;
      }
      if constexpr (std::floating_point<C>)
        if (const index_t count = call.how.integers[15]; count != 1)
          for (index_t p = 0; p < to.size(); ++p) to.data[p] /= static_cast<C>(count);
    });
  }

 private:
  template <class C>
  static void fold(const detail::window_walk& walk, reduction kind, const C* from, C* folded,
                   C* out) {
    const index_t width = walk.have[2], rows = walk.count[0] * walk.count[1];
    std::fill_n(folded, rows * width, identity_of<C>(kind));
    const auto first = [&](int d, index_t k, const index_range& windows) {
      return (walk.offset_of(d, k) + windows.begin * walk.numbers[d].stride) * walk.step[d];
    };
    const auto apart = [&](int d) { return walk.numbers[d].stride * walk.step[d]; };
    for (index_t k = 0; k < walk.size[0]; ++k)
      for (index_t l = 0; l < walk.size[1]; ++l) {
        const index_range planes = walk.inside(0, k), lines = walk.inside(1, l);
        if (planes.empty() || lines.empty() || width == 0) continue;
        const inplace_vector<index_t, max_rank> extents{planes.size(), lines.size(), width};
        fold_block<C>(
            kind,
            {from + first(0, k, planes) + first(1, l, lines), extents, {apart(0), apart(1), 1}},
            {folded + (planes.begin * walk.count[1] + lines.begin) * width,
             extents,
             {walk.count[1] * width, width, 1}});
      }
    for (index_t k = 0; k < walk.size[2]; ++k) {
      const index_range windows = walk.inside(2, k);
      if (windows.empty()) continue;
      const inplace_vector<index_t, max_rank> extents{rows, windows.size()};
      fold_block<C>(kind, {folded + first(2, k, windows), extents, {width, apart(2)}},
                    {out + windows.begin, extents, {walk.count[2], 1}});
    }
  }
  /// The sums of elements that stand apart, which are those of gradients alone.
  template <class C>
  static void add_spaced(const detail::window_walk& walk, const C* from, C* out) {
    C* to = out;
    detail::for_each_pooled_row(
        walk, [&](index_t row) { to = out + row * walk.count[2]; },
        [&](index_t first, index_t step, const index_range& windows) {
          const C* source = from + first;
          for (index_t p = windows.begin; p < windows.end; ++p, source += step)
            to[p] = static_cast<C>(to[p] + *source);
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
              out[row + p] =
                  static_cast<C>(out[row + p] + (detail::matches(from[at], of_window[row + p])
                                                     ? (added == nullptr ? C{1} : added[at])
                                                     : C{0}));
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
                out[at] = static_cast<C>(out[at] + (detail::matches(own[at], of_window[row + p])
                                                        ? belongs[row + p]
                                                        : C{0}));
            });
        of_window += walk.positions();
        belongs += walk.positions();
      }
    });
  }
};

}  // namespace shardwise
