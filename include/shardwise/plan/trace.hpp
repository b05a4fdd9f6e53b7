// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/expression/nest.hpp"
#include "shardwise/expression/operation.hpp"
#include "shardwise/plan/abstract.hpp"
#include "shardwise/plan/callee.hpp"
#include "shardwise/plan/refused_program.hpp"

#include <type_traits>
#include <utility>

namespace shardwise {

namespace internal {

template <class T, class Extents, class Layout>
struct callee<abstract_tensor<T, Extents, Layout>, true> : takes_anything {};

/// True for a tensor created by `abstract`.
template <class X>
concept AbstractTensor = requires {
  requires std::is_same_v<typename X::domain, abstract_domain>;
};

template <class Results, std::size_t I>
[[nodiscard]] constexpr auto judge_results() noexcept;

/// The rule that is broken by a result that is neither a tensor nor several in a tuple-like type.
template <class Result>
[[nodiscard]] constexpr auto judge_result() noexcept {
  if constexpr (AnyRefused<Result>)
    return refused<>{};
  else if constexpr (AbstractTensor<Result>)
    return allowed<>{};
  else if constexpr (requires { std::tuple_size<Result>::value; })
    return judge_results<Result, 0>();
  else
    return refused<misuse::result_is_not_a_tensor, Result>{};
}
/// Checks the results from number `I` on.
template <class Results, std::size_t I>
[[nodiscard]] constexpr auto judge_results() noexcept {
  if constexpr (I == std::tuple_size<Results>::value)
    return allowed<>{};
  else if constexpr (decltype(judge_result<std::tuple_element_t<I, Results>>())::ok)
    return judge_results<Results, I + 1>();
  else
    return judge_result<std::tuple_element_t<I, Results>>();
}

/// The rule that a call of `trace` breaks, by its tensors, its function or its result. For an
/// operand that is an error itself there is no further error, and a function that returns one is
/// not called: it may contain calls, such as `to_host`, that are valid only at run time and would
/// be a second error.
template <class Result, class F, class... X>
[[nodiscard]] constexpr auto judge_trace() noexcept {
  using shown = typename shown_function<F>::type;
  constexpr int other = first_false<AbstractTensor<X>...>;
  if constexpr (AnyRefused<Result, X...> || refuses_silently<F, X...>)
    return refused<>{};
  else if constexpr (other >= 0)
    return no_tensor<shown, other, X...>{};
  else if constexpr (converts_tensors<F, Result, X...>())
    return refused<>{};
  else if constexpr (sizeof...(X) == 0 || std::is_same_v<Result, not_callable>)
    return refused<misuse::function_takes_other_operands, shown, size_met{sizeof...(X)}>{};
  else
    return judge_result<Result>();
}

/// Marks the results of the traced function: one tensor, or several in a tuple-like type.
template <class Mesh>
constexpr void keep(program_builder& program, const type_parts::recorded<Mesh>& result) {
  program.keep(result.id_in(program));
}
constexpr void keep(program_builder&, const refused_value&) noexcept {}
template <class R>
  requires(!Operand<R>)
constexpr void keep(program_builder& program, const R& results) {
  for_each_index<std::tuple_size<R>::value>(
      [&]<std::size_t I>() { keep(program, get<I>(results)); });
}

}  // namespace internal

/// Records the operations of `f` on abstract operands, without data and without running anything.
///
/// `f` is the function that later runs on tensors. `Capacity` bounds the number of instructions;
/// each number in the function is an instruction.
template <std::size_t Capacity = 64, class F, class... X>
[[nodiscard]] constexpr auto trace_program(const F& f, X... operands) {
  using result =
      decltype(static_cast<const internal::callee<F>&>(internal::some_callee)(operands...));
  if constexpr (!internal::Traceable<F, X...> || AnyRefused<X...>) {
    return internal::refused_program<Capacity>{};
  } else {
    using judged = decltype(internal::judge_trace<result, F, X...>());
    using shown [[maybe_unused]] = decltype(typename judged::type{});
    if constexpr (judged::ok) {
      traced_program<Capacity> out;
      program_builder code(out);
      (operands.enter(code, paper_of<X>::value), ...);
      internal::keep(code, f(operands...));
      code.drop_custom_gradients();
      return out;
    } else {
      return internal::refused_program<Capacity>{};
    }
  }
}

/// Returns the cost of `f` on such operands: collectives, bytes, floating-point operations and peak
/// memory of one device, as a constant that `static_assert` can test.
///
///     constexpr auto cost = trace(mlp, abstract<X>(512), abstract<W1>(), abstract<W2>());
///     static_assert(cost.collectives() == 0 && cost.peak_bytes_per_device() <= 16_MiB);
template <std::size_t Capacity = 64, class F, class... X>
[[nodiscard]] constexpr auto trace(const F& f, X... operands) {
  traced_program<Capacity> out;
  using result =
      decltype(static_cast<const internal::callee<F>&>(internal::some_callee)(operands...));
  // A function with a single result is not traced by `trace_program`, which would check more, copy
  // the whole program, and add one more function to errors.
  if constexpr (!internal::Traceable<F, X...> || AnyRefused<X...>) {
    return internal::refused_ledger{};
  } else if constexpr (requires(const result& r) { (operands.id(), ..., r.id()); }) {
    program_builder code(out);
    (operands.enter(code, paper_of<X>::value), ...);
    code.keep(f(operands...).id_in(code));
    code.drop_custom_gradients();
    return ledger_of(out);
  } else {
    using judged = decltype(internal::judge_trace<result, F, X...>());
    using shown [[maybe_unused]] = decltype(typename judged::type{});
    if constexpr (judged::ok)
      return ledger_of(trace_program<Capacity>(f, operands...));
    else
      return internal::refused_ledger{};
  }
}
/// Without tensors there is nothing to trace.
template <std::size_t Capacity = 64, class F>
[[nodiscard]] constexpr auto trace(const F&) {
  using judged = decltype(internal::judge_trace<void, F>());
  using shown [[maybe_unused]] = decltype(typename judged::type{});
  return internal::refused_ledger{};
}

}  // namespace shardwise
