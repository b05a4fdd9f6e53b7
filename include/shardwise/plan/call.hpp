// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/plan/abstract.hpp"
#include "shardwise/plan/lifetime.hpp"
#include "shardwise/plan/trace.hpp"

#include <concepts>
#include <tuple>
#include <type_traits>
#include <utility>

namespace shardwise {

namespace detail {

/// The results of a function, each as `change(result)` has it: one tensor, or several in a tuple.
template <class Result, class Change>
[[nodiscard]] constexpr auto for_each_result(const Result& result, const Change& change) {
  if constexpr (requires { std::tuple_size<Result>::value; })
    return std::apply(
        [&](const auto&... each) { return std::tuple(for_each_result(each, change)...); }, result);
  else
    return change(result);
}

/// A body as it was recorded, and what its function returned: tensors of no program, whose numbers
/// are those of their values in the body.
template <std::size_t Capacity, class Result>
struct recorded_body {
  traced_program<Capacity> code;
  Result result;
};

/// Records a body on the operands of its call, of which `place[i]` is the number of its input.
template <std::size_t Capacity, class F, class... X>
[[nodiscard]] constexpr auto record_body(const F& f, const int (&place)[sizeof...(X)],
                                         const X&... x) {
  traced_program<Capacity> out;
  program_builder code(out);
  int next = 0;
  const auto enter = [&]<class Input>(Input input) {
    const int number = place[next++];
    if constexpr (Operand<Input>) {
      if (number < code.size()) return Input{input.in(&code, number)};
      // Which operands a call gives up follows from its caller.
      input = Input{input.in(nullptr, -1)};
      input.enter(code, paper_of<Input>::value);
    }
    return input;
  };
  const std::tuple<X...> inputs{enter(x)...};
  const auto result = std::apply(f, inputs);
  if constexpr (AnyRefused<decltype(result)>) {
    return recorded_body<Capacity, std::remove_const_t<decltype(result)>>{out, result};
  } else {
    // What the function computes is kept, once each; its inputs are the caller's.
    auto given = for_each_result(result, [&]<class Each>(const Each& each) {
      const value_id id = each.id_in(code);
      if (!is_input(*code[id].what) && !code[id].kept) code.keep(id);
      return Each{each.in(nullptr, id)};
    });
    return recorded_body<Capacity, decltype(given)>{out, given};
  }
}

/// The same where types say all of it: recorded once, however often it is called.
template <std::size_t Capacity, class F, class... X>
inline constexpr auto known_body = [] {
  int place[sizeof...(X)]{};
  for (std::size_t i = 0; i < sizeof...(X); ++i) place[i] = static_cast<int>(i);
  return record_body<Capacity>(
      F{}, place, X{recorded<mesh_of<X>>(mesh_of<X>::value, X::extents_type::value)}...);
}();
template <class F, class... X>
concept KnownBody = std::is_empty_v<F> && std::default_initializable<F> &&
    (...&& Operand<X>)&&(... &&
                         (X::extents_type::dynamic_rank == 0 && mesh_of<X>::dynamic_axes == 0));

/// The operands of a call: each tensor once, however often it stands among what was given.
struct call_operands {
  value_ids read;
  /// The number of the input that each operand is.
  int place[2 * max_values_read]{};
  int given = 0;

