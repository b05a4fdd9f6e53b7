// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/index.hpp"
#include "shardwise/kernel/function_kernels.hpp"
#include "shardwise/kernel/pointwise_kernel.hpp"
#include "shardwise/kernel/window_panel.hpp"
#include "shardwise/spec/reduction.hpp"

#include <cstddef>
#include <optional>
#include <utility>

namespace shardwise::detail {

/// Windows of pairs along the last dimension that do not overlap and lie inside the block: most
/// poolings. The elements of windows in different rows are at the same positions of these rows.
struct pair_windows {
  static constexpr index_t most_rows = 16;

  index_t rows_of_window = 0;
  index_t row_at[most_rows]{};  ///< where each row of the first window begins
  index_t count[2] = {1, 1};    ///< how many rows of windows there are, and how far apart
  index_t step[2] = {0, 0};
  index_t positions = 0;
};

/// Returns the windows of a traversal as pairs, if they have this form.
[[nodiscard]] inline std::optional<pair_windows> find_pairs(const window_walk& walk) noexcept {
  const index_t above = walk.size[0] * walk.size[1];
  if (walk.size[2] != 2 || above > pair_windows::most_rows) return {};
  const auto left = walk.run_of(2, 0), right = walk.run_of(2, 1);
  if (!left.covers(walk.count[2]) || !right.covers(walk.count[2]) || left.source_step != 2 ||
      right.source_step != 2 || right.source != left.source + 1)
    return {};
  pair_windows out{above, {}, {walk.count[0], walk.count[1]}, {}, walk.count[2]};
  for (index_t k = 0; k < above; ++k) {
    const auto i = walk.run_of(0, k / walk.size[1]), j = walk.run_of(1, k % walk.size[1]);
    if (!i.covers(walk.count[0]) || !j.covers(walk.count[1])) return {};
    out.row_at[k] = i.source * walk.step[0] + j.source * walk.step[1] + left.source;
    out.step[0] = i.source_step * walk.step[0];
    out.step[1] = j.source_step * walk.step[1];
  }
  return out;
}

/// Returns every second element of two adjacent packets, from element `First` on.
template <std::size_t First, class P, std::size_t... I>
[[nodiscard]] P every_second(const P& a, const P& b, std::index_sequence<I...>) noexcept {
  return __builtin_shufflevector(a, b, (First + 2 * I)...);
}

/// Reduces the elements of windows in different rows, and then the remaining pairs, in registers.
template <class Function, class C>
void reduce_pairs(const pair_windows& windows, const C* from, C* out) noexcept {
  using P = typename vector_of<C>::type;
  constexpr index_t width = sizeof(P) / sizeof(C);
  const auto f = [](const auto& a, const auto& b) { return kernel<Function>::run(a, b); };
  for (index_t i = 0; i < windows.count[0]; ++i)
    for (index_t j = 0; j < windows.count[1]; ++j, out += windows.positions) {
      const C* const first = from + i * windows.step[0] + j * windows.step[1];
      const auto above = [&](index_t at, auto load) {
        auto reduced = load(first + windows.row_at[0] + at);
        for (index_t k = 1; k < windows.rows_of_window; ++k)
          reduced = f(reduced, load(first + windows.row_at[k] + at));
        return reduced;
      };
      index_t p = 0;
      if constexpr (width > 1) {
        const auto load = [](const C* x) { return packet::ploadu<P>(x); };
        constexpr std::make_index_sequence<static_cast<std::size_t>(width)> lanes;
        for (; p + width <= windows.positions; p += width) {
          const P a = above(2 * p, load), b = above(2 * p + width, load);
          packet::pstoreu(out + p, f(every_second<0>(a, b, lanes), every_second<1>(a, b, lanes)));
        }
      }
      const auto load = [](const C* x) { return *x; };
      for (; p < windows.positions; ++p) out[p] = f(above(2 * p, load), above(2 * p + 1, load));
    }
}

/// The same for a reduction that is a value.
template <class C>
void reduce_pairs(reduction kind, const pair_windows& windows, const C* from, C* out) noexcept {
  switch (kind) {
    case reduction::sum:
      return reduce_pairs<functions::add>(windows, from, out);
    case reduction::product:
      return reduce_pairs<functions::multiply>(windows, from, out);
    case reduction::max:
      return reduce_pairs<functions::maximum>(windows, from, out);
    case reduction::min:
      return reduce_pairs<functions::minimum>(windows, from, out);
  }
}

}  // namespace shardwise::detail
