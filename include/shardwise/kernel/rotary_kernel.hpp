// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/kernel_call.hpp"
#include "shardwise/operation/rotary.hpp"

namespace shardwise {

/// Rotates row by row; the rows of a position use the same angles.
template <>
struct kernel_of<rotary_operation> {
  static constexpr bool widens_halves = true;

  template <class T>
  static void run(const kernel_call& call) {
    const bool halves = call.how.integers[0] == static_cast<int>(rotary_pairs::halves);
    on_blocks<T, 3>(call,
                    [&](const auto& from, const auto& cosines, const auto& sines, const auto& to) {
                      const int row = from.rank() - 1, position = row - 1;
                      const index_t pairs = from.extents[row] / 2;
                      const index_t next = halves ? 1 : 2, other = halves ? pairs : 1;
                      loop_nest<4> nest;
                      for (int d = 0; d < row; ++d) {
                        const bool turns = d == position;
                        nest.push({from.extents[d],
                                   {from.strides[d], to.strides[d], turns ? cosines.strides[0] : 0,
                                    turns ? sines.strides[0] : 0}});
                      }
                      for (index_t i = 0; i < nest.size(); ++i) {
                        const auto at = nest.at(i);
                        const auto* const a = from.data + at.offsets[0];
                        auto* const out = to.data + at.offsets[1];
                        for (index_t p = 0; p < pairs; ++p) {
                          const auto cosine = cosines.data[at.offsets[2] + p * cosines.strides[1]];
                          const auto sine = sines.data[at.offsets[3] + p * sines.strides[1]];
                          const auto x = a[p * next * from.strides[row]];
                          const auto y = a[(p * next + other) * from.strides[row]];
                          out[p * next * to.strides[row]] = x * cosine - y * sine;
                          out[(p * next + other) * to.strides[row]] = y * cosine + x * sine;
                        }
                      }
                    });
  }
};

}  // namespace shardwise
