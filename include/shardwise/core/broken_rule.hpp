// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/agreed.hpp"
#include "shardwise/core/fact.hpp"

#include <type_traits>

namespace shardwise {

namespace detail {
/// `Rule` if it is `Asked`.
template <auto Rule, auto Asked>
inline constexpr auto rule_if = violation::nothing;
template <auto Rule>
inline constexpr auto rule_if<Rule, Rule> = Rule;
// Functions instead of values: clang 16 confuses enumerators of equal value when one of them is
// written out in a partial specialization.
[[nodiscard]] constexpr bool is_no_rule(violation rule) noexcept {
  return rule == violation::nothing;
}
[[nodiscard]] constexpr bool is_no_rule(misuse) noexcept { return false; }
}  // namespace detail

/// The condition of the `static_assert` of a broken rule: always false, and dependent on the rule
/// and its facts so that compilers print both on the line of the error.
template <auto Rule, class About, auto... Facts>
inline constexpr bool satisfied = detail::is_no_rule(Rule);

namespace internal {
/// A value in the place of an invalid result that a program converts to `T`, where constant
/// expressions need one.
template <class T>
struct stand_in;
template <class T>
  requires std::is_arithmetic_v<T>
struct stand_in<T> {
  static constexpr T value() noexcept { return T(1); }
};
template <class T>
concept HasStandIn = requires {
  stand_in<T>::value();
};
}  // namespace internal

/// The result type of an operation on the result of an invalid one: the error has been reported,
/// and everything that uses this result compiles silently.
struct refused_value {
  // What functions of any tensor ask of its type; the answers do not matter.
  using value_type = float;
  using mesh_type = internal::refused_part;
  using layout_type = internal::refused_part;
  struct extents_type {
    static constexpr bool is_legal = false;
    static constexpr internal::agreed_size rank{}, dynamic_rank{};
    static constexpr internal::agreed_sizes value{};
  };
  // Declared and never defined: a program that breaks a rule never runs.
  template <class T>
  operator T() const;
  // A traced function that says what it returns converts its invalid result in a constant
  // expression.
  template <internal::HasStandIn T>
  constexpr operator T() const {
    return internal::stand_in<T>::value();
  }
  template <class... I>
  refused_value operator()(const I&...) const;
  // The single element of what would have been read: any number goes on without an error.
  value_type operator()() const;
  template <class I>
  refused_value operator[](const I&) const;
  // The members of tensors and of what is read from them.
  refused_value value() const, elements() const, extents() const, size() const, range() const,
      matrix() const, mesh() const, layout() const, tensor() const, ssize() const;
  const refused_value *begin() const, *end() const;
  template <class Out>
  friend Out& operator<<(Out& out, const refused_value&);
};

/// The error that `Rule`, a `violation` or a `misuse`, is broken by `About`: an operation, a mesh,
/// a spec, or several types. `Facts` are the labelled facts of the verdict and the call that
/// fixes it:
///
///     broken_rule<violation::axis_is_not_in_mesh, pod, dimension_at{1}, called<6>{"modle"}>
///
/// The error occurs when the class is instantiated, which happens where the program uses what the
/// rule forbids, so compilers point at that line of the program. An invalid operation returns it,
/// so that nothing stands between the two.
template <auto Rule, class About, auto... Facts>
struct broken_rule : refused_value {
  using enum violation;
  using enum misuse;
  template <auto Asked>
  static constexpr auto rule = detail::rule_if<Rule, Asked>;

#define SHARDWISE_RULE < rule <
#define SHARDWISE_SAYS >, About, Facts... >,
#if defined(__clang__)
  // In a function: clang would treat a class with an assertion that fails as invalid, and report
  // what uses it too.
  using assertions = decltype([]{
#include "shardwise/core/misuses.inc"
#include "shardwise/core/violations.inc"
                              });
#else
#include "shardwise/core/misuses.inc"
#include "shardwise/core/violations.inc"
#endif
#undef SHARDWISE_RULE
#undef SHARDWISE_SAYS
};

}  // namespace shardwise
