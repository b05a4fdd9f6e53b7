// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/contract_kernel.hpp"
#include "shardwise/kernel/kernel_call.hpp"
#include "shardwise/operation/semiring.hpp"

#include <concepts>

namespace shardwise {

/// The local part of a contraction over a semiring.
template <Semiring S>
struct kernel_of<semiring_operation<S>> {
  static constexpr bool widens_halves = true;

  template <class T>
  static void run(const kernel_call& call) {
    // A semiring of `bool` accepts no numbers, and a semiring of numbers no `bool`.
    if constexpr (internal::is_of_truth_values<S> == std::same_as<T, bool>)
      contract_blocks<S, T>(call);
  }
};

}  // namespace shardwise
