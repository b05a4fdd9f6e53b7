// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/error.hpp"
#include "shardwise/core/judge.hpp"
#include "shardwise/core/nest.hpp"
#include "shardwise/expression/operand.hpp"

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace shardwise {

namespace internal {

/// The outermost kind of a nest. A frozen part is a constant that contains tensors.
enum class nest_kind : std::uint8_t { other, tensor, tuple, range, aggregate, frozen };
template <class X>
[[nodiscard]] constexpr nest_kind nest_kind_of() noexcept {
  if constexpr (EitherOperand<X>)
    return nest_kind::tensor;
  else if constexpr (FrozenNest<X>)
    return nest_kind::frozen;
  else if constexpr (requires { std::tuple_size<X>::value; })
    return nest_kind::tuple;
  else if constexpr (requires(X & x, const X& y) {
                       x.push_back(*y.begin());
                       y.end();
                       typename X::value_type;
                     })
    return nest_kind::range;
  else if constexpr (Aggregate<X>)
    return nest_kind::aggregate;
  else
    return require_members<X>(), nest_kind::other;
}

/// True for the result of an invalid operation, alone or among the results of a function.
template <class X>
inline constexpr bool holds_refusal = AnyRefused<X>;
template <class... X>
inline constexpr bool holds_refusal<std::tuple<X...>> = (... || holds_refusal<X>);
template <class First, class Second>
inline constexpr bool holds_refusal<std::pair<First, Second>> =
    holds_refusal<First> || holds_refusal<Second>;

/// True for the type that clang gives to the result of a function with an error in its body, which
/// it has reported. No function of tensors returns it otherwise.
template <class Results>
inline constexpr bool may_be_an_error = std::is_same_v<Results, int>;

/// The results of a function that returns `Results`, one of which is invalid: as many values, so
/// that the program can take them apart without further errors.
template <class Results>
struct refused_results {
  using type = refused_value;
};
template <class... X>
struct refused_results<std::tuple<X...>> {
  using type = std::tuple<typename refused_results<X>::type...>;
};
template <class First, class Second>
struct refused_results<std::pair<First, Second>> {
  using type =
      std::pair<typename refused_results<First>::type, typename refused_results<Second>::type>;
};
template <class Results>
using refused_results_of = typename refused_results<std::remove_cvref_t<Results>>::type;

/// Calls a function with the elements of a tuple. Unlike `std::apply`, it does not ask first
/// whether the call throws, which would add ten lines to every error in the function.
template <class F, class... X, std::size_t... I>
[[nodiscard]] constexpr auto call_with(const F& f, const std::tuple<X...>& all,
                                       std::index_sequence<I...>) {
  return f(std::get<I>(all)...);
}
template <class F, class... X>
[[nodiscard]] constexpr auto call_with(const F& f, const std::tuple<X...>& all) {
  return call_with(f, all, std::index_sequence_for<X...>{});
}

/// Returns `f(members...)` for the members of a nest that is tuple-like or an aggregate.
template <class X, class F>
constexpr decltype(auto) with_parts(X& x, F&& f) {
  using type = std::remove_const_t<X>;
  if constexpr (nest_kind_of<type>() == nest_kind::tuple) {
    return [&]<std::size_t... I>(std::index_sequence<I...>)->decltype(auto) {
      using std::get;
      return f(get<I>(x)...);
    }
    (std::make_index_sequence<std::tuple_size<type>::value>{});
  } else {
    return with_members(x, std::forward<F>(f));
  }
}
/// Returns references to those members as a list.
template <class X>
[[nodiscard]] constexpr auto list_parts(X& x) {
  return with_parts(x, [](auto&... members) { return list_references(members...); });
}

/// True if `judge(std::type_identity)` is true for a tensor of a nest, or for a type that is not a
/// nest; `InRanges` states whether those in ranges, which may be empty, are included.
template <class X, bool InRanges = true, class Judge>
[[nodiscard]] constexpr bool any_in_nest(const Judge& judge) noexcept {
  constexpr nest_kind kind = nest_kind_of<X>();
  if constexpr (kind == nest_kind::tuple) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return (... || any_in_nest<std::remove_cvref_t<std::tuple_element_t<I, X>>, InRanges>(judge));
    }
    (std::make_index_sequence<std::tuple_size<X>::value>{});
  } else if constexpr (kind == nest_kind::range) {
    if constexpr (InRanges)
      return any_in_nest<typename X::value_type>(judge);
    else
      return false;
  } else if constexpr (kind == nest_kind::aggregate) {
    using members = decltype(list_members(std::declval<const X&>()));
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return (... || any_in_nest<nth_type<I, members>, InRanges>(judge));
    }
    (std::make_index_sequence<members::size>{});
  } else {
    return judge(std::type_identity<X>{});
  }
}
/// True for a nest that contains a tensor.
template <class X, bool InRanges = true>
[[nodiscard]] constexpr bool has_tensor_in() noexcept {
  return any_in_nest<X, InRanges>(
      []<class Each>(std::type_identity<Each>) { return EitherOperand<Each>; });
}
/// True if a function without data returns a tensor in a pool for nests on paper: it converts a
/// tensor of these, and the error is where it does.
template <class F, class Result, class... X>
[[nodiscard]] constexpr bool converts_tensors() noexcept {
  constexpr auto is_on_paper = []<class Each>(std::type_identity<Each>) {
    if constexpr (requires { Each::domain::has_values; })
      return !Each::domain::has_values;
    else
      return false;
  };
  if constexpr (std::is_empty_v<F> && requires { requires Result::domain::has_values; })
    return (... || any_in_nest<X>(is_on_paper));
  else
    return false;
}
/// True for a nest with an optional, a pointer, a map or a similar type that contains tensors:
/// files support them, but gradients and optimizers would treat these tensors as constants, which
/// are never trained.
template <class X>
[[nodiscard]] constexpr bool hides_tensors() noexcept {
  constexpr auto holds = []<class Inner>(std::type_identity<Inner>) {
    if constexpr (requires { sizeof(Inner); }) return has_tensor_in<Inner>();
    return false;
  };
  return any_in_nest<X>([&]<class Each>(std::type_identity<Each>) {
    if constexpr (EitherOperand<Each>)
      return false;
    else if constexpr (RangeOfNests<Each>)
      return holds(
          std::type_identity<std::remove_cvref_t<decltype(*std::declval<Each&>().begin())>>{});
    else if constexpr (OptionalNest<Each>)
      return holds(std::type_identity<std::remove_cvref_t<decltype(*std::declval<Each&>())>>{});
    else
      return false;
  });
}
/// The verdict on arguments in which a function looks for tensors: none may hide any.
template <class... X>
using hidden_tensors = typename first_refusal<
    std::conditional_t<hides_tensors<X>(), refused<misuse::tensor_is_hidden, of_types<X>>,
                       allowed<>>...,
    allowed<>>::type;

