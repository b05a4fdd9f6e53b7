// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/expression/named_as.hpp"
#include "shardwise/expression/whole.hpp"
#include "shardwise/operation/normalising.hpp"

#include <type_traits>
#include <utility>

namespace shardwise::detail {

/// A function of two tensors that does not broadcast them, as an operation that errors name.
template <class Function>
struct of_same_extents {
  using operation_class = of_same_extents;
  static constexpr text_view name = Function::name;
  static constexpr attributes how{};

  [[nodiscard]] static constexpr diagnosis check(const attributes&,
                                                 const tensor_descs& operands) noexcept {
    return check_same_extents(operands[0].extents, operands[1].extents);
  }
};

/// The verdict on what the types of two tensors state about their extents.
template <class Function, class X, class Y>
[[nodiscard]] constexpr auto judge_same_extents() noexcept {
  if constexpr (Operand<X> && Operand<Y>)
    return judge_attributes<of_same_extents<Function>, paper_of<X>, paper_of<Y>>();
  else
    return allowed<>{};
}

/// The call of a function of two tensors of the same extents, and of numbers: `Function::of(x, y,
/// numbers...)`.
template <class Function>
struct same_extents_call {
  template <class X, class Y, class... Numbers>
  [[nodiscard]] static constexpr auto judge() noexcept {
    using verdict =
        decltype(judge_same_extents<Function, std::remove_cvref_t<X>, std::remove_cvref_t<Y>>());
    if constexpr (!verdict::ok)
      return verdict{};
    else
      return judge_composed<decltype(Function::of(std::declval<X>(), std::declval<Y>(),
                                                  std::declval<Numbers>()...))>();
  }
  template <class X, class Y, class... Numbers>
  [[nodiscard]] static constexpr auto apply(const X& x, const Y& y, const Numbers&... numbers) {
    require(check_same_extents(x.extents(), y.extents()));
    return Function::of(x, y, numbers...);
  }
};

}  // namespace shardwise::detail
