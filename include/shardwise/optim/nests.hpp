// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/error.hpp"
#include "shardwise/core/index.hpp"
#include "shardwise/expression/nest.hpp"
#include "shardwise/tensor/sharded_tensor.hpp"

#include <concepts>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace shardwise::detail {

/// Calls `f` with the tensors that stand in the same place of several nests of one kind.
template <class F, class First, class... Rest>
constexpr void for_each_together(const F& f, First& first, Rest&... rest) {
  using type = std::remove_const_t<First>;
  constexpr nest_kind kind = nest_kind_of<type>();
  if constexpr (kind == nest_kind::tensor) {
    f(first, rest...);
  } else if constexpr (kind == nest_kind::tuple) {
    for_each_index<std::tuple_size<type>::value>([&]<std::size_t I>() {
      using std::get;
      for_each_together(f, get<I>(first), get<I>(rest)...);
    });
  } else if constexpr (kind == nest_kind::range) {
    const auto as_many = [&](std::size_t size) {
      if (size != first.size())
        fail({.rule = broken::operand_count_differs,
              .have = static_cast<index_t>(size),
              .want = static_cast<index_t>(first.size())},
             "nests that meet have as many tensors in each range");
    };
    (as_many(rest.size()), ...);
    for (std::size_t i = 0; i < first.size(); ++i) for_each_together(f, first[i], rest[i]...);
  } else if constexpr (kind == nest_kind::aggregate) {
    for_each_index<member_count<type>>([&]<std::size_t I>() {
      for_each_together(f, std::get<I>(members_of(first)), std::get<I>(members_of(rest))...);
    });
  }
}

/// Gives a tensor a new value of its own elements, extents and layout.
template <class X, class Value>
constexpr void put(X& x, Value&& value) {
  if constexpr (requires { X(std::forward<Value>(value).share()); })
    x = X(sharded_tensor(std::forward<Value>(value)).share());
  else
    x = X{std::forward<Value>(value)};
}

/// A number as tensors of `X` are computed with.
template <class X>
[[nodiscard]] constexpr auto number_for(double value) noexcept {
  return static_cast<compute_type<typename X::value_type>>(value);
}

}  // namespace shardwise::detail