/// The same range type with other members.
template <class Range, class Member>
struct rebound_range;
template <template <class...> class Range, class First, class... Rest, class Member>
struct rebound_range<Range<First, Rest...>, Member> {
  using type = Range<Member>;
};

/// The same frozen part with another nest.
template <class Part, class Nest>
struct rebound_part;
template <template <class> class Part, class Old, class Nest>
struct rebound_part<Part<Old>, Nest> {
  using type = Part<Nest>;
};

/// How frozen parts of nests are treated: as constants, as when a gradient calls its function; as
/// other parts, as for the arguments of a step; only their buffers as tensors, as for an average;
/// or left out of the result, as of a gradient.
enum class frozen_parts : std::uint8_t { are_constants, hold_tensors, are_buffers, are_left_out };

template <frozen_parts Frozen = frozen_parts::are_constants, class X, class Change>
[[nodiscard]] constexpr auto map_nest(const X& x, Change& change);

template <class X>
inline constexpr bool is_pair = false;
template <class First, class Second>
inline constexpr bool is_pair<std::pair<First, Second>> = true;

/// Returns the same type with new members if possible, and otherwise a pair or a tuple.
template <class X, frozen_parts Frozen, class Change, class... Members>
[[nodiscard]] constexpr auto map_members(Change& change, const Members&... members) {
  if constexpr ((... && std::is_same_v<Members, decltype(map_nest<Frozen>(members, change))>))
    return X{map_nest<Frozen>(members, change)...};
  else if constexpr (is_pair<X>)
    return std::pair<decltype(map_nest<Frozen>(members, change))...>{
        map_nest<Frozen>(members, change)...};
  else
    return std::tuple<decltype(map_nest<Frozen>(members, change))...>{
        map_nest<Frozen>(members, change)...};
}
/// Returns a frozen part of a nest as it is in a gradient: marked, with zeros that are not computed
/// unless they are read.
template <class Part>
[[nodiscard]] constexpr Part left_out(const Part& part) {
  if constexpr (requires { part.is_left_out; }) {
    const auto zero = []<class X>(const X& x) {
      if constexpr (ValueOperand<X>)
        return X::value_domain::pending_zeros(x);
      else
        return X::domain::pending_zeros(x);
    };
    return {map_nest<frozen_parts::hold_tensors>(part.value, zero), true};
  } else {
    return part;
  }
}
/// Returns a nest of tensors with each tensor replaced by `change(tensor)`, from left to right: a
/// tuple-like type, a dynamic range, or an aggregate. Other members do not change.
template <frozen_parts Frozen, class X, class Change>
[[nodiscard]] constexpr auto map_nest(const X& x, Change& change) {
  constexpr nest_kind kind = nest_kind_of<X>();
  if constexpr (kind == nest_kind::tensor) {
    return change(x);
  } else if constexpr (kind == nest_kind::tuple || kind == nest_kind::aggregate) {
    return with_parts(
        x, [&](const auto&... members) { return map_members<X, Frozen>(change, members...); });
  } else if constexpr (kind == nest_kind::range) {
    using member = decltype(map_nest<Frozen>(*x.begin(), change));
    if constexpr (std::is_same_v<member, typename X::value_type>) {
      X out;
      for (const auto& each : x) out.push_back(map_nest<Frozen>(each, change));
      return out;
    } else {
      typename rebound_range<X, member>::type out;
      for (const auto& each : x) out.push_back(map_nest<Frozen>(each, change));
      return out;
    }
  } else if constexpr (kind == nest_kind::frozen && Frozen == frozen_parts::hold_tensors) {
    using value = decltype(map_nest<Frozen>(x.value, change));
    if constexpr (std::is_same_v<value, decltype(X::value)>)
      if (is_left_out(x)) return x;
    return typename rebound_part<X, value>::type{map_nest<Frozen>(x.value, change)};
  } else if constexpr (kind == nest_kind::frozen && Frozen == frozen_parts::are_left_out) {
    return left_out(x);
  } else {
    return x;
  }
}

