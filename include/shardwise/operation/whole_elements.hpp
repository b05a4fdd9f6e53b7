// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/expression/call.hpp"
#include "shardwise/expression/operand.hpp"
#include "shardwise/layout/element.hpp"

#include <type_traits>

namespace shardwise {

namespace detail {

/// True for tensors whose elements have no fractions, of which a quotient would be cut.
template <class X>
concept WholeElements =
    EitherOperand<X> && !has_fractions(element_of<typename std::remove_cvref_t<X>::value_type>);
/// Reports them with the name of the function.
template <class Name, class X>
[[nodiscard]] constexpr auto refuse_whole_elements() {
  return internal::report<refused<misuse::elements_have_no_fractions,
                                  of_types<Name, typename std::remove_cvref_t<X>::value_type>>>();
}

}  // namespace detail

}  // namespace shardwise
