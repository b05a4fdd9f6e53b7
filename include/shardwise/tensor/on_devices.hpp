// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/broken_rule.hpp"

#include <concepts>
#include <iosfwd>
#include <type_traits>

namespace shardwise {

/// A type of host data: an Eigen matrix, a container.
template <class H>
concept HeldByHost = requires {
  typename H::PlainObject;
}
|| requires { typename H::allocator_type; };

/// The names in errors of reading an element with these indices, and of printing.
template <class... Indices>
struct element_at;
template <class Char>
struct printed_as;

/// Base of all tensor handles and expressions: their elements are on the devices, perhaps not
/// computed yet, and no operator reads them. The members that programs might expect are deleted,
/// each with a comment that compilers show, which names the call to use instead.
///
///     std::cout << to_host(x) << '\n';
struct on_devices {
  template <class I>
  void operator[](const I&) const = delete;  // to_host(x)(i, j) is an element; local(x, d) a shard
  void begin() const = delete;               // for (float v : to_host(x).elements())
  void end() const;                          // never asked: `begin` is refused first
  template <HeldByHost H>
  operator H() const = delete;  // to_host(x) is a matrix, to_host(x).elements() a vector

  /// Reports the error; returns a number so that the surrounding expression causes no further
  /// errors.
  template <std::convertible_to<index_t>... I>
  double& operator()(const I&...) const {
    (void)sizeof(broken_rule<misuse::elements_are_on_devices, element_at<I...>,
                             suggested(fixed_string("to_host(x)(i, j)"))>);
    static double unread = 0;
    return unread;
  }
};

/// A tensor must be gathered before it is printed.
template <class Char, class Traits>
auto& operator<<(std::basic_ostream<Char, Traits>& out, const on_devices&) {
  (void)sizeof(broken_rule<misuse::elements_are_on_devices, printed_as<Char>,
                           suggested(fixed_string("out << to_host(x)"))>);
  return out;
}

}  // namespace shardwise
