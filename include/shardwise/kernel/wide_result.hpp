// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/kernel_call.hpp"

#include <concepts>

namespace shardwise::detail {

/// Calls `f` with a block of the type used for arithmetic, which is the result of a call or is
/// rounded to it once.
template <class T, class F>
void with_wide_result(const kernel_call& call, const F& f) {
  if constexpr (std::same_as<T, compute_type<T>>) {
    f(call.results[0].as<T>());
  } else {
    const widened_block<T> wide(call.results[0].extents);
    f(wide.block());
    wide.store(call.results[0].as<T>());
  }
}

}  // namespace shardwise::detail
