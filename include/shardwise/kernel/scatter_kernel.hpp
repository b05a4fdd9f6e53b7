// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/function_kernels.hpp"
#include "shardwise/kernel/reduction_arithmetic.hpp"
#include "shardwise/kernel/scratch_memory.hpp"
#include "shardwise/kernel/take_kernel.hpp"
#include "shardwise/kernel/wide_result.hpp"
#include "shardwise/operation/put_along.hpp"
#include "shardwise/operation/scatter.hpp"
#include "shardwise/operation/segment_sum.hpp"

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace shardwise {

namespace detail {

/// Records which of the indices along a dimension are the first of their value, and which values
/// occur.
struct first_indices {
  scratch_vector<std::uint8_t> is_first, is_used;

  first_indices(const scratch_vector<index_t>& chosen, index_t values)
      : is_first(chosen.size(), 0), is_used(static_cast<std::size_t>(values), 0) {
    for (std::size_t i = 0; i < chosen.size(); ++i)
      if (chosen[i] >= 0)
        is_first[i] = std::exchange(is_used[static_cast<std::size_t>(chosen[i])], 1) == 0;
  }
};

/// How elements are written at indices: instead of those that are there, or combined with them.
struct replacing {
  template <class T>
  static void run(T& here, const T& given) noexcept {
    here = given;
  }
  template <class T>
  static void run(T* here, const T* given, index_t n) noexcept {
    copy_run(given, n, here);
  }
};
template <class Function>
struct combining {
  template <class C, class T>
  static void run(C& here, const T& given) noexcept {
    here = kernel<Function>::run(here, static_cast<C>(given));
  }
  template <class C, class T>
  static void run(C* here, const T* given, index_t n) noexcept {
    if constexpr (std::same_as<C, T>)
      reduce_pair<C, Function>(here, given, here, n);
    else
      for (index_t i = 0; i < n; ++i) run(here[i], given[i]);
  }
  /// Does the same for an output whose elements are all 0 and have not been written.
  template <class C, class T>
  static void begin(C* here, const T* given, index_t n) noexcept {
    static constexpr index_t at_once = 64;
    alignas(64) static constexpr C zeros[at_once]{};
    for (index_t i = 0; i < n; i += at_once) {
      const index_t count = std::min(at_once, n - i);
      if constexpr (std::same_as<C, T>)
        reduce_pair<C, Function>(zeros, given + i, here + i, count);
      else
        for (index_t j = i; j < i + count; ++j)
          here[j] = kernel<Function>::run(C{}, static_cast<C>(given[j]));
    }
  }
};

/// Writes elements at the indices along dimension `dim` of a block, in their order. In `from`, the
/// dimensions of the indices, `chosen`, replace that dimension. If `firsts` is given, a
/// row of `to` is 0 at the first index of its value, whatever it holds.
template <class Put, class C, class T>
void scatter_rows(const strided<const T>& from, int dim, int index_rank,
                  const scratch_vector<index_t>& chosen, const strided<C>& to,
                  const first_indices* firsts = nullptr) {
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
      const bool is_first = firsts != nullptr && firsts->is_first[static_cast<std::size_t>(r)] != 0;
      for_each_piece(behind, 0, behind.size(), [&](index_t, const index_t(&at)[2], index_t run) {
        const T* const given = source + at[0];
        C* const into = target + at[1];
        const index_t step = behind.inner_stride(0), move = behind.inner_stride(1);
        if (step != 1 || move != 1)
          for (index_t x = 0; x < run; ++x) {
            if (is_first) into[x * move] = C{};
            Put::run(into[x * move], given[x * step]);
          }
        else if constexpr (requires { Put::begin(into, given, run); })
          is_first ? Put::begin(into, given, run) : Put::run(into, given, run);
        else
          Put::run(into, given, run);
      });
    }
  }
}

/// Writes each element at its index along dimension `dim` of a block, in their order. `chosen` are
/// the indices, in row-major order.
template <class Put, class C, class T>
void scatter_along(const strided<const T>& from, int dim, const scratch_vector<index_t>& chosen,
                   const strided<C>& to) {
  loop_nest<2> nest;
  for (int d = 0; d < from.rank(); ++d)
    nest.push({from.extents[d], {from.strides[d], d == dim ? 0 : to.strides[d]}});
  for_each_piece(nest, 0, nest.size(), [&](index_t done, const index_t(&at)[2], index_t run) {
    for (index_t i = 0; i < run; ++i) {
      const index_t local = chosen[static_cast<std::size_t>(done + i)];
      if (local < 0) continue;
      Put::run(to.data[at[1] + i * nest.inner_stride(1) + local * to.strides[dim]],
               from.data[at[0] + i * nest.inner_stride(0)]);
    }
  });
}

/// Copies a block to a contiguous one of the type used for arithmetic.
template <class T>
void load_block(const strided<const T>& from, const strided<compute_type<T>>& to) {
  loop_nest<1> nest;
  for (int d = 0; d < from.rank(); ++d) nest.push({from.extents[d], {from.strides[d]}});
  for_each_piece(nest, 0, nest.size(), [&](index_t done, const index_t(&at)[1], index_t run) {
    load_run<T>(from.data + at[0], nest.inner_stride(0), run, to.data + done);
  });
}

