// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/judge.hpp"
#include "shardwise/expression/operand.hpp"

#include <type_traits>
#include <utility>

namespace shardwise::internal {

/// The result type of `callee` if the function that it represents cannot be called.
struct not_callable {};
struct takes_anything {
  not_callable operator()(...) const;
};
inline constexpr takes_anything some_callee{};

/// A function and, as a second overload, one that accepts anything: overload resolution tells
/// whether the function can be called, and errors in its body are not hidden. No object is ever
/// created: `some_callee` represents one in unevaluated expressions.
template <class F, bool Derives = std::is_class_v<F> && !std::is_final_v<F>>
struct callee : takes_anything {
  template <class... X>
  auto operator()(X&&... operands) const
      -> decltype(std::declval<const F&>()(static_cast<X&&>(operands)...));
  using takes_anything::operator();
};
template <class F>
struct callee<F, true> : F, takes_anything {
  using F::operator();
  using takes_anything::operator();
};

/// The type that a const function returns for such arguments, or `not_callable`.
template <class F, class... X>
using result_of_call =
    decltype(static_cast<const callee<F>&>(some_callee)(std::declval<const X&>()...));

/// True for a function without an error in its body, for such arguments. The first to name its
/// result reports the error; after that, g++ finds nothing to call, and would go on with every
/// branch whose condition depends on the result.
template <class F, class... X>
concept Traceable = requires(const callee<F>& f, X&... operands) {
  f(operands...);
};

/// True for a function whose result for such arguments does not tell that there has been an error:
/// the gradient of an invalid function is a nest of the same type as that of a valid one.
template <class F, class... X>
inline constexpr bool refuses_silently = false;

/// The name of a function in errors, without the types of its tensors, which would make lines long.
template <class F, int Kind = Operand<F> ? 2 : !std::is_class_v<F>>
struct shown_function {
  using type = F;
};
template <class F>
struct shown_function<F, 1> {
  using type = struct a_function;
};
template <class F>
struct shown_function<F, 2> {
  using type = a_tensor;
};

/// The answer for a function that cannot be called with `Count` arguments; `Call` is the call of
/// the program as it should be.
template <class F, int Count, fixed_string Call, auto... Facts>
using refused_arguments =
    refused<misuse::function_takes_other_arguments, typename shown_function<F>::type, Facts...,
            size_met{Count}, suggested(Call)>;
/// The same for a function that is called with such arguments, unless its body has an error.
template <class F, fixed_string Call, class... X>
using refused_call = std::conditional_t<Traceable<F, const X...>,
                                        refused_arguments<F, int{sizeof...(X)}, Call>, refused<>>;

}  // namespace shardwise::internal
