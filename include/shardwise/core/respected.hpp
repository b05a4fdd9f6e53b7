// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/fixed_string.hpp"
#include "shardwise/core/index.hpp"

namespace shardwise {

/// Never true: what the `static_assert` of a broken rule tests, so that compilers repeat the rule
/// with its facts on the line of the error.
template <class Rule>
inline constexpr bool respected = false;

/// The answer of a judge: `type` is the template of the broken rule, named but not yet
/// instantiated, so that the error points at the class or function that asks for it. Functions ask
/// by `decltype(type{})`: after a `sizeof` clang would also say that they are no constant
/// expression.
template <class Rule>
struct refused {
  static constexpr bool ok = false;
  using type = Rule;
};
/// The answer where no rule is broken.
struct legal {
  static constexpr bool ok = true;
  using type = char;
};

/// The answer where a rule is broken and the compiler has said so already.
struct refused_before {
  static constexpr bool ok = false;
  using type = char;
};

namespace detail {
/// Stands for a template argument that was not written, until a rule says what is wanted there; the
/// type of its value is none that any rule accepts.
struct missing {
  static constexpr decltype(nullptr) value{};
};
}  // namespace detail

/// Labels for the numbers in a compile-time error: `operand<1>`, `operand<1>::dimension<0>`,
/// `dimension<0>`, `extent<1001>`.
template <int N>
struct operand {
  template <int D>
  struct dimension;
};
template <int N>
struct dimension;
template <index_t N>
struct extent;
template <index_t N>
struct parts;
template <index_t N>
struct multiple_of;
/// The two nearest sizes that would be legal.
template <index_t Below, index_t Above>
struct nearest;
/// The operation that gives an operand another layout.
template <class Spec>
struct reshard_to;

}  // namespace shardwise
