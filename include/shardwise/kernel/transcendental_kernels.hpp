// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/arithmetic_kernels.hpp"
#include "shardwise/kernel/eigen.hpp"
#include "shardwise/operation/transcendental.hpp"

#include <cmath>
#include <concepts>
#include <cstddef>
#include <limits>

namespace shardwise {

namespace detail {
/// `c[0] x^(n-1) + ... + c[n-1]`.
template <class P, std::size_t N>
[[nodiscard]] P polynomial(const P& x, const double (&c)[N]) noexcept {
  P sum = all_lanes<P>(c[0]);
  for (std::size_t i = 1; i < N; ++i) sum = packet::pmadd(sum, x, all_lanes<P>(c[i]));
  return sum;
}

/// Returns a number with the sign of `x`. The number must not be negative, or must have the sign of
/// `x`, or be the zero of the other sign.
template <class P>
[[nodiscard]] P with_sign_of(const P& x, const P& value) noexcept {
  return either_bits(value, packet::pand(x, all_lanes<P>(-0.0)));
}
}  // namespace detail

/// The correctly rounded root, the same on every machine.
template <>
struct kernel<functions::sqrt> {
  template <class P>
  [[nodiscard]] static P run(const P& x) noexcept {
    static_assert(detail::is_floating<P>, "sqrt is computed on float and double only");
    // Eigen's roots of whole packets are estimates (infinity gives NaN); those of half a packet of
    // doubles are exact, also after rounding to float.
    namespace packet = detail::packet;
    using half = typename packet::packet_traits<double>::half;
    using T = detail::lane<P>;
    constexpr std::size_t lanes = sizeof(P) / sizeof(T);
    constexpr std::size_t stride = sizeof(half) / sizeof(double);
    if constexpr (lanes % stride != 0) {
      return std::sqrt(x);
    } else {
      T narrow[lanes];
      double wide[lanes];
      packet::pstoreu(narrow, x);
      for (std::size_t i = 0; i < lanes; ++i) wide[i] = narrow[i];
      for (std::size_t i = 0; i < lanes; i += stride)
        packet::pstoreu(wide + i, packet::psqrt(packet::ploadu<half>(wide + i)));
      for (std::size_t i = 0; i < lanes; ++i) narrow[i] = static_cast<T>(wide[i]);
      return packet::ploadu<P>(narrow);
    }
  }
};

/// Within 1.5 ulp for float, whose results are finite up to 88.722, and 1.75 ulp for double; a
/// result that would be subnormal is 0, and so is exp(-infinity).
template <>
struct kernel<functions::exp> {
  template <class P>
  [[nodiscard]] static P run(const P& x) noexcept {
    static_assert(detail::is_floating<P>, "exp is computed on float and double only");
    // Outside the range the result is set here.
    constexpr bool narrow = std::same_as<detail::lane<P>, float>;
    constexpr double above = narrow ? 88.72283172607421875 : 709.782712893383973096;
    constexpr double below = narrow ? -87.33654022216796875 : -708.396418532264078749;
    namespace packet = detail::packet;
    const P infinity = all_lanes<P>(std::numeric_limits<double>::infinity());
    const P within = packet::pselect(packet::pcmp_lt(all_lanes<P>(above), x), infinity, inside(x));
    return packet::pandnot(within, packet::pcmp_lt(x, all_lanes<P>(below)));
  }

