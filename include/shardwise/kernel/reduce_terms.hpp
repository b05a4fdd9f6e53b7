// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/function_view.hpp"
#include "shardwise/kernel/element_kernels.hpp"
#include "shardwise/kernel/scratch_memory.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace shardwise {

namespace detail {

/// The number of bytes of a result that are reduced at once, so that all partial results stay in
/// the cache.
inline constexpr index_t reduced_at_once = index_t{64} << 10U;

/// Calls `f(first, part)` for parts of a block of at most `most` elements; `first` is the offset of
/// each part along all dimensions.
template <class F>
void for_each_slab(const any_block& block, index_t most, const F& f, global_index& first, int dim) {
  const index_t size = block.size();
  if (size == 0) return;
  while (dim < block.rank() && block.extents[dim] == 1) ++dim;
  if (size <= most || dim == block.rank()) return f(first, block);
  const index_t extent = block.extents[dim];
  const index_t rows = most / (size / extent) > 1 ? most / (size / extent) : 1;
  for (index_t at = 0; at < extent; at += rows) {
    any_block slab = block;
    advance(slab, at * block.strides[dim]);
    slab.extents[dim] = extent - at < rows ? extent - at : rows;
    first[dim] = at;
    for_each_slab(slab, most, f, first, dim + 1);
  }
  first[dim] = 0;
}

/// Returns true if the elements of a block, and so of its slabs, are contiguous and row-major.
template <class Memory>
[[nodiscard]] bool is_dense(const basic_block<Memory>& block) noexcept {
  index_t step = 1;
  for (int d = block.rank(); d-- > 0;) {
    if (block.extents[d] != 1 && block.strides[d] != step) return false;
    step *= block.extents[d];
  }
  return true;
}

}  // namespace detail

/// Reduces `count` terms, blocks of one shape, into `to`, in pairs: adjacent terms first, then
/// adjacent results, as in the tree of `terms_on_the_left`, whose shape depends only on their
/// number. So the error grows with the logarithm of the number, and the bits do not depend on how
/// the block is divided. `term(i)` is the block of term `i`.
inline void reduce_terms(const element_kernels& elements, reduction kind, index_t count,
                         function_view<const_any_block(index_t)> term, const any_block& to) {
  const index_t size = size_of(to.type);
  const index_t most = detail::reduced_at_once / size;
  const index_t slab = to.size() < most ? to.size() : most;
  // Eight terms are reduced in registers if all of them are contiguous.
  bool in_rows = count >= 8 && bool(elements.reduce_rows) && detail::is_dense(to);
  for (index_t i = 0; in_rows && i < count / 8 * 8; ++i) in_rows = detail::is_dense(term(i));
  // The partial results that wait for the next one: the first of them in place.
  const auto levels_of = [](index_t n) {
    return static_cast<index_t>(std::bit_width(static_cast<std::uint64_t>(n)));
  };
  const index_t levels =
      in_rows ? levels_of(count / 8) + levels_of(count % 8 / 2) : levels_of(count / 2);
  const scratch_array<std::byte> memory =
      levels > 1 ? make_scratch<std::byte>(static_cast<std::size_t>((levels - 1) * slab * size))
                 : nullptr;
  global_index first;
  first.resize(to.extents.size());
  detail::for_each_slab(
      to, most,
      [&](const global_index& at, const any_block& part) {
        const auto slot = [&](index_t i) -> any_block {
          if (i == 0) return part;
          return {memory.get() + (i - 1) * slab * size, part.type, part.extents,
                  row_major(part.extents)};
        };
        const auto read = [&](const any_block& block) -> const_any_block {
          return {block.data, block.type, block.extents, block.strides};
        };
        const auto reduce_last = [&](index_t waiting) {
          elements.reduce(kind, read(slot(waiting - 2)), read(slot(waiting - 1)),
                          slot(waiting - 2));
        };
        const auto part_of = [&](index_t i) {
          const_any_block own = term(i);
          for (int d = 0; d < own.rank(); ++d) advance(own, at[d] * own.strides[d]);
          own.extents = part.extents;
          return own;
        };
        if (count == 1) return elements.copy(part_of(0), part);
        index_t waiting = 0;
        for (index_t done = 0, taken; count - done >= 2;) {
          if (in_rows && count - done >= 8) {
            eight_rows rows;
            for (index_t i = 0; i < 8; ++i)
              rows[static_cast<std::size_t>(i)] = part_of(done + i).data;
            elements.reduce_rows(kind, rows, part.size(), slot(waiting++).data);
            taken = 8;
          } else {
            elements.reduce(kind, part_of(done), part_of(done + 1), slot(waiting++));
            taken = 2;
          }
          done += taken;
          // Adjacent partial results of equal size are reduced as soon as both are complete.
          for (index_t n = done / taken; n % 2 == 0; n /= 2, --waiting) reduce_last(waiting);
        }
        if (count % 2 != 0)
          elements.reduce(kind, read(slot(waiting - 1)), part_of(count - 1), slot(waiting - 1));
        for (; waiting > 1; --waiting) reduce_last(waiting);
      },
      first, 0);
}

}  // namespace shardwise
