// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/eigen.hpp"
#include "shardwise/kernel/function_kernel.hpp"
#include "shardwise/operation/arithmetic.hpp"
#include "shardwise/operation/comparison.hpp"

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstdint>
#include <type_traits>

namespace shardwise {

namespace detail {
namespace packet = Eigen::internal;

/// The element type of a packet; a scalar is a packet of one lane.
template <class P>
using lane = typename packet::unpacket_traits<P>::type;

/// A scalar rather than a packet. Compilers vectorise loops over scalar functions that are written
/// with operators; Eigen writes masks byte by byte.
template <class P>
concept OneLane = std::integral<P> || std::floating_point<P>;

template <class P>
inline constexpr bool is_floating = std::floating_point<lane<P>>;

/// Returns the bits that are set in at least one operand.
template <class P>
[[nodiscard]] P either_bits(const P& a, const P& b) noexcept {
  if constexpr (std::same_as<P, float>)
    return std::bit_cast<P>(std::bit_cast<std::uint32_t>(a) | std::bit_cast<std::uint32_t>(b));
  else if constexpr (std::same_as<P, double>)
    return std::bit_cast<P>(std::bit_cast<std::uint64_t>(a) | std::bit_cast<std::uint64_t>(b));
  else
    return packet::por(a, b);
}

/// Arithmetic on integers that wraps around instead of being undefined on overflow.
template <std::integral T, class F>
[[nodiscard]] constexpr T wrap(T a, T b, F f) noexcept {
  using bits = std::make_unsigned_t<T>;
  return static_cast<T>(f(static_cast<bits>(a), static_cast<bits>(b)));
}
}  // namespace detail

/// Returns a packet with the same number in every lane: a constant of a kernel,
/// `all_lanes<P>(0.5)`.
template <class P>
[[nodiscard]] P all_lanes(double value) noexcept {
  return detail::packet::pset1<P>(static_cast<detail::lane<P>>(value));
}

template <class Function>
concept ExactFunction = requires {
  requires kernel<Function>::exact;
};

template <>
struct kernel<functions::identity> {
  static constexpr bool exact = true;

  template <class P>
  [[nodiscard]] static P run(const P& x) noexcept {
    return x;
  }
};

/// Flips the sign of every number, including zeros and NaN.
template <>
struct kernel<functions::negate> {
  static constexpr bool exact = true;

  template <class P>
  [[nodiscard]] static P run(const P& x) noexcept {
    if constexpr (std::integral<P>)
      return detail::wrap(P{0}, x, [](auto a, auto b) { return a - b; });
    else if constexpr (std::floating_point<P>)
      return -x;
    else  // Eigen subtracts packets of some widths from 0
      return detail::packet::pxor(x, all_lanes<P>(-0.0));
  }
};

template <>
struct kernel<functions::add> {
  static constexpr bool exact = true;

  template <class P>
  [[nodiscard]] static P run(const P& a, const P& b) noexcept {
    if constexpr (std::integral<P>)
      return detail::wrap(a, b, [](auto x, auto y) { return x + y; });
    else
      return detail::packet::padd(a, b);
  }
};

template <>
struct kernel<functions::subtract> {
  static constexpr bool exact = true;

  template <class P>
  [[nodiscard]] static P run(const P& a, const P& b) noexcept {
    if constexpr (std::integral<P>)
      return detail::wrap(a, b, [](auto x, auto y) { return x - y; });
    else
      return detail::packet::psub(a, b);
  }
};

template <>
struct kernel<functions::subtract_constant> : kernel<functions::subtract> {};

template <>
struct kernel<functions::multiply> {
  static constexpr bool exact = true;

  template <class P>
  [[nodiscard]] static P run(const P& a, const P& b) noexcept {
    if constexpr (std::integral<P>)
      return detail::wrap(a, b, [](auto x, auto y) { return x * y; });
    else
      return detail::packet::pmul(a, b);
  }
};

template <>
struct kernel<functions::divide> {
  static constexpr bool exact = true;

  template <class P>
  [[nodiscard]] static P run(const P& a, const P& b) noexcept {
    if constexpr (std::integral<P>) {
      // The two quotients for which hardware traps: a division by zero, and the most negative
      // number divided by -1.
      if (b == P{0}) return P{0};
      if constexpr (std::signed_integral<P>)
        if (b == P{-1}) return kernel<functions::negate>::run(a);
      return static_cast<P>(a / b);
    } else {
      return detail::packet::pdiv(a, b);
    }
  }
};

/// Returns NaN if either operand is NaN. For zeros of different sign, the result is the negative
/// one, in either order.
template <>
struct kernel<functions::maximum> {
  static constexpr bool exact = true;

  template <class P>
  [[nodiscard]] static P run(const P& a, const P& b) noexcept {
    // A packet maximum always returns the same operand if either is NaN, so one of the two orders
    // gives NaN. Joining the bits keeps it, and changes nothing if both orders agree.
    if constexpr (std::integral<P>)
      return std::max(a, b);
    else
      return detail::either_bits(detail::packet::pmax(a, b), detail::packet::pmax(b, a));
  }
};

/// Returns NaN if either operand is NaN. For zeros of different sign, the result is the negative
/// one.
template <>
struct kernel<functions::minimum> {
  static constexpr bool exact = true;

