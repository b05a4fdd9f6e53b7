// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/fold_kernels.hpp"
#include "shardwise/kernel/kernel_call.hpp"
#include "shardwise/operation/max_with_index.hpp"

#include <cstdint>

namespace shardwise {

namespace detail {

/// One walk along the dimension for each result.
template <class Class>
struct extreme_kernel {
  /// The elements of the results after the first.
  [[nodiscard]] static further_elements further() noexcept {
    return {&element_kernels_of<std::int64_t>};
  }
  template <class T>
  static void run(const kernel_call& call) {
    const strided<const T> from = call.operands[0].as<const T>();
    const strided<T> values = call.results[0].as<T>();
    const strided<std::int64_t> places = call.results[1].as<std::int64_t>();
    const auto dim = static_cast<int>(call.how.integers[0]);
    const bool in_parts = call.how.integers.size() > 1;
    const index_t parts = in_parts ? values.extents[dim] : 1;
    const index_t size = parts == 0 ? 0 : from.extents[dim] / parts;
    // Where the elements are in the whole, if another step has found them.
    strided<const std::int64_t> given;
    if (call.operands.size() > 1) given = call.operands[1].as<const std::int64_t>();

    // The last offset is the first index of the part.
    loop_nest<5> nest;
    for (int d = 0, kept = 0; d < from.rank(); ++d) {
      if (d == dim && !in_parts) continue;
      const index_t step = d == dim ? size : 1;
      const index_t given_step = call.operands.size() > 1 ? given.strides[d] * step : 0;
      nest.push({d == dim ? parts : from.extents[d],
                 {from.strides[d] * step, values.strides[kept], places.strides[kept], given_step,
                  d == dim ? size : 0}});
      ++kept;
    }
    for (index_t i = 0; i < nest.size(); ++i) {
      const auto at = nest.at(i);
      T best = static_cast<T>(identity_of<T>(Class::kind));
      index_t place = -1;
      for (index_t x = 0; x < size; ++x) {
        const T next = from.data[at.offsets[0] + x * from.strides[dim]];
        if (place < 0 || is_better(next, best)) {
          best = next;
          place = x;
        }
      }
      values.data[at.offsets[1]] = best;
      if (call.operands.size() > 1)
        places.data[at.offsets[2]] =
            place < 0 ? -1 : given.data[at.offsets[3] + place * given.strides[dim]];
      else
        places.data[at.offsets[2]] =
            place < 0 ? -1 : call.parts[0][dim].global(at.offsets[4] + place);
    }
  }

 private:
  /// NaN is better than all numbers.
  template <class T>
  [[nodiscard]] static bool is_better(const T& next, const T& best) noexcept {
    if constexpr (Class::kind == reduction::max)
      return next > best || (next != next && best == best);
    else
      return next < best || (next != next && best == best);
  }
};

}  // namespace detail

template <>
struct kernel_of<max_with_index_operation> : detail::extreme_kernel<max_with_index_operation> {};
template <>
struct kernel_of<min_with_index_operation> : detail::extreme_kernel<min_with_index_operation> {};

}  // namespace shardwise
