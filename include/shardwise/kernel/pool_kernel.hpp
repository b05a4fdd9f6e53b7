// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/copy_kernel.hpp"
#include "shardwise/kernel/pool_pairs.hpp"
#include "shardwise/kernel/reduction_identity.hpp"
#include "shardwise/kernel/scratch_memory.hpp"
#include "shardwise/kernel/window_panel.hpp"
#include "shardwise/operation/pool.hpp"

#include <algorithm>
#include <concepts>
#include <memory>

namespace shardwise {

namespace detail {

/// Returns the traversal of the windows `windows` of a pooling over a contiguous block that holds
/// `read`.
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

/// Calls `f(line, run)` for each element of the windows of each row of windows that reads some of a
/// row of the block, which begins at `line`; before each row of windows, calls `row(number)`.
template <class Row, class F>
void for_each_pooled_row(const window_walk& walk, const Row& row, const F& f) {
  for (index_t i = 0; i < walk.count[0]; ++i)
    for (index_t j = 0; j < walk.count[1]; ++j) {
      row(i * walk.count[1] + j);
      for (index_t k = 0; k < walk.elements(); ++k) {
        const index_t a = walk.index_at(0, i, k / (walk.size[1] * walk.size[2]));
        const index_t b = walk.index_at(1, j, k / walk.size[2] % walk.size[1]);
        if (a < 0 || b < 0) continue;
        f(a * walk.step[0] + b * walk.step[1], walk.run_of(2, k % walk.size[2]));
      }
    }
}

/// Returns true for equal elements, and for two NaNs.
template <class C>
[[nodiscard]] bool matches(C a, C b) noexcept {
  // Without branches, which could not be predicted.
  return static_cast<bool>(static_cast<int>(a == b) |
                           (static_cast<int>(a != a) & static_cast<int>(b != b)));
}

/// Returns the number of blocks of spatial dimensions: the product of the dimensions before them.
[[nodiscard]] inline index_t leading_blocks(const held_box& held, int dimensions) noexcept {
  index_t n = 1;
  for (int d = 0; d < held.ssize() - dimensions; ++d) n *= held[d].size();
  return n;
}

}  // namespace detail

/// Reduces along the last dimension last: the elements of windows in different rows are reduced
/// first, all rows at once.
template <>
struct kernel_of<pool_operation> {
  static constexpr bool widens_halves = true;

  template <class C>
  static void run(const kernel_call& call) {
    on_blocks<C, 1>(call, [&](const strided<const C>& x, const strided<C>& to) {
      if (to.size() == 0) return;
      scratch_array<C> memory;
      const C* from = detail::without_gaps(x, memory);
      const detail::window_walk walk = detail::pool_walk(call.how, call.parts[0], call.made);
      const index_t read = walk.have[0] * walk.have[1] * walk.have[2];
      const auto pairs = detail::find_pairs(walk);
      const index_t lines = pairs ? 0 : walk.count[0] * walk.count[1] * walk.have[2];
      const auto reduced = make_scratch<C>(static_cast<std::size_t>(lines));
      C* out = to.data;
      for (index_t n = to.size() / walk.positions(); n > 0; --n) {
        if (pairs)
          detail::reduce_pairs<C>(call.how.kind, *pairs, from, out);
        else
          reduce<C>(walk, call.how.kind, from, reduced.get(), out);
        from += read;
        out += walk.positions();
      }
      if constexpr (std::floating_point<C>)
        if (const auto count = static_cast<C>(call.how.integers[15]); count != C{1})
          run_pointwise<C>(fused::call<functions::divide, fused::argument<0>, fused::argument<1>>{},
                           {strided<const C>{to.data, {to.size()}, {1}},
                            strided<const C>{&count, {to.size()}, {0}}},
                           strided<C>{to.data, {to.size()}, {1}});
    });
  }

 private:
  using run_type = detail::window_walk::run;

  /// The contribution of one element of windows to a reduction: where it is read, and where it is
  /// added.
  template <class C>
  struct part {
    strided<const C> from;
    strided<C> into;
    bool is_whole = false;
  };

