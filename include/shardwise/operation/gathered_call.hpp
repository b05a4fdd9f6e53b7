// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/normalising.hpp"

#include <type_traits>
#include <utility>

namespace shardwise::detail {

/// The call of an operation that is composed of others and needs its operands as a rule states:
/// `Steps::apply(x...)`, after they have been gathered over permitted axes. `Applied` is its form
/// on abstract tensors, whose rule checks all of them and reports the errors of the composition.
template <class Applied, class Permitted, class Steps>
struct gathered_call {
  template <class... X>
  [[nodiscard]] static constexpr auto judge() noexcept {
    using answer = decltype(fetching::template judge<X...>());
    if constexpr (!answer::ok)
      return answer{};
    else if constexpr (needs_fractions && !(... && is_fraction<X>))
      return refused<misuse::elements_have_no_fractions,
                     of_types<Applied, typename std::remove_cvref_t<X>::value_type...>>{};
    else
      return judge_composed<decltype(apply(std::declval<const std::remove_cvref_t<X>&>()...))>();
  }
  template <class... X>
  [[nodiscard]] static constexpr auto apply(const X&... x) {
    if constexpr ((... || ValueOperand<X>)) require_rule<Applied, Permitted>(x...);
    return fetching::with_gathered([](const auto&... whole) { return Steps::apply(whole...); },
                                   x...);
  }

 private:
  using fetching = fetching_call<Applied, Permitted>;
  static constexpr bool needs_fractions = requires {
    requires Applied::operation_class::has_fractions;
  };
  template <class X>
  static constexpr bool is_fraction =
      has_fractions(element_of<typename std::remove_cvref_t<X>::value_type>);
};

}  // namespace shardwise::detail
