// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/kernel_call.hpp"
#include "shardwise/kernel/reduce_kernel.hpp"
#include "shardwise/operation/reduce.hpp"

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
  static constexpr bool widens_halves = true;

  template <class T>
  static void run(const kernel_call& call) {
    if constexpr (sizeof(T) == 1) {
      // On copies in 32 bits, whose low bits are the same, except those of identities.
      if (call.operands[0].size() == 0)
        return fill_block(identity_of<T>(call.how.kind), call.results[0].as<T>());
      using copy = detail::widened_block<T, std::int32_t>;
      const copy x(call.operands[0].as<const T>()), out(call.results[0].extents);
      reduce<std::int32_t>(call, x.read(), out.block());
      out.store(call.results[0].as<T>());
    } else {
      on_blocks<T, 1>(call, [&](const auto& x, const auto& out) { reduce<T>(call, x, out); });
    }
  }

  /// The same with a fused tree before it, whose result has these extents.
  template <class T, class Tree, std::size_t N>
  static void run_tree(const attributes& how, const Tree& tree,
                       const strided<const T> (&operands)[N], const any_block& out,
                       const extents_desc& extents) {
    reduce<T>(how, tree, operands, out.as<T>(), extents);
  }

 private:
  template <class C>
  static void reduce(const kernel_call& call, const strided<const C>& x, const strided<C>& out) {
    reduce<C>(call.how, fused::argument<0>{}, {x}, out, x.extents);
  }
  template <class C, class Tree, std::size_t N>
  static void reduce(const attributes& how, const Tree& tree, const strided<const C> (&operands)[N],
                     const strided<C>& out, const extents_desc& extents) {
    const unsigned reduced = reduction_operation::reduced(how);
    run_reduce<C>(how.kind, tree, operands, internal::unreduced(out, extents, reduced),
                  static_cast<std::uint8_t>(reduced));
  }
};

}  // namespace shardwise
