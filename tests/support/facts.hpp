// SPDX-License-Identifier: BSL-1.0
// Tables of facts in constant expressions: `static_assert(facts_hold<table>)`, where `holds(fact)`
// judges one. Included after the facts, whose `holds` it calls.
#pragma once

#include <cstddef>
#include <iterator>
#include <utility>

// Each fact is a separate constant, so that none exceeds the limits of the compilers.
template <const auto& Facts, std::size_t I>
inline constexpr bool fact_holds = holds(Facts[I]);
template <const auto& Facts, std::size_t... I>
constexpr bool all_hold(std::index_sequence<I...>) {
  return (... && fact_holds<Facts, I>);
}
template <const auto& Facts>
constexpr bool facts_hold = all_hold<Facts>(std::make_index_sequence<std::size(Facts)>{});
