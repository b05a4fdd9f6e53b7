// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/kernel_call.hpp"
#include "shardwise/kernel/line_order.hpp"
#include "shardwise/operation/sort.hpp"
#include "shardwise/operation/top_k.hpp"

#include <cstdint>
#include <type_traits>

namespace shardwise {

namespace detail {

/// Sorts each line along the dimension separately: its elements, or their indices.
template <class Made>
struct sort_kernel {
  static constexpr bool widens_bytes = true;

  template <class T>
  static void run(const kernel_call& call) {
    using result = std::conditional_t<std::is_void_v<Made>, T, std::int64_t>;
    const strided<const T> from = call.operands[0].as<const T>();
    const strided<result> to = call.results[0].as<result>();
    const auto dim = static_cast<int>(call.how.integers[0]);
    const bool is_descending = call.how.integers[1] != 0;
    if (from.size() == 0) return;
    loop_nest<2> nest;
    for (int d = 0; d < from.rank(); ++d)
      if (d != dim) nest.push({from.extents[d], {from.strides[d], to.strides[d]}});
    line_order<order_key<T>> order;
    for (index_t i = 0; i < nest.size(); ++i) {
      const auto at = nest.at(i);
      const T* const line = from.data + at.offsets[0];
      result* out = to.data + at.offsets[1];
      const index_t stride = from.strides[dim];
      for (const auto& x : order.sort(from.extents[dim], [&](index_t n) {
             return key_of<T>(line[n * stride], is_descending);
           })) {
        if constexpr (std::is_void_v<Made>)
          *out = line[index_t{x.at} * stride];
        else
          *out = index_t{x.at};
        out += to.strides[dim];
      }
    }
  }
};

}  // namespace detail

template <>
struct kernel_of<sort_operation> : detail::sort_kernel<void> {};
template <>
struct kernel_of<argsort_operation> : detail::sort_kernel<std::int64_t> {};

/// Processes each line, or part of one, separately.
template <>
struct kernel_of<top_k_operation> {
  static constexpr bool widens_bytes = true;

  /// Returns the element types of the results after the first.
  template <class>
  [[nodiscard]] static further_elements further() noexcept {
    return {&element_kernels_of<std::int64_t>};
  }
  template <class T>
  static void run(const kernel_call& call) {
    const strided<const T> from = call.operands[0].as<const T>();
    const strided<T> values = call.results[0].as<T>();
    const strided<std::int64_t> places = call.results[1].as<std::int64_t>();
    const auto dim = static_cast<int>(call.how.integers[0]);
    const index_t count = call.how.integers[1];
    const index_t parts = values.extents[dim] / count;
    const index_t size = parts == 0 ? 0 : from.extents[dim] / parts;
    if (from.size() == 0) return;
    // The global positions of the elements, if another step has found them.
    strided<const std::int64_t> given;
    if (call.operands.size() > 1) given = call.operands[1].as<const std::int64_t>();

    // The last offset is the first index of the part.
    loop_nest<5> nest;
    for (int d = 0; d < from.rank(); ++d) {
      const bool is_line = d == dim;
      const index_t step = is_line ? size : 1;
      const index_t made = is_line ? count : 1;
      nest.push({is_line ? parts : from.extents[d],
                 {from.strides[d] * step, values.strides[d] * made, places.strides[d] * made,
                  call.operands.size() > 1 ? given.strides[d] * step : 0, is_line ? size : 0}});
    }
    detail::line_order<detail::order_key<T>> order;
    for (index_t i = 0; i < nest.size(); ++i) {
      const auto at = nest.at(i);
      const T* const line = from.data + at.offsets[0];
      const index_t stride = from.strides[dim];
      const auto& found =
          stride == 1 ? order.greatest(size, count, [line](index_t n) { return line[n]; })
                      : order.greatest(size, count, [&](index_t n) { return line[n * stride]; });
      for (index_t n = 0; n < count; ++n) {
        const auto place = index_t{found[static_cast<std::size_t>(n)].at};
        values.data[at.offsets[1] + n * values.strides[dim]] = line[place * stride];
        places.data[at.offsets[2] + n * places.strides[dim]] =
            call.operands.size() > 1 ? given.data[at.offsets[3] + place * given.strides[dim]]
                                     : call.parts[0][dim].global(at.offsets[4] + place);
      }
    }
  }
};

}  // namespace shardwise
