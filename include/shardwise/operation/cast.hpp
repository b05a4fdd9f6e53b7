// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/expression/elementwise.hpp"

#include <utility>

namespace shardwise {

namespace functions {

/// Conversion to elements of `To`. Of numbers that `To` has not it gives the nearest that it has:
/// whole numbers are cut towards zero and end at the ends of their range, NaN is 0. Of truth values
/// it makes 0 and 1; a number is true if it is not 0.
template <Element To>
struct cast {
  static constexpr text<20> words = [] {
    text<20> out;
    out << "cast_" << to_text(element_of<To>);
    return out;
  }();
  static constexpr text_view symbol = words;
  static constexpr linearity law = linearity::nonlinear;
  static constexpr int flops = 1;
  static constexpr element result = element_of<To>;
  static constexpr bool takes_any = true;
};

}  // namespace functions

/// The same tensor with elements of `To`; see `functions::cast` for numbers that `To` has not.
///
///     auto counted = sum(cast<float>(x > 0));
///     auto narrow = cast<bfloat16>(weights);
template <Element To, class A>
[[nodiscard]] constexpr detail::of_elements<functions::cast<To>, A> cast(A&& a) {
  return elementwise<functions::cast<To>>(std::forward<A>(a));
}

}  // namespace shardwise
