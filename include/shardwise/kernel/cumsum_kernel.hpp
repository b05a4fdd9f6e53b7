// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/copy_kernel.hpp"
#include "shardwise/kernel/function_kernels.hpp"
#include "shardwise/kernel/kernel_call.hpp"
#include "shardwise/operation/cumsum.hpp"

namespace shardwise {

/// Along the last dimension one walk for each row, along others row onto row. Whole numbers wrap.
template <>
struct kernel_of<cumsum_operation> {
  template <class T>
  static void run(const kernel_call& call) {
    const auto dim = static_cast<int>(call.how.integers[0]);
    in_compute_type<T, 1>(call, [&](const auto& from, const auto& to) {
      if (from.size() == 0) return;
      if (dim == from.rank() - 1)
        sum_along_rows<compute_type<T>>(from, to);
      else
        sum_rows<compute_type<T>>(from, to, dim);
    });
  }

 private:
  template <class C>
  static void sum_along_rows(const strided<const C>& from, const strided<C>& to) {
    const int last = from.rank() - 1;
    loop_nest<2> nest;
    for (int d = 0; d < last; ++d) nest.push({from.extents[d], {from.strides[d], to.strides[d]}});
    for (index_t i = 0; i < nest.size(); ++i) {
      const auto at = nest.at(i);
      C sum{};
      for (index_t x = 0; x < from.extents[last]; ++x) {
        sum = kernel<functions::add>::run(sum, from.data[at.offsets[0] + x * from.strides[last]]);
        to.data[at.offsets[1] + x * to.strides[last]] = sum;
      }
    }
  }
  template <class C>
  static void sum_rows(strided<const C> from, strided<C> to, int dim) {
    const index_t count = from.extents[dim];
    from.extents[dim] = to.extents[dim] = 1;
    for (index_t x = 0; x < count; ++x) {
      copy_block<C>(from, to);
      if (x > 0) {
        strided<const C> before{to.data - to.strides[dim], to.extents, to.strides};
        fold_block<C>(reduction::sum, before, to);
      }
      advance(from, from.strides[dim]);
      advance(to, to.strides[dim]);
    }
  }
};

}  // namespace shardwise
