// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/kernel_call.hpp"

#include <concepts>
#include <cstddef>

namespace shardwise::detail {

/// Calls `f` with a block for result `number` of a call: the result itself if arithmetic uses its
/// type, and otherwise a wider temporary block, which is then rounded to the result once.
template <class T, class F>
void with_wide_result(const kernel_call& call, const F& f, std::size_t number = 0) {
  if constexpr (std::same_as<T, compute_type<T>>) {
    f(call.results[number].as<T>());
  } else {
    const widened_block<T> wide(call.results[number].extents);
    f(wide.block());
    wide.store(call.results[number].as<T>());
  }
}

}  // namespace shardwise::detail
