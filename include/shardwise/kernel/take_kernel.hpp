// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/index_block.hpp"
#include "shardwise/kernel/kernel_call.hpp"
#include "shardwise/kernel/scratch_memory.hpp"
#include "shardwise/operation/take.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace shardwise {

namespace detail {

/// Keeps only the last one of equal indices below `size` in each line of `count` indices, which are
/// `step` apart.
inline void keep_last(scratch_vector<index_t>& chosen, index_t count, index_t step, index_t size) {
  // The number of the last line in which an index occurred, from 1.
  scratch_vector<index_t> seen(static_cast<std::size_t>(size), 0);
  const auto total = static_cast<index_t>(chosen.size());
  for (index_t line = 0; line * count < total; ++line)
    for (index_t i = count; i-- > 0;) {
      index_t& at =
          chosen[static_cast<std::size_t>((line / step * count + i) * step + line % step)];
      if (at >= 0 && std::exchange(seen[static_cast<std::size_t>(at)], line + 1) == line + 1)
        at = -1;
    }
}

/// Among which indices equal ones are looked for: among all of them (`whole`), or among those along
/// one dimension (`along`).
enum class index_lines : std::uint8_t { whole, along };

/// Returns the positions of the indices of a call in a part of a dimension of `size` elements; -1
/// for those that do not count. `which` is an `out_of_range`, possibly with `only_last`.
[[nodiscard]] inline scratch_vector<index_t> counted_indices(const kernel_call& call, int dim,
                                                             index_t which, index_lines lines,
                                                             index_t size, const held_range& part) {
  const const_any_block& block = call.operands[1];
  scratch_vector<index_t> chosen =
      local_indices(block, static_cast<out_of_range>(which % only_last), size, part);
  if (which < only_last || chosen.empty()) return chosen;
  auto count = static_cast<index_t>(chosen.size());
  index_t step = 1;
  if (lines == index_lines::along) {
    count = block.extents[dim];
    for (int d = dim + 1; d < block.rank(); ++d) step *= block.extents[d];
  }
  keep_last(chosen, count, step, size);
  return chosen;
}
/// Returns the positions of the indices along a dimension of the first operand in the part that the
/// device holds.
[[nodiscard]] inline scratch_vector<index_t> looked_up_indices(const kernel_call& call, int dim,
                                                               index_t which, index_lines lines) {
  return counted_indices(call, dim, which, lines, call.sizes[call.rule.operands[0][dim]],
                         call.parts[0][dim]);
}

}  // namespace detail

/// Copies row by row of the dimensions after the indexed one, or element by element if there are
/// none; writes zeros for elements that the device does not hold.
template <>
struct kernel_of<take_operation> {
  static constexpr bool moves_elements = true;

  template <class T>
  static void run(const kernel_call& call) {
    const auto dim = static_cast<int>(call.how.integers[0]);
    const strided<const T> from = call.operands[0].as<const T>();
    const scratch_vector<index_t> chosen =
        detail::looked_up_indices(call, dim, call.how.integers[1], detail::index_lines::whole);
    loop_nest<1> before, behind;
    for (int d = 0; d < dim; ++d) before.push({from.extents[d], {from.strides[d]}});
    for (int d = dim + 1; d < from.rank(); ++d) behind.push({from.extents[d], {from.strides[d]}});
    const index_t step = from.strides[dim];
    const index_t count = behind.size(), inner = behind.inner_stride(0);
    const bool is_row = behind.rank() <= 1;
    const bool are_all_here =
        std::none_of(chosen.begin(), chosen.end(), [](index_t at) { return at < 0; });
    // Results are contiguous.
    T* to = call.results[0].as<T>().data;
    for (index_t i = 0; i < before.size(); ++i) {
      // A table without elements may have no memory.
      const T* const block = from.data == nullptr ? nullptr : from.data + before.at(i).offsets[0];
      if (count == 1 && are_all_here) {
        for (std::size_t k = 0; k < chosen.size(); ++k) to[k] = block[chosen[k] * step];
        to += chosen.size();
        continue;
      }
      for (const index_t at : chosen) {
        const T* const row = at < 0 || block == nullptr ? nullptr : block + at * step;
        if (at < 0)
          std::fill_n(to, count, T{});
        else if (is_row && inner == 1)
          gather_elements(row, 1, count, to);
        else if (is_row)
          for (index_t x = 0; x < count; ++x) to[x] = row[x * inner];
        else
          for_each_piece(behind, 0, count,
                         [&](index_t done, const index_t(&offset)[1], index_t run) {
                           for (index_t x = 0; x < run; ++x)
                             to[done + x] = row[offset[0] + x * inner];
                         });
        to += count;
      }
    }
  }
};

/// Element by element, in the order of the indices.
template <>
struct kernel_of<take_along_operation> {
  static constexpr bool moves_elements = true;

  template <class T>
  static void run(const kernel_call& call) {
    const auto dim = static_cast<int>(call.how.integers[0]);
    const strided<const T> from = call.operands[0].as<const T>();
    const scratch_vector<index_t> chosen =
        detail::looked_up_indices(call, dim, call.how.integers[1], detail::index_lines::along);
    const strided<T> to = call.results[0].as<T>();
    loop_nest<1> nest;
    for (int d = 0; d < to.rank(); ++d)
      nest.push({to.extents[d], {d == dim ? 0 : from.strides[d]}});
    for_each_piece(nest, 0, nest.size(), [&](index_t done, const index_t(&at)[1], index_t run) {
      for (index_t i = 0; i < run; ++i) {
        const index_t local = chosen[static_cast<std::size_t>(done + i)];
        to.data[done + i] =
            local < 0 ? T{}
                      : from.data[at[0] + i * nest.inner_stride(0) + local * from.strides[dim]];
      }
    });
  }
};

}  // namespace shardwise
