// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/index.hpp"
#include "shardwise/core/inplace_vector.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace shardwise::detail {

/// A loop over elements: how many there are, and the bytes from one to the next where they are read
/// and where they are written.
struct copy_loop {
  index_t count = 0;
  index_t from = 0;
  index_t to = 0;
};
using copy_loops = inplace_vector<copy_loop, max_rank>;

/// Orders loops so that the innermost reads what is closest together, and joins loops that another
/// one continues.
[[nodiscard]] inline copy_loops in_order_of_reading(copy_loops loops) {
  std::stable_sort(loops.begin(), loops.end(),
                   [](const copy_loop& a, const copy_loop& b) { return a.from > b.from; });
  copy_loops joined;
  for (const copy_loop& each : loops) {
    if (each.count == 1) continue;
    copy_loop outer = joined.empty() ? copy_loop{} : joined.back();
    const bool continues =
        !joined.empty() && outer.from == each.count * each.from && outer.to == each.count * each.to;
    if (continues) {
      joined.pop_back();
      joined.push_back({outer.count * each.count, each.from, each.to});
    } else {
      joined.push_back(each);
    }
  }
  return joined;
}

template <index_t Width, bool IsSwapped>
void copy_run(const copy_loop& loop, const std::byte* from, std::byte* to) noexcept {
  if (!IsSwapped && loop.from == Width && loop.to == Width) {
    std::memcpy(to, from, static_cast<std::size_t>(loop.count * Width));
    return;
  }
  for (index_t i = 0; i < loop.count; ++i, from += loop.from, to += loop.to) {
    if constexpr (IsSwapped)
      std::reverse_copy(from, from + Width, to);
    else
      std::memcpy(to, from, Width);
  }
}

template <index_t Width, bool IsSwapped>
void copy_all(const copy_loops& loops, const std::byte* from, std::byte* to) noexcept {
  if (loops.empty()) return copy_run<Width, IsSwapped>({1, Width, Width}, from, to);
  const int inner = loops.ssize() - 1;
  inplace_vector<index_t, max_rank> at;
  at.resize(loops.size());
  while (true) {
    copy_run<Width, IsSwapped>(loops[inner], from, to);
    int d = inner - 1;
    for (; d >= 0; --d) {
      from += loops[d].from;
      to += loops[d].to;
      if (++at[d] < loops[d].count) break;
      from -= loops[d].count * loops[d].from;
      to -= loops[d].count * loops[d].to;
      at[d] = 0;
    }
    if (d < 0) return;
  }
}

/// Copies elements of `width` bytes (1, 2, 4 or 8), whose bytes are reversed where `is_swapped`. No
/// loop is empty.
inline void copy_strided(index_t width, bool is_swapped, const copy_loops& loops,
                         const std::byte* from, std::byte* to) {
  const copy_loops ordered = in_order_of_reading(loops);
  switch (width) {
    case 1:
      return copy_all<1, false>(ordered, from, to);
    case 2:
      return is_swapped ? copy_all<2, true>(ordered, from, to)
                        : copy_all<2, false>(ordered, from, to);
    case 4:
      return is_swapped ? copy_all<4, true>(ordered, from, to)
                        : copy_all<4, false>(ordered, from, to);
    default:
      return is_swapped ? copy_all<8, true>(ordered, from, to)
                        : copy_all<8, false>(ordered, from, to);
  }
}

}  // namespace shardwise::detail