 private:
  template <class P>
  [[nodiscard]] static P inside(const P& x) noexcept {
    namespace packet = detail::packet;
    if constexpr (detail::OneLane<P> || !std::same_as<detail::lane<P>, float>) {
      return packet::pexp(x);
    } else {
      // Cephes, as in Eigen, whose own function for the widest packets ends at 88.376: 2^n exp(r).
      // The sum with 1.5 2^23 is rounded to an integer, whose low bits are n; added to the exponent
      // of exp(r), which is between 0.7 and 1.42, they give the result, up to the largest number.
      using integers = typename packet::unpacket_traits<P>::integer_packet;
      constexpr double p[] = {1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3,
                              4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1};
      const P magic = all_lanes<P>(0x1.8p23);
      const P shifted = packet::pmadd(x, all_lanes<P>(1.44269504088896341), magic);
      const P n = packet::psub(shifted, magic);
      P r = packet::pmadd(n, all_lanes<P>(-0.693359375), x);
      r = packet::pmadd(n, all_lanes<P>(2.12194440e-4), r);
      const P one = all_lanes<P>(1);
      const P y = packet::pmadd(detail::polynomial(r, p), packet::pmul(r, r), packet::padd(r, one));
      const P value = packet::preinterpret<P>(
          packet::padd(packet::preinterpret<integers>(y),
                       packet::plogical_shift_left<23>(packet::preinterpret<integers>(shifted))));
      return packet::pselect(packet::pcmp_eq(x, x), value, x);
    }
  }
};

/// The natural logarithm: -infinity at 0, NaN below. Within 1.25 ulp for float and 1.75 for double.
template <>
struct kernel<functions::log> {
  template <class P>
  [[nodiscard]] static P run(const P& x) noexcept {
    static_assert(detail::is_floating<P>, "log is computed on float and double only");
    namespace packet = detail::packet;
    if constexpr (detail::OneLane<P>) {
      return packet::plog(x);
    } else {
      // Eigen treats subnormal numbers as the smallest normal one: here they are multiplied by
      // 2^64.
      using limits = std::numeric_limits<detail::lane<P>>;
      const P tiny = packet::pcmp_lt(x, all_lanes<P>(static_cast<double>(limits::min())));
      // 1, plus 2^64 for subnormal numbers.
      const P factor = packet::padd(all_lanes<P>(1), packet::pand(tiny, all_lanes<P>(0x1p64)));
      const P grown = packet::pmul(x, factor);
      const P excess = packet::pand(tiny, all_lanes<P>(44.361419555836499802702855773323));
      return packet::psub(packet::plog(grown), excess);
    }
  }
};

/// Within 6 ulp for float and 1.5 ulp for double, never beyond 1; -0 remains -0.
template <>
struct kernel<functions::tanh> {
  template <class P>
  [[nodiscard]] static P run(const P& x) noexcept {
    static_assert(detail::is_floating<P>, "tanh is computed on float and double only");
    namespace packet = detail::packet;
    if constexpr (std::same_as<detail::lane<P>, float>) {
      return packet::generic_fast_tanh_float(x);
    } else {
      // Cephes: a rational function of x^2 near 0, 1 - 2 / (exp(2|x|) + 1) elsewhere.
      constexpr double p[] = {-9.64399179425052238628e-1, -9.92877231001918586564e1,
                              -1.61468768441708447952e3};
      constexpr double q[] = {1.0, 1.12811678491632931402e2, 2.23548839060100448583e3,
                              4.84406305325125486048e3};
      const P one = all_lanes<P>(1), size = packet::pabs(x), x2 = packet::pmul(x, x);
      const P ratio = packet::pdiv(detail::polynomial(x2, p), detail::polynomial(x2, q));
      const P near = packet::pmadd(packet::pmul(x, x2), ratio, x);
      const P grown = kernel<functions::exp>::run(packet::padd(size, size));
      const P far =
          packet::psub(one, packet::pdiv(packet::padd(one, one), packet::padd(grown, one)));
      const P value = packet::pselect(packet::pcmp_lt(size, all_lanes<P>(0.625)), near, far);
      return detail::with_sign_of(x, value);
    }
  }
};

/// 1 / (1 + exp(-x)): 0 and 1 at the ends, never NaN for a number. Within 3 ulp for float and 2.5
/// ulp for double, except that it is 0 where exp(-x) is infinite and the result would be subnormal.
template <>
struct kernel<functions::sigmoid> {
  template <class P>
  [[nodiscard]] static P run(const P& x) noexcept {
    static_assert(detail::is_floating<P>, "sigmoid is computed on float and double only");
    const P one = all_lanes<P>(1);
    const P grown = kernel<functions::exp>::run(kernel<functions::negate>::run(x));
    return detail::packet::pdiv(one, detail::packet::padd(one, grown));
  }
};

/// The approximation with tanh, which has the sign of x: gelu(-infinity) is -0. Within 3.5 ulp of x
/// for float and 2.5 ulp of x for double: relative errors are large where x is negative and the
/// result is close to 0.
template <>
struct kernel<functions::gelu> {
  template <class P>
  [[nodiscard]] static P run(const P& x) noexcept {
    static_assert(detail::is_floating<P>, "gelu is computed on float and double only");
    namespace packet = detail::packet;
    // sqrt(2/pi), and its product with 0.044715.
    constexpr double linear = 0.79788456080286535588, cubic = 0.035677408136300125;
    // Below -16 every result rounds to 0, and infinity would be multiplied by it.
    const P bounded = packet::pmax(x, all_lanes<P>(-64));
    const P x2 = packet::pmul(bounded, bounded);
    const P inner =
        packet::pmul(bounded, packet::pmadd(x2, all_lanes<P>(cubic), all_lanes<P>(linear)));
    if constexpr (std::same_as<detail::lane<P>, float>) {
      const P half = packet::pmul(bounded, all_lanes<P>(0.5));
      const P value = packet::pmadd(half, kernel<functions::tanh>::run(inner), half);
      return detail::with_sign_of(x, value);
    } else {
      return packet::pmul(bounded, kernel<functions::sigmoid>::run(packet::padd(inner, inner)));
    }
  }
};

}  // namespace shardwise
