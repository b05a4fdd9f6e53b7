// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <shardwise/layout/element.hpp>

#include <stdexcept>
#include <type_traits>

/// Calls `f` with the type of these elements, one of `First` and `Rest`, as a `std::type_identity`.
/// Throws `std::invalid_argument` for any other type.
template <class First, class... Rest, class F>
auto with_one_of(shardwise::element type, const F& f) {
  if constexpr (sizeof...(Rest) > 0)
    if (type != shardwise::element_of<First>) return with_one_of<Rest...>(type, f);
  if (type != shardwise::element_of<First>)
    throw std::invalid_argument("the test is not written for elements of this type");
  return f(std::type_identity<First>{});
}
