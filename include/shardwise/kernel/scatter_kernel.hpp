// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/function_kernels.hpp"
#include "shardwise/kernel/scratch_memory.hpp"
#include "shardwise/kernel/take_kernel.hpp"
#include "shardwise/kernel/wide_result.hpp"
#include "shardwise/operation/scatter.hpp"
#include "shardwise/operation/segment_sum.hpp"

namespace shardwise {

namespace detail {

/// Writes elements at the indices along dimension `dim` of a block, in their order: `put(here,
/// new)`. In `from`, the dimensions of the indices, `chosen`, replace that dimension.
template <class C, class T, class Put>
void scatter_rows(const strided<const T>& from, int dim, int index_rank,
                  const scratch_vector<index_t>& chosen, const strided<C>& to, const Put& put) {
  loop_nest<2> before, behind;
  loop_nest<1> rows;
  for (int d = 0; d < dim; ++d) before.push({to.extents[d], {from.strides[d], to.strides[d]}});
  for (int d = dim; d < dim + index_rank; ++d) rows.push({from.extents[d], {from.strides[d]}});
  for (int d = dim + 1; d < to.rank(); ++d)
    behind.push({to.extents[d], {from.strides[d + index_rank - 1], to.strides[d]}});
  for (index_t i = 0; i < before.size(); ++i) {
    const auto block = before.at(i);
    for (index_t r = 0; r < rows.size(); ++r) {
      const index_t local = chosen[static_cast<std::size_t>(r)];
      if (local < 0) continue;
      const T* const source = from.data + block.offsets[0] + rows.at(r).offsets[0];
      C* const target = to.data + block.offsets[1] + local * to.strides[dim];
      for_each_piece(behind, 0, behind.size(), [&](index_t, const index_t(&at)[2], index_t run) {
        const T* const given = source + at[0];
        C* const into = target + at[1];
        const index_t step = behind.inner_stride(0), move = behind.inner_stride(1);
        if (step == 1 && move == 1)  // compilers vectorise this
          for (index_t x = 0; x < run; ++x) into[x] = put(into[x], static_cast<C>(given[x]));
        else
          for (index_t x = 0; x < run; ++x)
            into[x * move] = put(into[x * move], static_cast<C>(given[x * step]));
      });
    }
  }
}

}  // namespace detail

template <>
struct kernel_of<scatter_operation> {
  template <class T>
  static void run(const kernel_call& call) {
    const auto dim = static_cast<int>(call.how.integers[0]);
    const strided<const T> from = call.operands[2].as<const T>();
    const int index_rank = call.operands[1].rank();
    const scratch_vector<index_t> chosen =
        detail::looked_up_indices(call, dim, static_cast<out_of_range>(call.how.integers[2]));
    const auto what = static_cast<scatter_mode>(call.how.integers[1]);
    if (what == scatter_mode::set) {
      const strided<T> to = call.results[0].as<T>();
      copy_block<T>(call.operands[0].as<const T>(), to);
      detail::scatter_rows(from, dim, index_rank, chosen, to, [](T, T given) { return given; });
      return;
    }
    if constexpr (!std::same_as<T, bool>) {
      using C = compute_type<T>;
      detail::with_wide_result<T>(call, [&](const strided<C>& to) {
        load_block<T>(call.operands[0].as<const T>(), to);
        const auto put = [&]<class Function>(Function) {
          detail::scatter_rows(from, dim, index_rank, chosen, to,
                               [](C a, C b) { return kernel<Function>::run(a, b); });
        };
        if (what == scatter_mode::add) put(functions::add{});
        if (what == scatter_mode::max) put(functions::maximum{});
        if (what == scatter_mode::min) put(functions::minimum{});
      });
    }
  }

 private:
  /// Copies a block to a contiguous one of the type used for arithmetic.
  template <class T>
  static void load_block(const strided<const T>& from, const strided<compute_type<T>>& to) {
    loop_nest<1> nest;
    for (int d = 0; d < from.rank(); ++d) nest.push({from.extents[d], {from.strides[d]}});
    for_each_piece(nest, 0, nest.size(), [&](index_t done, const index_t(&at)[1], index_t run) {
      detail::load_run<T>(from.data + at[0], nest.inner_stride(0), run, to.data + done);
    });
  }
};

/// Starts with zeros.
template <>
struct kernel_of<segment_sum_operation> {
  template <class T>
  static void run(const kernel_call& call) {
    const auto dim = static_cast<int>(call.how.integers[0]);
    const index_t count = call.how.integers[1];
    const scratch_vector<index_t> chosen =
        detail::local_indices(call.operands[1], static_cast<out_of_range>(call.how.integers[2]),
                              count, {{0, count}, {}, 0});
    using C = compute_type<T>;
    detail::with_wide_result<T>(call, [&](const strided<C>& to) {
      std::fill_n(to.data, to.size(), C{});
      detail::scatter_rows(call.operands[0].as<const T>(), dim, call.operands[1].rank(), chosen, to,
                           [](C a, C b) { return kernel<functions::add>::run(a, b); });
    });
  }
};

/// Element by element, in the order of the indices.
template <>
struct kernel_of<sum_along_operation> {
  template <class T>
  static void run(const kernel_call& call) {
    const auto dim = static_cast<int>(call.how.integers[0]);
    const index_t count = call.how.integers[1];
    const strided<const T> from = call.operands[0].as<const T>();
    const scratch_vector<index_t> chosen =
        detail::local_indices(call.operands[1], static_cast<out_of_range>(call.how.integers[2]),
                              count, {{0, count}, {}, 0});
    using C = compute_type<T>;
    detail::with_wide_result<T>(call, [&](const strided<C>& to) {
      std::fill_n(to.data, to.size(), C{});
      loop_nest<2> nest;
      for (int d = 0; d < from.rank(); ++d)
        nest.push({from.extents[d], {from.strides[d], d == dim ? 0 : to.strides[d]}});
      for_each_piece(nest, 0, nest.size(), [&](index_t done, const index_t(&at)[2], index_t run) {
        for (index_t i = 0; i < run; ++i) {
          const index_t local = chosen[static_cast<std::size_t>(done + i)];
          if (local < 0) continue;
          C& here = to.data[at[1] + i * nest.inner_stride(1) + local * to.strides[dim]];
          here = kernel<functions::add>::run(
              here, static_cast<C>(from.data[at[0] + i * nest.inner_stride(0)]));
        }
      });
    });
  }
};

}  // namespace shardwise
