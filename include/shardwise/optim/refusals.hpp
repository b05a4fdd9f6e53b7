// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/error.hpp"
#include "shardwise/core/judge.hpp"
#include "shardwise/expression/operand.hpp"
#include "shardwise/optim/step_number.hpp"

#include <limits>
#include <type_traits>

namespace shardwise::optim {

/// Any argument of an optimizer, so that errors about gradients do not print its type.
struct unlike {
  template <class X>
  constexpr unlike(const X&) noexcept {}
};

/// The first member of an optimizer, whose options are named: the number in `sgd{0.1}` would be the
/// momentum, although other libraries have the rate there.
struct named_options {
  constexpr named_options() noexcept = default;
  template <class Option>
    requires std::is_arithmetic_v<Option>
  constexpr named_options(
      Option, typename refused<misuse::option_is_not_named, of_types<Option>>::type = {}) noexcept {
  }
};

}  // namespace shardwise::optim

namespace shardwise::detail {

/// Reports gradients that `User`, an optimizer or a function, rejects: they are pending, or those
/// of another nest. Those of an invalid loss have been reported.
template <class User, bool AreReported = false>
constexpr refused_value refuse_gradients() {
  using verdict =
      std::conditional_t<AreReported, refused<>, refused<misuse::gradients_differ, of_types<User>>>;
  using reported [[maybe_unused]] = decltype(typename verdict::type{});
  return {};
}

/// The result of a step with the state of another optimizer or of another model: the error, in the
/// line of the call. That of an invalid model has been reported.
template <class User, class State>
using state_differs =
    typename std::conditional_t<AnyRefused<State>, refused<>,
                                refused<misuse::optimizer_state_differs, of_types<User>>>::type;

/// Fails, with the rule of the option as `words`, unless it is from 0 to less than 1: the part of a
/// mean that a step keeps.
constexpr void require_kept_part(double option, text_view words) {
  internal::require_within(option >= 0 && option < 1, words);
}
/// The same unless an option is a finite number that is not negative.
constexpr void require_not_negative(double option, text_view words) {
  internal::require_within(option >= 0 && option <= std::numeric_limits<double>::max(), words);
}
inline constexpr text_view beta1_rule = "beta1 of an optimizer is from 0 to less than 1";
inline constexpr text_view beta2_rule = "beta2 of an optimizer is from 0 to less than 1";
inline constexpr text_view decay_rule = "the decay of an optimizer is from 0 to less than 1";
inline constexpr text_view epsilon_rule = "epsilon of an optimizer is finite and not negative";
inline constexpr text_view momentum_rule =
    "the momentum of an optimizer is finite and not negative";
inline constexpr text_view weight_decay_rule = "a weight decay is finite and not negative";

/// True for parameters whose gradients have squares without a range.
template <class Parameters>
inline constexpr bool lacks_range_of_squares = has_element<Parameters, element::f16>;
/// Reports them to `User`, an optimizer that keeps squares.
template <class User, class Parameters>
constexpr refused_value refuse_squares() {
  return report<
      std::conditional_t<lacks_range_of_squares<Parameters>,
                         refused<misuse::squares_have_no_range, of_types<User>>, refused<>>>();
}

}  // namespace shardwise::detail
