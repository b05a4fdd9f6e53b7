// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/fold_kernels.hpp"
#include "shardwise/kernel/kernel_call.hpp"
#include "shardwise/operation/max_with_index.hpp"

#include <cstdint>

namespace shardwise {

/// One walk along the dimension for each result.
template <>
struct kernel_of<max_with_index_operation> {
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
    loop_nest<3> nest;
    for (int d = 0, kept = 0; d < from.rank(); ++d) {
      if (d == dim) continue;
      nest.push({from.extents[d], {from.strides[d], values.strides[kept], places.strides[kept]}});
      ++kept;
    }
    for (index_t i = 0; i < nest.size(); ++i) {
      const auto at = nest.at(i);
      T best = static_cast<T>(identity_of<T>(reduction::max));
      index_t place = -1;
      for (index_t x = 0; x < from.extents[dim]; ++x) {
        const T next = from.data[at.offsets[0] + x * from.strides[dim]];
        if (place < 0 || next > best || (next != next && best == best)) {
          best = next;
          place = x;
        }
      }
      values.data[at.offsets[1]] = best;
      places.data[at.offsets[2]] = place < 0 ? -1 : call.parts[0][dim].global(place);
    }
  }
};

}  // namespace shardwise
