// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/fourier_half.hpp"
#include "shardwise/kernel/kernel_call.hpp"
#include "shardwise/operation/fourier_operation.hpp"

#include <cstddef>

namespace shardwise {

namespace detail {

/// Returns the factor of an inverse transform: 1 divided by the number of elements that each result
/// is a sum of.
template <class T, class Dims>
[[nodiscard]] T inverse_factor(const Dims& dims, const inplace_vector<index_t, max_rank>& extents) {
  double count = 1;
  for (const index_t d : dims) count *= static_cast<double>(extents[static_cast<int>(d)]);
  return count > 0 ? static_cast<T>(1 / count) : T{0};
}
template <class T>
[[nodiscard]] strided<const T> read_only(const strided<T>& block) noexcept {
  return {block.data, block.extents, block.strides};
}

/// The kernel of complex transforms: the first dimension is read from the operand, the others are
/// transformed within the result.
template <bool IsInverse>
struct complex_fourier_kernel {
  static constexpr bool widens_halves = true;

  template <class C>
  static void run(const kernel_call& call) {
    on_blocks<C, 1>(call, [&](const auto& from, const auto& to) {
      const auto& dims = call.how.integers;
      strided<const C> source = from;
      for (const index_t d : dims) {
        const bool is_scaled = d == dims.back() && of_spectra::has_factors(call.how, IsInverse);
        transform_pairs<C>(source, to, static_cast<int>(d), IsInverse,
                           is_scaled ? inverse_factor<C>(dims, from.extents) : C{1});
        source = read_only(to);
      }
    });
  }
};

}  // namespace detail

template <>
struct kernel_of<fft_operation> : detail::complex_fourier_kernel<false> {};
template <>
struct kernel_of<ifft_operation> : detail::complex_fourier_kernel<true> {};

template <>
struct kernel_of<rfft_operation> {
  static constexpr bool widens_halves = true;

  template <class C>
  static void run(const kernel_call& call) {
    on_blocks<C, 1>(call, [&](const auto& from, const auto& to) {
      const auto& dims = call.how.integers;
      const bool is_scaled = internal::of_spectra::has_factors(call.how, false);
      detail::transform_to_half<C>(
          from, to, static_cast<int>(dims.back()), is_scaled,
          is_scaled ? detail::inverse_factor<C>(dims, from.extents) : C{1});
      for (int i = 0; i + 1 < dims.ssize(); ++i)
        detail::transform_pairs<C>(detail::read_only(to), to, static_cast<int>(dims[i]), false,
                                   C{1});
    });
  }
};

template <>
struct kernel_of<irfft_operation> {
  static constexpr bool widens_halves = true;

  template <class C>
  static void run(const kernel_call& call) {
    on_blocks<C, 1>(call, [&](const auto& from, const auto& to) {
      const auto dims = irfft_operation::dims(call.how).integers;
      const bool is_scaled = internal::of_spectra::has_factors(call.how, true);
      // The other dimensions first, in memory of their own.
      scratch_vector<C> memory(static_cast<std::size_t>(dims.ssize() > 1 ? from.size() : 0));
      const strided<C> wide{memory.data(), from.extents, row_major(from.extents)};
      strided<const C> source = from;
      for (int i = 0; i + 1 < dims.ssize(); ++i) {
        detail::transform_pairs<C>(source, wide, static_cast<int>(dims[i]), true, C{1});
        source = detail::read_only(wide);
      }
      detail::transform_from_half<C>(
          source, to, static_cast<int>(dims.back()), is_scaled,
          is_scaled ? detail::inverse_factor<C>(dims, to.extents) : C{1});
    });
  }
};

}  // namespace shardwise