/// Converts a nest to another type with tensors at the same positions: each becomes `change(type,
/// tensor)`, from left to right. Other members are copied, or converted if they are frozen parts of
/// another type. The source may have a tuple in place of an aggregate, as returned by `map_nest`.
template <class To, class From, class Change>
[[nodiscard]] constexpr To nest_as(const From& from, const Change& change) {
  constexpr nest_kind kind = nest_kind_of<To>();
  if constexpr (kind == nest_kind::tensor) {
    return change(std::type_identity<To>{}, from);
  } else if constexpr (kind == nest_kind::range) {
    To out;
    for (const auto& each : from) out.push_back(nest_as<typename To::value_type>(each, change));
    return out;
  } else if constexpr (kind == nest_kind::tuple || kind == nest_kind::aggregate) {
    using wanted = decltype(list_parts(std::declval<To&>()));
    const auto parts = list_parts(from);
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return To{nest_as<nth_type<I, wanted>>(nth<I>(parts), change)...};
    }
    (std::make_index_sequence<wanted::size>{});
  } else if constexpr (kind == nest_kind::frozen && !std::is_same_v<To, From>) {
    if constexpr (requires { from.is_left_out; })
      return To{nest_as<decltype(To::value)>(from.value, change), from.is_left_out};
    else
      return To{nest_as<decltype(To::value)>(from.value, change)};
  } else {
    return To(from);
  }
}

/// Calls `tensor(x)` for each tensor of a nest, and `other(x)` for each other member and for the
/// size of each range.
template <frozen_parts Frozen = frozen_parts::are_constants, class X, class OnTensor, class OnOther>
constexpr void visit_nest(X& x, OnTensor& tensor, OnOther& other) {
  constexpr nest_kind kind = nest_kind_of<std::remove_const_t<X>>();
  if constexpr (kind == nest_kind::tensor) {
    tensor(x);
  } else if constexpr (kind == nest_kind::tuple || kind == nest_kind::aggregate) {
    with_parts(x, [&](auto&... members) { (visit_nest<Frozen>(members, tensor, other), ...); });
  } else if constexpr (kind == nest_kind::range) {
    std::size_t size = 0;
    for (auto& member : x) {
      visit_nest<Frozen>(member, tensor, other);
      ++size;
    }
    other(std::as_const(size));
  } else if constexpr (kind == nest_kind::frozen && Frozen == frozen_parts::hold_tensors) {
    if constexpr (requires { x.is_left_out; }) other(std::as_const(x.is_left_out));
    if (!is_left_out(x)) visit_nest<Frozen>(x.value, tensor, other);
  } else {
    other(x);
  }
}
/// Calls `visit` for each tensor of a nest.
template <frozen_parts Frozen = frozen_parts::are_constants, class X, class Visit>
constexpr void for_each_tensor(X& x, Visit& visit) {
  const auto ignore = [](const auto&) {};
  visit_nest<Frozen>(x, visit, ignore);
}

/// Reports a range without elements.
[[noreturn]] inline void refuse_empty_range() {
  fail({.rule = violation::operand_count_differs, .have = 0, .want = 1},
       "a range of tensors is empty");
}
/// Returns the first element of a range.
template <class Range>
[[nodiscard]] constexpr const auto& front_of(const Range& range) {
  if (!(range.begin() != range.end())) refuse_empty_range();
  return *range.begin();
}
/// Returns the first tensor of some nests; one in a range, which may be empty, only if all are in
/// ranges. Throws `operand_count_differs` if the first range has no elements.
template <class First, class... Rest>
[[nodiscard]] constexpr const auto& first_in(const First& first, const Rest&... rest) {
  constexpr nest_kind kind = nest_kind_of<First>();
  constexpr bool in_ranges =
      !(has_tensor_in<First, false>() || ... || has_tensor_in<Rest, false>());
  if constexpr (!has_tensor_in<First, in_ranges>())
    return first_in(rest...);
  else if constexpr (kind == nest_kind::tensor)
    return first;
  else if constexpr (kind == nest_kind::range)
    return first_in(front_of(first));
  else
    return with_parts(
        first, [](const auto&... members) -> const auto& { return first_in(members...); });
}

}  // namespace internal

}  // namespace shardwise
