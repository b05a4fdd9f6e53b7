// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/kernel_call.hpp"

#include <concepts>
#include <cstddef>

namespace shardwise::detail {

/// Calls `f` with a block of the type used for arithmetic, which is a result of a call, the first
/// unless stated otherwise, or is rounded to it once.
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
