// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/broken_rule.hpp"

#include <concepts>
#include <iosfwd>
#include <type_traits>

namespace shardwise {

/// What the host holds by itself: an Eigen matrix, a container.
template <class H>
concept HeldByHost = requires {
  typename H::PlainObject;
}
|| requires { typename H::allocator_type; };

/// What reading an element with these indices, and printing, are called in errors.
template <class... Indices>
struct element_at;
template <class Char>
struct printed_as;

/// What every handle of a tensor and every expression is: its elements are on the devices, perhaps
/// not computed yet, and no operator reads them. What programs try is named here, with the call
/// that does it, which compilers show.
///
///     std::cout << to_host(x) << '\n';
///     float loss = to_host(y).value();
struct on_devices {
  template <class I>
  void operator[](const I&) const = delete;  // to_host(x)(i, j) is an element; local(x, d) a shard
  void begin() const = delete;               // for (float v : to_host(x).elements())
  void end() const;                          // never asked: `begin` is refused first
  template <HeldByHost H>
  operator H() const = delete;  // to_host(x) is a matrix, to_host(x).elements() a vector
  /// Explicit: what converts to numbers by itself can be compared in many more ways.
  template <class N>
    requires std::is_arithmetic_v<N>
  explicit operator N() const = delete;  // to_host(x).value() is the one number of rank 0

  /// Refuses; the number is for what surrounds the call, so that it says nothing more.
  template <std::convertible_to<index_t>... I>
  double& operator()(const I&...) const {
    (void)sizeof(broken_rule<misuse::elements_are_on_devices, element_at<I...>,
                             suggested(fixed_string("to_host(x)(i, j)"))>);
    static double unread = 0;
    return unread;
  }
};

/// A tensor is no number that could be added to one of the host.
template <class N>
  requires(std::is_arithmetic_v<N>)
N& operator+=(N&, const on_devices&) = delete;  // sum += to_host(x).value()

/// A tensor is gathered before it is printed.
template <class Char, class Traits>
auto& operator<<(std::basic_ostream<Char, Traits>& out, const on_devices&) {
  (void)sizeof(broken_rule<misuse::elements_are_on_devices, printed_as<Char>,
                           suggested(fixed_string("out << to_host(x)"))>);
  return out;
}

}  // namespace shardwise
