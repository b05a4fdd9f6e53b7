// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/kernel_call.hpp"
#include "shardwise/kernel/reduce_kernel.hpp"
#include "shardwise/operation/reduce.hpp"

#include <concepts>
#include <cstdint>

namespace shardwise {

namespace internal {

/// Returns the result of a reduction as `run_reduce` writes it: with the extents of the operand,
/// and stride 0 along reduced dimensions.
template <class T>
[[nodiscard]] strided<T> unreduced(const strided<T>& kept, const extents_desc& extents,
                                   unsigned reduced) noexcept {
  strided<T> out{kept.data, extents, {}};
  const bool keeps = kept.rank() == extents.ssize();
  int next = 0;
  for (int d = 0; d < extents.ssize(); ++d) {
    const bool reduces = (reduced >> d & 1U) != 0;
    out.strides.push_back(reduces ? index_t{0} : kept.strides[next]);
    if (keeps || !reduces) ++next;
  }
  return out;
}

}  // namespace internal

/// The local part of a reduction. For `bool`, whose elements are bytes of 0 and 1, there are maxima
/// and minima.
template <>
struct kernel_of<reduction_operation> {
  template <class T>
  static void run(const kernel_call& call) {
    if constexpr (std::same_as<T, bool>) {
      reduce<std::uint8_t>(call, call.operands[0].as<const std::uint8_t>(),
                           call.results[0].as<std::uint8_t>());
      // The identity of a minimum of bytes is not a valid `bool`.
      if (call.operands[0].size() == 0)
        fill_block(identity_of<bool>(call.how.kind), call.results[0].as<bool>());
    } else {
      in_compute_type<T, 1>(
          call, [&](const auto& x, const auto& out) { reduce<compute_type<T>>(call, x, out); });
    }
  }

 private:
  template <class C>
  static void reduce(const kernel_call& call, const strided<const C>& x, const strided<C>& out) {
    const unsigned reduced = reduction_operation::reduced(call.how);
    run_reduce<C>(call.how.kind, fused::argument<0>{}, {x},
                  internal::unreduced(out, x.extents, reduced), static_cast<std::uint8_t>(reduced));
  }
};

}  // namespace shardwise
