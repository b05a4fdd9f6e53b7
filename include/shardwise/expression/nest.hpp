// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/members.hpp"
#include "shardwise/expression/operand.hpp"

#include <tuple>
#include <type_traits>
#include <utility>

namespace shardwise {

namespace detail {

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
  else if constexpr (Aggregate<X>)
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
    return std::apply([&](const auto&... members) { return map_members<X>(change, members...); },
                      members_of(x));
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
    std::apply(each, members_of(x));
}

}  // namespace detail

}  // namespace shardwise
