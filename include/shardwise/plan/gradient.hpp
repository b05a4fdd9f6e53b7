// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/expression/nest.hpp"
#include "shardwise/plan/abstract.hpp"
#include "shardwise/plan/append_gradients.hpp"
#include "shardwise/plan/callee.hpp"
#include "shardwise/plan/differentiable.hpp"
#include "shardwise/plan/left_pending.hpp"
#include "shardwise/plan/paper_tape.hpp"

#include <tuple>
#include <type_traits>
#include <utility>

namespace shardwise {

namespace internal {

template <class X>
struct domain_of {
  using type = typename X::value_domain;
};
template <Operand X>
struct domain_of<X> {
  using type = typename X::domain;
};

/// Calls a function and computes its gradient.
template <bool WithValue, class Request, int... Which, class F, class... X>
[[nodiscard]] constexpr auto call_gradient(const F& f, const X&... x) {
  const auto& first = first_in(x...);
  using tensor = std::remove_cvref_t<decltype(first)>;
  using tape_type = typename tape_of<typename domain_of<tensor>::type>::type;
  tape_type tape(first);

  int place = 0;
  const auto argument = [&](const auto& nest) {
    const int here = place++;
    const bool wanted = (... || (Which == here));
    const auto stand_in = [&](const auto& each) { return tape.argument(each, wanted); };
    return map_nest(nest, stand_in);
  };
  const std::tuple<decltype(argument(x))...> arguments{argument(x)...};
  const auto out = call_with(f, arguments);
  const auto note = [&](const auto& each) { tape.result(each); };
  for_each_tensor(out, note);
  tape.differentiate(WithValue, &Request::layout);

  const auto take = [&]<class Each>(const Each& each) {
    return tape.template next<typename asked_gradient<Each, Request>::type>(each);
  };
  const auto gradients = [&] {
    if constexpr (sizeof...(Which) == 1)
      return map_nest<frozen_parts::are_left_out>(std::get<Which...>(arguments), take);
    else
      return std::tuple{map_nest<frozen_parts::are_left_out>(
          std::get<static_cast<std::size_t>(Which)>(arguments), take)...};
  }();
  const auto keep = [&]<class Each>(const Each& each) {
    return tape.template next<typename tape_type::template settled<Each>>(each);
  };
  if constexpr (WithValue) {
    return std::pair{map_nest(out, keep), gradients};
  } else if constexpr (nest_kind_of<std::remove_const_t<decltype(out)>>() == nest_kind::tensor) {
    return gradients;
  } else {
    return std::apply(
        [&](const auto&, const auto&... further) {
          return std::tuple{gradients, map_nest(further, keep)...};
        },
        out);
  }
}

/// The rule that a request for pending gradients breaks; `Nest` are the arguments that have them.
template <class Request, class... Nest>
[[nodiscard]] constexpr auto judge_request() noexcept {
  constexpr auto verdict = [] { return Request::template check<Nest...>(); };
  if constexpr (!(... || has_tensor_in<Nest>())) {
    return allowed<>{};
  } else if constexpr (verdict().ok()) {
    return allowed<>{};
  } else {
    using tensor = decltype(first_in(std::declval<const Nest&>()...));
    return answer_to<mesh_of<tensor>>(verdict);
  }
}

}  // namespace internal

namespace type_parts {

using namespace internal;

/// The arguments whose gradients a call returns, and whether it returns the value too.
template <bool WithValue, class Request, int... Which>
struct asked {
  template <class F, class... X>
  [[nodiscard]] static constexpr auto of(const F& f, const X&... x) {
    return call_gradient<WithValue, Request, Which...>(f, x...);
  }
  /// The first selected argument that a call with `Count` arguments does not have, or -1.
  template <int Count>
  static constexpr int missing = [] {
    int out = -1;
    (void)(... || (Which < 0 || Which >= Count ? (out = Which, true) : false));
    return out;
  }();
  /// The rule that is broken by the types of the results and of the arguments.
  template <class Results, class... X>
  using judged =
      decltype(judge_differentiation<Results, std::tuple_element_t<static_cast<std::size_t>(Which),
                                                                   std::tuple<X...>>...>());
  /// The rule that is broken by the axes of the request, which have no effect then.
  template <class... X>
  using judged_request =
      decltype(judge_request<Request, std::tuple_element_t<static_cast<std::size_t>(Which),
                                                           std::tuple<X...>>...>());
  /// The results where the function has an error: as many as the caller expects, so that it causes
  /// no further ones. `Results` are those of the function.
  template <class Results, class... X>
  [[nodiscard]] static constexpr auto none(const X&... x) {
    const auto all = std::tie(x...);
    const auto gradients = [&] {
      if constexpr (sizeof...(Which) == 1)
        return no_gradient(std::get<static_cast<std::size_t>(Which)...>(all));
      else
        return std::tuple{no_gradient(std::get<static_cast<std::size_t>(Which)>(all))...};
    }();
    if constexpr (WithValue)
      return std::pair{refused_results_of<Results>{}, gradients};
    else
      return gradients;
  }
  /// The same if the function lacks an argument whose gradient is asked for.
  [[nodiscard]] static constexpr auto nothing() {
    const auto gradients = [] {
      if constexpr (sizeof...(Which) == 1)
        return refused_value{};
      else
        return std::tuple{(static_cast<void>(Which), refused_value{})...};
    }();
    if constexpr (WithValue)
      return std::pair{refused_value{}, gradients};
    else
      return gradients;
  }

