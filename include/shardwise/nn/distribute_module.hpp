// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/expression/nest.hpp"
#include "shardwise/nn/on_paper.hpp"
#include "shardwise/operation/reshard.hpp"

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace shardwise {

namespace detail {

/// The type of member `I` of an aggregate.
template <class Nest, std::size_t I>
using member_of =
    std::remove_cvref_t<std::tuple_element_t<I, decltype(members_of(std::declval<Nest&>()))>>;

template <class Target, class Source>
[[nodiscard]] constexpr auto distribute_nest(const Source& from) {
  constexpr nest_kind kind = nest_kind_of<Target>();
  static_assert(kind == nest_kind_of<Source>(),
                "a module is distributed to one of the same members, whose layouts differ");
  if constexpr (kind == nest_kind::tensor) {
    return reshard<typename Target::layout_type>(from);
  } else if constexpr (kind == nest_kind::frozen) {
    return Target{distribute_nest<decltype(Target::value)>(from.value)};
  } else if constexpr (kind == nest_kind::tuple) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      using std::get;
      return Target{distribute_nest<std::tuple_element_t<I, Target>>(get<I>(from))...};
    }
    (std::make_index_sequence<std::tuple_size<Target>::value>{});
  } else if constexpr (kind == nest_kind::range) {
    Target to;
    for (const auto& each : from) to.push_back(distribute_nest<typename Target::value_type>(each));
    return to;
  } else if constexpr (kind == nest_kind::aggregate) {
    static_assert(member_count<Target> == member_count<Source>,
                  "a module is distributed to one of the same members, whose layouts differ");
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return Target{distribute_nest<member_of<Target, I>>(std::get<I>(members_of(from)))...};
    }
    (std::make_index_sequence<member_count<Target>>{});
  } else {
    return from;
  }
}

/// The same nest where the tensors of another have no elements.
template <class Target, class Source>
struct distributed {
  using first = std::remove_cvref_t<decltype(first_in(std::declval<const Source&>()))>;
  using type = std::conditional_t<first::domain::has_values, Target, on_paper<Target>>;
};

}  // namespace detail

namespace nn {

/// Reshards each tensor of a module to the layout of the corresponding member of `Target`; other
/// members stay. Both have the same members and element types.
///
/// It has a ledger on paper and a gradient: within a loss it gathers a fully sharded model, and the
/// gradients are reduce-scattered.
///
///     auto split = nn::distribute_module<split_model>(whole);
///     constexpr auto loss = [](const auto& stored, const auto& x) {
///       return mean_loss(nn::distribute_module<working_model>(stored), x);
///     };
template <class Target, class Source>
[[nodiscard]] constexpr auto distribute_module(const Source& from) {
  return detail::distribute_nest<typename detail::distributed<Target, Source>::type>(from);
}

}  // namespace nn

}  // namespace shardwise
