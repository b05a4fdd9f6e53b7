// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/as.hpp"
#include "shardwise/operation/fourier_operation.hpp"
#include "shardwise/operation/number.hpp"

namespace shardwise {

namespace detail {
template <class Operation, class Permitted>
using fourier_call = fractional_call<Operation, fetching_call<Operation, Permitted>>;
template <class Operation, class Given, class X>
using fourier_outcome = outcome_on<fourier_call<Operation, permitted_by<Given>>, Given, X>;
}  // namespace detail

/// Fourier transforms. The name is not that of a transform, which programs often have themselves.
namespace fourier {

/// The length of a real dimension of which half of the transform is given.
template <index_t N>
struct length_of {};
template <index_t N>
inline constexpr length_of<N> length{};

/// The operations whose attributes are types.
template <int... Dims>
struct fft_of {
  using operation_class = fft_operation;
  static constexpr attributes how = integer_attributes(Dims...);
};
template <int... Dims>
struct ifft_of {
  using operation_class = ifft_operation;
  static constexpr attributes how = integer_attributes(Dims...);
};
template <int... Dims>
struct rfft_of {
  using operation_class = rfft_operation;
  static constexpr attributes how = integer_attributes(Dims...);
};
template <index_t Length, int... Dims>
struct irfft_of {
  using operation_class = irfft_operation;
  static constexpr attributes how = integer_attributes(Dims..., Length);
};

/// Returns the discrete Fourier transform of complex numbers along the given dimensions. A complex
/// tensor has a last dimension of size 2, the real and the imaginary parts, which is not among
/// `Dims` and is not counted: -1 is the one before it. Along a dimension of `n` elements, element
/// `k` is the sum of `x[j] exp(-2 pi i j k / n)` over all `j`. Any length is fast. The dimensions
/// and the pairs must not be split, or are gathered over permitted axes; pending sums stay pending.
/// The elements must be floating-point numbers; `bfloat16` and `float16` are computed in `float`.
///
///     auto y = fourier::fft<1>(x);           // f32[8@data, 64, 2] -> f32[8@data, 64, 2]
///     auto z = fourier::fft<0, 1>(x, across<"data">);
template <int... Dims, NamedOperand X, internal::Terms Given = across_axes<>>
  requires(sizeof...(Dims) > 0 && sizeof...(Dims) <= max_rank)
[[nodiscard]] constexpr detail::fourier_outcome<fft_of<Dims...>, Given, X> fft(
    X&& x, const Given& given = {}) {
  return internal::carry_out_on<
      detail::fourier_call<fft_of<Dims...>, internal::permitted_by<Given>>>(given,
                                                                            static_cast<X&&>(x));
}

/// Returns the inverse of `fft`: element `j` is the sum of `x[k] exp(2 pi i j k / n)`, divided by
/// the number of elements.
template <int... Dims, NamedOperand X, internal::Terms Given = across_axes<>>
  requires(sizeof...(Dims) > 0 && sizeof...(Dims) <= max_rank)
[[nodiscard]] constexpr detail::fourier_outcome<ifft_of<Dims...>, Given, X> ifft(
    X&& x, const Given& given = {}) {
  return internal::carry_out_on<
      detail::fourier_call<ifft_of<Dims...>, internal::permitted_by<Given>>>(given,
                                                                             static_cast<X&&>(x));
}

/// Returns the discrete Fourier transform of real numbers: complex numbers, whose pairs are a new
/// last dimension. Along the last of `Dims` only the first `n / 2 + 1` of `n` results are returned;
/// the others are conjugates of these. Layouts are those of `fft`.
///
///     auto y = fourier::rfft<1>(x);          // f32[8@data, 64] -> f32[8@data, 33, 2]
template <int... Dims, NamedOperand X, internal::Terms Given = across_axes<>>
  requires(sizeof...(Dims) > 0 && sizeof...(Dims) <= max_rank)
[[nodiscard]] constexpr detail::fourier_outcome<rfft_of<Dims...>, Given, X> rfft(
    X&& x, const Given& given = {}) {
  return internal::carry_out_on<
      detail::fourier_call<rfft_of<Dims...>, internal::permitted_by<Given>>>(given,
                                                                             static_cast<X&&>(x));
}

/// Returns the inverse of `rfft`: real numbers, of which there are `2 (m - 1)` along the last of
/// `Dims`, where the operand has `m`. The imaginary parts of its first element, and of the last one
/// of an even length, are ignored.
///
///     auto x = fourier::irfft<1>(y);         // f32[8@data, 33, 2] -> f32[8@data, 64]
template <int... Dims, NamedOperand X, internal::Terms Given = across_axes<>>
  requires(sizeof...(Dims) > 0 && sizeof...(Dims) <= max_rank)
[[nodiscard]] constexpr detail::fourier_outcome<irfft_of<0, Dims...>, Given, X> irfft(
    X&& x, const Given& given = {}) {
  return internal::carry_out_on<
      detail::fourier_call<irfft_of<0, Dims...>, internal::permitted_by<Given>>>(
      given, static_cast<X&&>(x));
}
/// Returns the inverse transform with `N` elements, of an operand that has `N / 2 + 1`.
///
///     auto x = fourier::irfft<1>(y, fourier::length<65>);    // f32[8, 33, 2] -> f32[8, 65]
template <int... Dims, index_t N, NamedOperand X, internal::Terms Given = across_axes<>>
  requires(sizeof...(Dims) > 0 && sizeof...(Dims) <= max_rank)
[[nodiscard]] constexpr detail::fourier_outcome<irfft_of<N, Dims...>, Given, X> irfft(
    X&& x, length_of<N>, const Given& given = {}) {
  return internal::carry_out_on<
      detail::fourier_call<irfft_of<N, Dims...>, internal::permitted_by<Given>>>(
      given, static_cast<X&&>(x));
}

}  // namespace fourier

}  // namespace shardwise