 private:
  /// Returns the nest itself, so that a program that names members of the gradient gets no further
  /// errors.
  template <class X>
  [[nodiscard]] static constexpr auto no_gradient(const X& x) {
    if constexpr (EitherOperand<X> || !std::is_same_v<Request, left_pending_over<>>)
      return refused_value{};
    else
      return x;
  }
};

}  // namespace type_parts

namespace internal {

/// The type with which a function that is recorded is called for an argument of type `X`.
template <class X>
struct recorded_as {
  using type = X;
};
template <EitherOperand X>
struct recorded_as<X> {
  using type = typename tape_of<typename domain_of<X>::type>::type::template settled<X>;
};
/// True for a nest with expressions, whose type is another one when it is recorded.
template <class X>
inline constexpr bool holds_expressions =
    !EitherOperand<X> && any_in_nest<X>([]<class Each>(std::type_identity<Each>) {
      return requires { typename Each::never_assigned; };
    });

}  // namespace internal

namespace type_parts {

/// A function that returns the gradient of another.
template <class F, class Asked>
struct gradient_function {
  F f;

  template <class... X>
    requires(sizeof...(X) > 0)
  constexpr auto operator()(const X&... x) const {
    if constexpr (AnyRefused<X...>) {
      return refused_value{};
    } else if constexpr (!hidden_tensors<X...>::ok) {
      return report<hidden_tensors<X...>>();
    } else if constexpr (Asked::template missing<int{sizeof...(X)}> != -1) {
      constexpr int missing = Asked::template missing<int{sizeof...(X)}>;
      using judged = refused_arguments<F, int{sizeof...(X)}, "gradient<0>(loss)(w, x)",
                                       shardwise::argument_at{missing}>;
      using shown [[maybe_unused]] = decltype(typename judged::type{});
      return Asked::nothing();
    } else if constexpr ((... || holds_expressions<X>)) {
      return Asked::of(f, x...);
    } else {
      // Named here, where the program calls, so that compilers show an error in `f` in few lines.
      using results = decltype(std::declval<const callee<F>&>()(
          std::declval<const typename recorded_as<X>::type&>()...));
      if constexpr (std::is_same_v<results, not_callable>) {
        using judged = refused_call<F, "gradient(loss)(w, x)", typename recorded_as<X>::type...>;
        using shown [[maybe_unused]] = decltype(typename judged::type{});
        return Asked::template none<refused_value>(x...);
      } else if constexpr (holds_refusal<std::remove_cvref_t<results>> ||
                           converts_tensors<F, std::remove_cvref_t<results>, X...>()) {
        return Asked::template none<results>(x...);
      } else if constexpr (may_be_an_error<std::remove_cvref_t<results>>) {
        fail({.rule = violation::loss_is_no_number});
        return Asked::template none<results>(x...);
      } else {
        using judged = typename Asked::template judged<std::remove_cvref_t<results>, X...>;
        using shown [[maybe_unused]] = decltype(typename judged::type{});
        if constexpr (judged::ok) {
          using request = typename Asked::template judged_request<X...>;
          using wrong_axis [[maybe_unused]] = decltype(typename request::type{});
          return Asked::of(f, x...);
        } else {
          return Asked::template none<results>(x...);
        }
      }
    }
  }
};

}  // namespace type_parts

namespace internal {

/// The same conditions as in the call, which has reported what is broken.
template <class F, class Asked, class... X>
inline constexpr bool refuses_silently<type_parts::gradient_function<F, Asked>, X...> = [] {
  using results = std::remove_cvref_t<decltype(std::declval<const callee<F>&>()(
      std::declval<const typename recorded_as<X>::type&>()...))>;
  if constexpr (std::is_same_v<results, not_callable> || holds_refusal<results> ||
                may_be_an_error<results>)
    return true;
  else if constexpr (!Asked::template judged<results, X...>::ok)
    return true;
  else
    return !Asked::template judged_request<X...>::ok;
}();

/// The error of a gradient that gets the arguments of its function, or a result in its place.
template <fixed_string Call, class F, class... X>
using gradient_called_at_once = typename refused_arguments<F, 1 + int{sizeof...(X)}, Call>::type;

}  // namespace internal

/// Returns the gradient of a function of tensors: a function that returns the gradient of the
/// number that `f` returns with respect to its first argument, or to those with the given
/// positions.
///
/// Each argument may be a nest of tensors: a tuple, a range or an aggregate; its gradient is a nest
/// of the same structure. The gradient of a tensor of type `X` is a `gradient_of<X>`: the necessary
/// reductions are part of it. If `f` returns several results, the first is the number, and the
/// others are returned beside the gradient. Arguments that are not tensors are constants, and
/// integer tensors in a nest have gradients of zeros.
///
///     auto dw = gradient(loss)(w, x);               // like w
///     auto [dw, dx] = gradient<0, 1>(loss)(w, x);
///     static_assert(trace(gradient(loss), abstract<W>(), abstract<X>()).collectives() == 1);
template <int... Which, class F, fixed_string... Axes>
  requires(!EitherOperand<F>)
[[nodiscard]] constexpr auto gradient(const F& f, left_pending_over<Axes...> = {}) {
  using request = left_pending_over<Axes...>;
  if constexpr (sizeof...(Which) == 0)
    return type_parts::gradient_function<std::decay_t<F>, type_parts::asked<false, request, 0>>{f};
  else
    return type_parts::gradient_function<std::decay_t<F>,
                                         type_parts::asked<false, request, Which...>>{f};
}
/// Returns a pair of the value of the function and its gradient.
///
///     auto [value, dw] = value_and_grad(loss)(w, x);
template <int... Which, class F, fixed_string... Axes>
  requires(!EitherOperand<F>)
[[nodiscard]] constexpr auto value_and_grad(const F& f, left_pending_over<Axes...> = {}) {
  using request = left_pending_over<Axes...>;
  if constexpr (sizeof...(Which) == 0)
    return type_parts::gradient_function<std::decay_t<F>, type_parts::asked<true, request, 0>>{f};
  else
    return type_parts::gradient_function<std::decay_t<F>,
                                         type_parts::asked<true, request, Which...>>{f};
}

/// Error: the arguments are those of the gradient, which is a function.
template <int... Which, class F, class First, class... Rest>
  requires(!EitherOperand<F> && !AnyRefused<F> && internal::has_tensor_in<First>())
internal::gradient_called_at_once<"gradient(loss)(w, x)", F, First, Rest...> gradient(
    const F&, const First&, const Rest&...) {
  return {};
}
template <int... Which, class F, class First, class... Rest>
  requires(!EitherOperand<F> && !AnyRefused<F> && internal::has_tensor_in<First>())
internal::gradient_called_at_once<"value_and_grad(loss)(w, x)", F, First, Rest...> value_and_grad(
    const F&, const First&, const Rest&...) {
  return {};
}
template <int... Which, EitherOperand F>
internal::gradient_called_at_once<"gradient(loss)(w, x)", F> gradient(const F&) {
  return {};
}
template <int... Which, EitherOperand F>
internal::gradient_called_at_once<"value_and_grad(loss)(w, x)", F> value_and_grad(const F&) {
  return {};
}

}  // namespace shardwise