/// Copies the first operand of a call and calls `write` with how its third operand is written into
/// the copy, the positions of the indices, and the copy.
template <class T, class Write>
void write_at_indices(const kernel_call& call, const Write& write) {
  const scratch_vector<index_t> chosen = looked_up_indices(
      call, static_cast<int>(call.how.integers[0]), call.how.integers[2], index_lines::whole);
  const auto what = static_cast<scatter_mode>(call.how.integers[1]);
  if (what == scatter_mode::set) {
    const strided<T> to = call.results[0].as<T>();
    copy_block<T>(call.operands[0].as<const T>(), to);
    write(replacing{}, chosen, to);
    return;
  }
  if constexpr (!std::same_as<T, bool>) {
    with_wide_result<T>(call, [&](const strided<compute_type<T>>& to) {
      load_block<T>(call.operands[0].as<const T>(), to);
      if (what == scatter_mode::add) write(combining<functions::add>{}, chosen, to);
      if (what == scatter_mode::max) write(combining<functions::maximum>{}, chosen, to);
      if (what == scatter_mode::min) write(combining<functions::minimum>{}, chosen, to);
      if (what == scatter_mode::multiply) write(combining<functions::multiply>{}, chosen, to);
    });
  }
}

/// Returns the positions of the indices of a call that sums by them.
[[nodiscard]] inline scratch_vector<index_t> summed_indices(const kernel_call& call,
                                                            index_lines lines) {
  const index_t count = call.how.integers[1];
  return counted_indices(call, static_cast<int>(call.how.integers[0]), call.how.integers[2], lines,
                         count, {{0, count}, {}, 0});
}

}  // namespace detail

template <>
struct kernel_of<scatter_operation> {
  static constexpr bool widens_bytes = true;

  template <class T>
  static void run(const kernel_call& call) {
    detail::write_at_indices<T>(
        call,
        [&]<class Put, class C>(Put, const scratch_vector<index_t>& chosen, const strided<C>& to) {
          detail::scatter_rows<Put>(call.operands[2].as<const T>(),
                                    static_cast<int>(call.how.integers[0]), call.operands[1].rank(),
                                    chosen, to);
        });
  }
};

template <>
struct kernel_of<put_along_operation> {
  static constexpr bool widens_bytes = true;

  template <class T>
  static void run(const kernel_call& call) {
    detail::write_at_indices<T>(
        call,
        [&]<class Put, class C>(Put, const scratch_vector<index_t>& chosen, const strided<C>& to) {
          detail::scatter_along<Put>(call.operands[2].as<const T>(),
                                     static_cast<int>(call.how.integers[0]), chosen, to);
        });
  }
};

/// Sums start with zero. A long row is not zeroed first: the first row added to it is added to
/// zeros that are not in memory. Rows to which nothing is added are filled with zeros.
template <>
struct kernel_of<segment_sum_operation> {
  static constexpr bool widens_bytes = true;

  template <class T>
  static void run(const kernel_call& call) {
    const auto dim = static_cast<int>(call.how.integers[0]);
    const index_t count = call.how.integers[1];
    const scratch_vector<index_t> chosen = detail::summed_indices(call, detail::index_lines::whole);
    using C = compute_type<T>;
    detail::with_wide_result<T>(call, [&](const strided<C>& to) {
      constexpr index_t is_long = 64;
      using adding = detail::combining<functions::add>;
      const strided<const T> from = call.operands[0].as<const T>();
      const int index_rank = call.operands[1].rank();
      index_t row = 1;
      for (int d = dim + 1; d < to.rank(); ++d) row *= to.extents[d];
      if (row < is_long) {
        std::fill_n(to.data, to.size(), C{});
        return detail::scatter_rows<adding>(from, dim, index_rank, chosen, to);
      }
      const detail::first_indices firsts(chosen, count);
      for (index_t first = 0; first < to.size(); first += count * row)
        for (index_t r = 0; r < count; ++r)
          if (firsts.is_used[static_cast<std::size_t>(r)] == 0)
            std::fill_n(to.data + first + r * row, row, C{});
      detail::scatter_rows<adding>(from, dim, index_rank, chosen, to, &firsts);
    });
  }
};

template <>
struct kernel_of<sum_along_operation> {
  static constexpr bool widens_bytes = true;

  template <class T>
  static void run(const kernel_call& call) {
    const scratch_vector<index_t> chosen = detail::summed_indices(call, detail::index_lines::along);
    detail::with_wide_result<T>(call, [&](const strided<compute_type<T>>& to) {
      std::fill_n(to.data, to.size(), compute_type<T>{});
      detail::scatter_along<detail::combining<functions::add>>(
          call.operands[0].as<const T>(), static_cast<int>(call.how.integers[0]), chosen, to);
    });
  }
};

}  // namespace shardwise
