// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/kernel_call.hpp"
#include "shardwise/operation/iota_like.hpp"
#include "shardwise/operation/triangle.hpp"

#include <cstdint>
#include <vector>

namespace shardwise {

namespace detail {

/// The global indices of the elements of a block along a dimension.
[[nodiscard]] inline std::vector<index_t> places_along(const held_range& part, index_t size) {
  std::vector<index_t> all(static_cast<std::size_t>(size));
  for (index_t i = 0; i < size; ++i) all[static_cast<std::size_t>(i)] = part.global(i);
  return all;
}

/// Rows of which each has its kept elements and zeros.
template <class Class>
struct triangle_kernel {
  template <class T>
  static void run(const kernel_call& call) {
    const strided<const T> from = call.operands[0].as<const T>();
    const strided<T> to = call.results[0].as<T>();
    const int last = from.rank() - 1;
    const std::vector<index_t> rows = places_along(call.parts[0][last - 1], from.extents[last - 1]);
    const std::vector<index_t> columns = places_along(call.parts[0][last], from.extents[last]);
    const index_t diagonal = call.how.integers[0];
    loop_nest<3> nest;
    for (int d = 0; d < last; ++d)
      nest.push({from.extents[d], {from.strides[d], to.strides[d], d == last - 1 ? 1 : 0}});
    for (index_t i = 0; i < nest.size(); ++i) {
      const auto at = nest.at(i);
      const index_t row = rows[static_cast<std::size_t>(at.offsets[2])];
      const T* const read = from.data + at.offsets[0];
      T* const write = to.data + at.offsets[1];
      for (index_t c = 0; c < from.extents[last]; ++c) {
        const bool kept = Class::keeps(row, columns[static_cast<std::size_t>(c)], diagonal);
        write[c * to.strides[last]] = kept ? read[c * from.strides[last]] : T{};
      }
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
  template <class T>
  static void run(const kernel_call& call) {
    const strided<std::int64_t> to = call.results[0].as<std::int64_t>();
    const auto dim = static_cast<int>(call.how.integers[0]);
    const std::vector<index_t> places = detail::places_along(call.parts[0][dim], to.extents[dim]);
    const int last = to.rank() - 1;
    loop_nest<2> nest;
    for (int d = 0; d < last; ++d) nest.push({to.extents[d], {to.strides[d], d == dim ? 1 : 0}});
    for (index_t i = 0; i < nest.size(); ++i) {
      const auto at = nest.at(i);
      std::int64_t* const row = to.data + at.offsets[0];
      // Along the last dimension indices move, elsewhere a row has one.
      const std::int64_t* place = places.data() + (dim == last ? 0 : at.offsets[1]);
      for (index_t c = 0; c < to.extents[last]; ++c, place += dim == last ? 1 : 0)
        row[c * to.strides[last]] = *place;
    }
  }
};

}  // namespace shardwise