  template <class P>
  [[nodiscard]] static P run(const P& a, const P& b) noexcept {
    if constexpr (std::integral<P>)
      return std::min(a, b);
    else
      return detail::either_bits(detail::packet::pmin(a, b), detail::packet::pmin(b, a));
  }
};

/// The same two functions for operands that are not NaN; if they are equal, the result is the
/// first. One instruction, where the others take three.
namespace detail {
struct ordered_maximum {};
struct ordered_minimum {};
}  // namespace detail

template <>
struct kernel<detail::ordered_maximum> {
  template <class P>
  [[nodiscard]] static P run(const P& a, const P& b) noexcept {
    if constexpr (detail::OneLane<P>)
      return std::max(a, b);
    else
      return detail::packet::pmax(a, b);
  }
};
template <>
struct kernel<detail::ordered_minimum> {
  template <class P>
  [[nodiscard]] static P run(const P& a, const P& b) noexcept {
    if constexpr (detail::OneLane<P>)
      return std::min(a, b);
    else
      return detail::packet::pmin(a, b);
  }
};

template <>
struct kernel<functions::abs> {
  static constexpr bool exact = true;

  template <class P>
  [[nodiscard]] static P run(const P& x) noexcept {
    if constexpr (std::unsigned_integral<P>)
      return x;
    else if constexpr (std::integral<P>)
      return x < P{0} ? kernel<functions::negate>::run(x) : x;
    else
      return detail::packet::pabs(x);
  }
};

template <>
struct kernel<functions::square> {
  static constexpr bool exact = true;

  template <class P>
  [[nodiscard]] static P run(const P& x) noexcept {
    return kernel<functions::multiply>::run(x, x);
  }
};

/// Returns the larger of x and 0; NaN and -0 are kept.
template <>
struct kernel<functions::relu> {
  static constexpr bool exact = true;

  template <class P>
  [[nodiscard]] static P run(const P& x) noexcept {
    // The first operand is the one that a maximum returns if either is NaN.
    if constexpr (detail::OneLane<P>)
      return std::max(x, P{0});
    else
      return detail::packet::pmax(x, all_lanes<P>(0));
  }
};

template <>
struct kernel<functions::equal> {
  static constexpr bool exact = true;

  template <class P>
  [[nodiscard]] static P run(const P& a, const P& b) noexcept {
    if constexpr (detail::OneLane<P>)
      return a == b ? P{1} : P{0};
    else
      return detail::packet::pand(detail::packet::pcmp_eq(a, b), all_lanes<P>(1));
  }
};

template <>
struct kernel<functions::not_equal> {
  static constexpr bool exact = true;

  template <class P>
  [[nodiscard]] static P run(const P& a, const P& b) noexcept {
    if constexpr (detail::OneLane<P>)
      return a != b ? P{1} : P{0};
    else
      return detail::packet::pselect(detail::packet::pcmp_eq(a, b), all_lanes<P>(0),
                                     all_lanes<P>(1));
  }
};

template <>
struct kernel<functions::less> {
  static constexpr bool exact = true;

  template <class P>
  [[nodiscard]] static P run(const P& a, const P& b) noexcept {
    if constexpr (detail::OneLane<P>)
      return a < b ? P{1} : P{0};
    else
      return detail::packet::pand(detail::packet::pcmp_lt(a, b), all_lanes<P>(1));
  }
};

template <>
struct kernel<functions::less_equal> {
  static constexpr bool exact = true;

  template <class P>
  [[nodiscard]] static P run(const P& a, const P& b) noexcept {
    if constexpr (detail::OneLane<P>)
      return a <= b ? P{1} : P{0};
    else
      return detail::packet::pand(
          detail::packet::por(detail::packet::pcmp_lt(a, b), detail::packet::pcmp_eq(a, b)),
          all_lanes<P>(1));
  }
};

template <>
struct kernel<functions::greater> {
  static constexpr bool exact = true;

  template <class P>
  [[nodiscard]] static P run(const P& a, const P& b) noexcept {
    return kernel<functions::less>::run(b, a);
  }
};

template <>
struct kernel<functions::greater_equal> {
  static constexpr bool exact = true;

  template <class P>
  [[nodiscard]] static P run(const P& a, const P& b) noexcept {
    return kernel<functions::less_equal>::run(b, a);
  }
};

template <>
struct kernel<functions::where> {
  static constexpr bool exact = true;

  template <class P>
  [[nodiscard]] static P run(const P& condition, const P& yes, const P& no) noexcept {
    if constexpr (detail::OneLane<P>)
      return condition != P{0} ? yes : no;
    else
      return detail::packet::pselect(detail::packet::pcmp_eq(condition, all_lanes<P>(0)), no, yes);
  }
};

}  // namespace shardwise
