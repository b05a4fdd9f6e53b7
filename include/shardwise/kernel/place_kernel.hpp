// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/kernel_call.hpp"
#include "shardwise/operation/iota_like.hpp"
#include "shardwise/operation/triangle.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>

namespace shardwise {

namespace detail {

/// Rows that consist of kept elements and zeros. Positions increase along a row, so these are two
/// runs.
template <class Class>
struct triangle_kernel {
  static constexpr bool moves_elements = true;

  template <class T>
  static void run(const kernel_call& call) {
    const strided<const T> from = call.operands[0].as<const T>();
    const strided<T> to = call.results[0].as<T>();
    const int last = from.rank() - 1;
    const held_range& rows = call.parts[0][last - 1];
    const held_range& columns = call.parts[0][last];
    const index_t diagonal = call.how.integers[0];
    const index_t width = from.extents[last];
    loop_nest<3> nest;
    for (int d = 0; d < last; ++d)
      nest.push({from.extents[d], {from.strides[d], to.strides[d], d == last - 1 ? 1 : 0}});
    for (index_t i = 0; i < nest.size(); ++i) {
      const auto at = nest.at(i);
      const index_t row = rows.global(at.offsets[2]);
      const auto keeps = [&](index_t c) { return Class::keeps(row, columns.global(c), diagonal); };
      const bool begins = width > 0 && keeps(0);
      // The first column that differs from those before it.
      index_t first = 0;
      for (index_t end = width; first < end;) {
        const index_t middle = first + (end - first) / 2;
        if (keeps(middle) == begins)
          first = middle + 1;
        else
          end = middle;
      }
      const T* const read = from.data + at.offsets[0];
      T* const write = to.data + at.offsets[1];
      write_run(read, from.strides[last], write, to.strides[last], 0, first, begins);
      write_run(read, from.strides[last], write, to.strides[last], first, width, !begins);
    }
  }

 private:
  template <class T>
  static void write_run(const T* from, index_t from_stride, T* to, index_t to_stride, index_t begin,
                        index_t end, bool kept) {
    if (from_stride == 1 && to_stride == 1) {
      if (kept)
        std::copy(from + begin, from + end, to + begin);
      else
        std::fill(to + begin, to + end, T{});
    } else {
      for (index_t c = begin; c < end; ++c) to[c * to_stride] = kept ? from[c * from_stride] : T{};
    }
  }
};

}  // namespace detail

template <>
struct kernel_of<tril_operation> : detail::triangle_kernel<tril_operation> {};
template <>
struct kernel_of<triu_operation> : detail::triangle_kernel<triu_operation> {};

/// The operand's elements are not read.
template <>
struct kernel_of<iota_like_operation> {
  static constexpr bool moves_elements = true;

  template <class T>
  static void run(const kernel_call& call) {
    const strided<std::int64_t> to = call.results[0].as<std::int64_t>();
    const auto dim = static_cast<int>(call.how.integers[0]);
    const held_range& part = call.parts[0][dim];
    const int last = to.rank() - 1;
    loop_nest<2> nest;
    for (int d = 0; d < last; ++d) nest.push({to.extents[d], {to.strides[d], d == dim ? 1 : 0}});
    const index_t size = to.extents[last];
    const bool is_run =
        dim != last || size == 0 || part.global(size - 1) - part.global(0) == size - 1;
    for (index_t i = 0; i < nest.size() && size > 0; ++i) {
      const auto at = nest.at(i);
      std::int64_t* const row = to.data + at.offsets[0];
      const index_t stride = to.strides[last];
      if (dim != last) {
        const index_t place = part.global(at.offsets[1]);
        for (index_t c = 0; c < size; ++c) row[c * stride] = place;
      } else if (is_run && stride == 1) {
        std::iota(row, row + size, part.global(0));
      } else {
        for (index_t c = 0; c < size; ++c) row[c * stride] = part.global(c);
      }
    }
  }
};

}  // namespace shardwise
