// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/index.hpp"
#include "shardwise/expression/operand.hpp"

#include <tuple>
#include <type_traits>
#include <utility>

namespace shardwise {

namespace detail {

/// Whatever a member of an aggregate is made from; asked of types alone.
struct any_member {
  template <class T>
  operator T() const;
};
template <class A, class Places>
inline constexpr bool takes_braces = false;
template <class A, std::size_t... I>
inline constexpr bool takes_braces<A, std::index_sequence<I...>> = requires {
  A{(static_cast<void>(I), any_member{})...};
};

/// The number of members of an aggregate, looked for up to `N`.
template <class A, std::size_t N = 13>
[[nodiscard]] constexpr std::size_t count_members() noexcept {
  if constexpr (N == 0 || takes_braces<A, std::make_index_sequence<N>>)
    return N;
  else
    return count_members<A, N - 1>();
}

/// Calls `f` with the members of an aggregate.
template <class A, class F>
[[nodiscard]] constexpr decltype(auto) with_members(A& all, const F& f) {
  constexpr std::size_t n = count_members<std::remove_const_t<A>>();
  if constexpr (n == 1) {
    auto& [a] = all;
    return f(a);
  } else if constexpr (n == 2) {
    auto& [a, b] = all;
    return f(a, b);
  } else if constexpr (n == 3) {
    auto& [a, b, c] = all;
    return f(a, b, c);
  } else if constexpr (n == 4) {
    auto& [a, b, c, d] = all;
    return f(a, b, c, d);
  } else if constexpr (n == 5) {
    auto& [a, b, c, d, e] = all;
    return f(a, b, c, d, e);
  } else if constexpr (n == 6) {
    auto& [a, b, c, d, e, g] = all;
    return f(a, b, c, d, e, g);
  } else if constexpr (n == 7) {
    auto& [a, b, c, d, e, g, h] = all;
    return f(a, b, c, d, e, g, h);
  } else if constexpr (n == 8) {
    auto& [a, b, c, d, e, g, h, i] = all;
    return f(a, b, c, d, e, g, h, i);
  } else if constexpr (n == 9) {
    auto& [a, b, c, d, e, g, h, i, j] = all;
    return f(a, b, c, d, e, g, h, i, j);
  } else if constexpr (n == 10) {
    auto& [a, b, c, d, e, g, h, i, j, k] = all;
    return f(a, b, c, d, e, g, h, i, j, k);
  } else if constexpr (n == 11) {
    auto& [a, b, c, d, e, g, h, i, j, k, l] = all;
    return f(a, b, c, d, e, g, h, i, j, k, l);
  } else if constexpr (n == 12) {
    auto& [a, b, c, d, e, g, h, i, j, k, l, m] = all;
    return f(a, b, c, d, e, g, h, i, j, k, l, m);
  } else {
    static_assert(n <= 12, "an aggregate of tensors has at most 12 members, which may be nests");
  }
}

/// What a nest is at its outside.
enum class nest_kind : std::uint8_t { other, tensor, tuple, range, aggregate };
template <class X>
[[nodiscard]] constexpr nest_kind nest_kind_of() noexcept {
  if constexpr (EitherOperand<X>)
    return nest_kind::tensor;
  else if constexpr (requires { std::tuple_size<X>::value; })
    return nest_kind::tuple;
  else if constexpr (requires(X & x, const X& y) {
                       x.push_back(*y.begin());
                       y.end();
                       typename X::value_type;
                     })
    return nest_kind::range;
  else if constexpr (std::is_class_v<X> && std::is_aggregate_v<X> && !std::is_empty_v<X>)
    return nest_kind::aggregate;
  else
    return nest_kind::other;
}

/// The same range of other members.
template <class Range, class Member>
struct rebound_range;
template <template <class...> class Range, class First, class... Rest, class Member>
struct rebound_range<Range<First, Rest...>, Member> {
  using type = Range<Member>;
};

template <class X, class Change>
[[nodiscard]] constexpr auto map_nest(const X& x, Change& change);

/// The same members in the same type where it takes them, else in a tuple.
template <class X, class Change, class... Members>
[[nodiscard]] constexpr auto map_members(Change& change, const Members&... members) {
  if constexpr ((... && std::is_same_v<Members, decltype(map_nest(members, change))>))
    return X{map_nest(members, change)...};
  else
    return std::tuple<decltype(map_nest(members, change))...>{map_nest(members, change)...};
}
/// A nest of tensors with each tensor replaced by `change(tensor)`, from left to right: anything
/// tuple-like, a range that grows, an aggregate. Other members stay what they are.
template <class X, class Change>
[[nodiscard]] constexpr auto map_nest(const X& x, Change& change) {
  constexpr nest_kind kind = nest_kind_of<X>();
  if constexpr (kind == nest_kind::tensor) {
    return change(x);
  } else if constexpr (kind == nest_kind::tuple) {
    return std::apply([&](const auto&... members) { return map_members<X>(change, members...); },
                      x);
  } else if constexpr (kind == nest_kind::range) {
    using member = decltype(map_nest(*x.begin(), change));
    if constexpr (std::is_same_v<member, typename X::value_type>) {
      X out;
      for (const auto& each : x) out.push_back(map_nest(each, change));
      return out;
    } else {
      typename rebound_range<X, member>::type out;
      for (const auto& each : x) out.push_back(map_nest(each, change));
      return out;
    }
  } else if constexpr (kind == nest_kind::aggregate) {
    return with_members(x,
                        [&](const auto&... members) { return map_members<X>(change, members...); });
  } else {
    return x;
  }
}

/// Calls `visit` with each tensor of a nest.
template <class X, class Visit>
constexpr void for_each_tensor(const X& x, Visit& visit) {
  constexpr nest_kind kind = nest_kind_of<X>();
  const auto each = [&](const auto&... members) { (for_each_tensor(members, visit), ...); };
  if constexpr (kind == nest_kind::tensor)
    visit(x);
  else if constexpr (kind == nest_kind::tuple)
    std::apply(each, x);
  else if constexpr (kind == nest_kind::range)
    for (const auto& member : x) for_each_tensor(member, visit);
  else if constexpr (kind == nest_kind::aggregate)
    with_members(x, each);
}

}  // namespace detail

}  // namespace shardwise
