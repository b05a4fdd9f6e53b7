// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/contract_kernel.hpp"
#include "shardwise/kernel/kernel_call.hpp"
#include "shardwise/operation/einsum.hpp"

#include <concepts>

namespace shardwise {

/// The local part of a contraction: the labels of its dimensions are the factors of its rule.
template <>
struct kernel_of<einsum_operation> {
  static constexpr bool widens_halves = true;
  static constexpr bool widens_bytes = true;

  template <class T>
  static void run(const kernel_call& call) {
    // There is no arithmetic on `bool`: an einsum of `bool` operands is an error.
    if constexpr (!std::same_as<T, bool>) contract_blocks<plus_times_semiring, T>(call);
  }
};

}  // namespace shardwise