  /// Reduces the parts `part_of(k)` into an uninitialised block.
  template <class C, class PartOf>
  static void reduce_parts(reduction kind, index_t count, const strided<C>& into,
                           const PartOf& part_of) {
    const part<C> first = part_of(0);
    index_t next = 0;
    if (first.is_whole && count > 1 && part_of(1).is_whole) {
      reduce_block<C>(kind, first.from, part_of(1).from, into);
      next = 2;
    } else if (first.is_whole) {
      copy_block<C>(first.from, into);
      next = 1;
    } else {
      fill_block<C>(identity_of<C>(kind), into);
    }
    for (; next < count; ++next)
      if (const part<C> one = part_of(next); one.from.size() > 0)
        reduce_block<C>(kind, one.from, one.into);
  }
  template <class C>
  static void reduce(const detail::window_walk& walk, reduction kind, const C* from, C* reduced,
                     C* out) {
    const index_t width = walk.have[2], rows = walk.count[1];
    const auto rows_of = [&](index_t k) {
      const run_type i = walk.run_of(0, k / walk.size[1]), j = walk.run_of(1, k % walk.size[1]);
      const inplace_vector<index_t, max_rank> extents{i.count, j.count, width};
      return part<C>{{from + i.source * walk.step[0] + j.source * walk.step[1],
                      extents,
                      {i.source_step * walk.step[0], j.source_step * walk.step[1], 1}},
                     {reduced + (i.window * rows + j.window) * width,
                      extents,
                      {i.window_step * rows * width, j.window_step * width, 1}},
                     i.covers(walk.count[0]) && j.covers(rows)};
    };
    const strided<C> lines{reduced, {walk.count[0], rows, width}, {rows * width, width, 1}};
    const index_t above = walk.size[0] * walk.size[1];
    strided<const C> read{reduced, lines.extents, lines.strides};
    if (above == 1 && rows_of(0).is_whole)
      read = rows_of(0).from;
    else
      reduce_parts<C>(kind, above, lines, rows_of);
    const index_t positions = walk.count[2];
    reduce_parts<C>(
        kind, walk.size[2],
        {out, {walk.count[0], rows, positions}, {rows * positions, positions, 1}}, [&](index_t k) {
          const run_type q = walk.run_of(2, k);
          const inplace_vector<index_t, max_rank> extents{walk.count[0], rows, q.count};
          return part<C>{
              {read.data + q.source, extents, {read.strides[0], read.strides[1], q.source_step}},
              {out + q.window, extents, {rows * positions, positions, q.window_step}},
              q.covers(positions)};
        });
  }
};

/// Sums, over windows, the elements at the positions where an element equals that of its window.
template <>
struct kernel_of<pool_matches_operation> {
  static constexpr bool widens_halves = true;

  template <class C>
  static void run(const kernel_call& call) {
    if (call.operands.size() == 2)
      on_blocks<C, 2>(call, [&](const auto& x, const auto& y, const strided<C>& to) {
        sum<C>(call, x, y, nullptr, to);
      });
    else
      on_blocks<C, 3>(
          call, [&](const auto& x, const auto& y, const strided<const C>& v, const strided<C>& to) {
            scratch_array<C> memory;
            sum<C>(call, x, y, detail::without_gaps(v, memory), to);
          });
  }

 private:
  template <class C>
  static void sum(const kernel_call& call, const strided<const C>& x, const strided<const C>& y,
                  const C* added, const strided<C>& to) {
    scratch_array<C> x_memory, y_memory;
    const C* from = detail::without_gaps(x, x_memory);
    const C* of_window = detail::without_gaps(y, y_memory);
    const detail::window_walk walk = detail::pool_walk(call.how, call.parts[0], call.made);
    const index_t read = walk.have[0] * walk.have[1] * walk.have[2];
    const index_t blocks =
        detail::leading_blocks(call.made, internal::pooled::dimensions(call.how));
    C* out = to.data;
    for (index_t n = 0; n < blocks; ++n, from += read) {
      index_t row = 0;
      detail::for_each_pooled_row(
          walk,
          [&](index_t number) {
            row = number * walk.count[2];
            std::fill_n(out + row, walk.count[2], C{0});
          },
          [&](index_t line, const detail::window_walk::run& run) {
            index_t at = line + run.source, p = run.window;
            for (index_t i = 0; i < run.count; ++i, at += run.source_step, p += run.window_step)
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

/// Adds the values of windows to the elements that equal those of the windows.
template <>
struct kernel_of<pool_spread_operation> {
  static constexpr bool widens_halves = true;

  template <class C>
  static void run(const kernel_call& call) {
    on_blocks<C, 3>(call, [&](const strided<const C>& x, const strided<const C>& y,
                              const strided<const C>& share, const strided<C>& to) {
      scratch_array<C> memory[3];
      const C* own = detail::without_gaps(x, memory[0]);
      const C* of_window = detail::without_gaps(y, memory[1]);
      const C* belongs = detail::without_gaps(share, memory[2]);
      const detail::window_walk walk = detail::pool_walk(call.how, call.made, call.parts[1]);
      const index_t read = walk.have[0] * walk.have[1] * walk.have[2];
      const index_t blocks =
          detail::leading_blocks(call.made, internal::pooled::dimensions(call.how));
      C* out = to.data;
      for (index_t n = 0; n < blocks; ++n, own += read, out += read) {
        std::fill_n(out, read, C{0});
        index_t row = 0;
        detail::for_each_pooled_row(
            walk, [&](index_t number) { row = number * walk.count[2]; },
            [&](index_t line, const detail::window_walk::run& run) {
              index_t at = line + run.source, p = run.window;
              for (index_t i = 0; i < run.count; ++i, at += run.source_step, p += run.window_step)
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
