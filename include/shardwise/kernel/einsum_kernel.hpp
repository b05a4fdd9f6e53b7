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
  template <class T>
  static void run(const kernel_call& call) {
    // There is no arithmetic on truth values: an einsum of them was refused.
    if constexpr (!std::same_as<T, bool>) run_numbers<T>(call);
  }

 private:
  template <class T>
  static void run_numbers(const kernel_call& call) {
    using C = compute_type<T>;
    if (call.operands.size() == 1)
      in_compute_type<T, 1>(call, [&](const strided<const C>& a, const strided<C>& out) {
        contract<C>({call.rule.operands[0], {}, call.rule.result}, a, out);
      });
    else
      in_compute_type<T, 2>(call, [&](const strided<const C>& a, const strided<const C>& b,
                                      const strided<C>& out) {
        contract<C>({call.rule.operands[0], call.rule.operands[1], call.rule.result}, a, b, out);
      });
  }
};

}  // namespace shardwise