  template <class X>
  constexpr void add(program_builder& caller, const X& x) {
    int& at = place[given++];
    if constexpr (Operand<X>) {
      const value_id id = x.id_in(caller);
      caller.name(id);
      while (at < read.ssize() && read[at] != id) ++at;
      if (at < read.ssize()) return;
      if (read.full())
        fail({.rule = violation::program_is_too_long,
              .have = max_values_read + 1,
              .want = max_values_read});
      read.push_back(id);
    }
  }
};

/// Appends the call of a body, and gives what it returns as values of the caller.
template <std::size_t Capacity, class Result>
[[nodiscard]] constexpr auto append_call(program_builder& caller, const value_ids& read,
                                         const recorded_body<Capacity, Result>& body,
                                         bool is_constant) {
  const program_view code = body.code.view();
  if (code.result_count > max_call_results)
    fail({.rule = violation::program_is_too_long,
          .have = code.result_count,
          .want = max_call_results});
  value_id first = -1;
  for (std::int32_t r = 0; r < code.result_count; ++r) {
    const tensor_desc& result = code.values[code.results[r]];
    const value_id made =
        r == 0 ? caller.append(operation_of<call_operation>,
                               call_operation::how(caller.adopt(code, is_constant)), read, result)
               : caller.append(operation_of<result_operation>, result_operation::how(r), {first},
                               result);
    caller.name(made);
    if (r == 0) first = made;
  }
  return for_each_result(body.result, [&]<class X>(const X& x) {
    if (is_input(code.what(x.id()))) return X{x.in(&caller, read[x.id()])};
    std::int32_t number = 0;
    while (code.results[number] != x.id()) ++number;
    return X{x.in(&caller, first + number)};
  });
}

template <std::size_t Capacity, class F, class... X>
[[nodiscard]] constexpr auto record_call(program_builder& caller, const F& f, const X&... x) {
  static_assert(sizeof...(X) <= 2 * max_values_read);
  call_operands operands;
  (operands.add(caller, x), ...);
  if constexpr (KnownBody<F, X...>)
    if (operands.read.size() == sizeof...(X))
      return append_call(caller, operands.read, known_body<Capacity, F, X...>, true);
  int place[sizeof...(X)]{};
  for (std::size_t i = 0; i < sizeof...(X); ++i) place[i] = operands.place[i];
  const auto body = record_body<Capacity>(f, place, x...);
  if constexpr (AnyRefused<decltype(body.result)>)
    return body.result;
  else
    return append_call(caller, operands.read, body, false);
}

/// Names an operand or a result of a call that is written out.
constexpr void name_operand(const auto& x) {
  if constexpr (requires { x.share()->name(); })
    x.share()->name();
  else if constexpr (requires { x.name(); })
    x.name();
}

/// What a call gives where it runs: the results of the function, with names.
[[nodiscard]] constexpr auto named_results(const auto& result) {
  return for_each_result(result, []<class X>(const X& x) {
    if constexpr (AnyRefused<X>) {
      return x;
    } else if constexpr (Operand<X>) {
      using tensor =
          typename X::domain::template tensor<typename X::value_type, typename X::extents_type,
                                              typename X::layout_type>;
      const tensor named(x);
      name_operand(named);
      return named;
    } else {
      x.share()->name();
      return x;
    }
  });
}

}  // namespace detail

/// Calls a function as a part of a program of its own: a program on paper holds what `f` does once,
/// however often it is called, so that a model of 100 layers stays small. Returns what `f` returns,
/// several results in a tuple.
///
/// What goes in and out has names, so that no pass goes across. A run does what `f` does. A call
/// reads at most 16 tensors; `Capacity` bounds the instructions of its body. A program whose
/// gradient is taken has what the calls do written out, each time anew.
///
///     constexpr auto model = [](const auto& x, const auto& w) {
///       auto h = call(layer, x, w);
///       return call(layer, h, w);
///     };
template <std::size_t Capacity = 64, class F, class... X>
[[nodiscard]] constexpr decltype(auto) call(const F& f, const X&... x) {
  if constexpr (!(... || (EitherOperand<X> || AnyRefused<X>))) {
    return detail::given<detail::no_tensor<call_operation, 0, X...>>::value();
  } else if constexpr (AnyRefused<X...>) {
    return refused_value<>{};
  } else if constexpr ((... || ValueOperand<X>) || detail::has_values<detail::tensor_among<X...>>) {
    (detail::name_operand(x), ...);
    return detail::named_results(f(x...));
  } else {
    program_builder* const caller = first_tensor(x...).program();
    if (caller == nullptr) return detail::named_results(f(x...));
    if (caller->writes_calls_out()) {
      (detail::name_operand(x), ...);
      return detail::named_results(f(x...));
    }
    return detail::record_call<Capacity>(*caller, f, x...);
  }
}

}  // namespace shardwise
