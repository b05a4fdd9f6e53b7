// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/expression/nest.hpp"
#include "shardwise/plan/abstract.hpp"
#include "shardwise/plan/lifetime.hpp"
#include "shardwise/plan/trace.hpp"

#include <concepts>
#include <tuple>
#include <type_traits>
#include <utility>

namespace shardwise {

namespace internal {

/// A recorded body and the results of its function: tensors that belong to no program, whose
/// numbers are those of the values in the body. Values of the caller that the function captures are
/// inputs behind the operands; the bits of `captured_operands` are operands that are captured too.
template <std::size_t Capacity, class Result>
struct recorded_body {
  traced_program<Capacity> code;
  Result result;
  value_ids captured{};
  std::uint32_t captured_operands = 0;
};

/// Records a body by `record(captured)`, and once more if its function captures values of the
/// caller, so that these are inputs before it computes anything.
template <class Record>
[[nodiscard]] constexpr auto record_with_captured(const Record& record) {
  auto body = record(value_ids{});
  if (!body.captured.empty()) body = record(value_ids(body.captured));
  return body;
}
/// Records in a body during its lifetime, and makes captured values of the caller inputs.
class body_recording {
 public:
  constexpr body_recording(program_builder& body, program_builder* caller,
                           const value_ids& operands, const value_ids& captured)
      : body_(body) {
    body_.begin_body_of(caller, operands);
    for (const value_id each : captured) (void)body_.captured(caller, each);
  }
  body_recording(const body_recording&) = delete;
  body_recording& operator=(const body_recording&) = delete;
  constexpr ~body_recording() { body_.end_body(); }

 private:
  program_builder& body_;
};
/// The values that a call reads: the operands, and what its body captures.
[[nodiscard]] constexpr value_ids read_by_call(value_ids operands, const value_ids& captured) {
  for (const value_id each : captured) {
    if (operands.full())
      fail({.rule = violation::program_is_too_long,
            .have = max_values_read + 1,
            .want = max_values_read});
    operands.push_back(each);
  }
  return operands;
}

/// Records a body on the operands of its call; `place[i]` is the number of the input of operand
/// `i`.
template <std::size_t Capacity, class F, class... X>
[[nodiscard]] constexpr auto record_body(program_builder* caller, const value_ids& operands,
                                         const value_ids& captured, const F& f,
                                         const int (&place)[sizeof...(X)], const X&... x) {
  traced_program<Capacity> out;
  program_builder code(out);
  int next = 0;
  const auto enter = [&]<class Input>(Input input) {
    const int number = place[next++];
    if constexpr (Operand<Input>) {
      if (number < code.size()) return Input{input.in(&code, number)};
      // The caller determines which operands are donated.
      input = Input{input.in(nullptr, -1)};
      input.enter(code, paper_of<Input>::value);
    }
    return input;
  };
  const std::tuple<X...> inputs{enter(x)...};
  const body_recording recording(code, caller, operands, captured);
  const auto result = call_with(f, inputs);
  // Each value that the function computes is kept once; its inputs belong to the caller.
  const auto keep = [&]<class Each>(const Each& each) {
    const value_id id = each.id_in(code);
    if (!is_input(*code[id].what) && !code[id].kept) code.keep(id);
    return Each{each.in(nullptr, id)};
  };
  auto given = map_nest(result, keep);
  return recorded_body<Capacity, decltype(given)>{out, given, code.captured(),
                                                  code.captured_operands()};
}

/// The same if the types determine the body: it is recorded once for all calls.
template <std::size_t Capacity, class F, class... X>
inline constexpr auto known_body = [] {
  int place[sizeof...(X)]{};
  for (std::size_t i = 0; i < sizeof...(X); ++i) place[i] = static_cast<int>(i);
  return record_body<Capacity>(
      nullptr, {}, {}, F{}, place,
      X{type_parts::recorded<mesh_of<X>>(mesh_of<X>::value, X::extents_type::value)}...);
}();
template <class F, class... X>
concept KnownBody = std::is_empty_v<F> && std::default_initializable<F> &&
    (...&& Operand<X>)&&(... &&
                         (X::extents_type::dynamic_rank == 0 && mesh_of<X>::dynamic_axes == 0));

/// The operands of a call: each tensor once, even if it is given several times.
struct call_operands {
  value_ids read;
  /// The number of the input of each operand.
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

/// Appends a call of a body, and returns its results as values of the caller.
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
  const auto in_caller = [&]<class X>(const X& x) {
    if (is_input(code.what(x.id()))) return X{x.in(&caller, read[x.id()])};
    std::int32_t number = 0;
    while (code.results[number] != x.id()) ++number;
    return X{x.in(&caller, first + number)};
  };
  return map_nest(body.result, in_caller);
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
  const auto body = record_with_captured([&](const value_ids& captured) {
    return record_body<Capacity>(&caller, operands.read, captured, f, place, x...);
  });
  return append_call(caller, read_by_call(operands.read, body.captured), body, false);
}

/// Marks an operand or a result of an inlined call as named.
constexpr void name_operand(const auto& x) {
  if constexpr (requires { x.share()->name(); })
    x.share()->name();
  else if constexpr (requires { x.name(); })
    x.name();
}

/// Returns the results of the function as named values, for calls at run time.
[[nodiscard]] constexpr auto named_results(const auto& results) {
  const auto named = []<class X>(const X& x) {
    if constexpr (Operand<X>) {
      using tensor =
          typename X::domain::template tensor<typename X::value_type, typename X::extents_type,
                                              typename X::layout_type>;
      const tensor result(x);
      name_operand(result);
      return result;
    } else {
      x.share()->name();
      return x;
    }
  };
  return map_nest(results, named);
}

}  // namespace internal

/// Calls a function as a sub-program: a program on paper contains the instructions of `f` once,
/// however often it is called, so a model of 100 layers stays small. Returns the results of `f`,
/// several in a tuple.
///
/// Operands and results are named values, so no pass extends across the call. At run time, `f` is
/// called directly. A call reads at most 16 tensors, those among them that `f` captures; `Capacity`
/// bounds the instructions of its body. In a program whose gradient is taken, every call is
/// inlined.
///
///     constexpr auto model = [](const auto& x, const auto& w) {
///       auto h = call(layer, x, w);
///       return call(layer, h, w);
///     };
template <std::size_t Capacity = 64, class F, class... X>
[[nodiscard]] constexpr decltype(auto) call(const F& f, const X&... x) {
  if constexpr (!(... || (EitherOperand<X> || AnyRefused<X>))) {
    return internal::given<internal::no_tensor<call_operation, 0, X...>>::value();
  } else if constexpr (AnyRefused<X...>) {
    return refused_value{};
  } else if constexpr (internal::holds_refusal<std::remove_cvref_t<decltype(f(x...))>>) {
    return internal::refused_results_of<decltype(f(x...))>{};
  } else if constexpr ((... || ValueOperand<X>) ||
                       internal::has_values<internal::tensor_among<X...>>) {
    (internal::name_operand(x), ...);
    return internal::named_results(f(x...));
  } else {
    program_builder* const caller = first_tensor(x...).program();
    if (caller == nullptr) return internal::named_results(f(x...));
    if (caller->writes_calls_out()) {
      (internal::name_operand(x), ...);
      return internal::named_results(f(x...));
    }
    return internal::record_call<Capacity>(*caller, f, x...);
  }
}

}  // namespace shardwise
