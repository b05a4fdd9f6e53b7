// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/kernel_call.hpp"
#include "shardwise/operation/bitcast.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>

namespace shardwise {

/// A copy of the bytes: blocks are contiguous, and elements are stored with their lowest bits
/// first, as on all machines but a few, which turn the bytes of wider elements around.
template <>
struct kernel_of<bitcast_operation> {
  template <class T>
  static void run(const kernel_call& call) {
    const const_any_block& from = call.operands[0];
    const any_block& to = call.results[0];
    const index_t had = size_of(from.type), made = size_of(to.type);
    const index_t bytes = from.size() * had;
    if (bytes == 0) return;  // there may be no memory
    std::memcpy(to.data, from.data, static_cast<std::size_t>(bytes));
    if constexpr (std::endian::native == std::endian::big) {
      const index_t wide = std::max(had, made), narrow = std::min(had, made);
      auto* const memory = static_cast<std::byte*>(to.data);
      for (index_t at = 0; at < bytes; at += wide)
        for (index_t low = 0, high = wide - narrow; low < high; low += narrow, high -= narrow)
          std::swap_ranges(memory + at + low, memory + at + low + narrow, memory + at + high);
    }
  }
};

}  // namespace shardwise
