// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/expression/elementwise.hpp"

#include <utility>

namespace shardwise {

/// A value of a program whose gradient is taken, with elements of another type.
[[nodiscard]] constexpr gradient_value converted(const gradient_value& x, element type);

namespace functions {

/// Conversion to elements of `To`. Of numbers that `To` has not it gives the nearest that it has:
/// whole numbers are cut towards zero and end at the ends of their range, NaN is 0. Of truth values
/// it makes 0 and 1; a number is true if it is not 0.
///
/// A cast between floating-point types may take a pending sum and converts each of its terms:
/// widening is exact, narrowing rounds each term. So a pending gradient stays pending through a
/// cast and is reduced in the element type of the operand, unless `finish_gradient` reduces it
/// earlier.
template <Element To>
struct cast {
  static constexpr bounded_text<20> words = [] {
    bounded_text<20> out;
    out << "cast_" << to_text(element_of<To>);
    return out;
  }();
  static constexpr text_view symbol = words;
  static constexpr int flops = 1;
  static constexpr element result = element_of<To>;
  static constexpr bool takes_any = true;
  static constexpr bool on_elements = true;

  [[nodiscard]] static constexpr linearity law_for(element from) noexcept {
    return has_fractions(from) && has_fractions(result) ? linearity::additive
                                                        : linearity::nonlinear;
  }
  /// The cotangent in the elements of the operand.
  static constexpr void gradient(auto& at) {
    if (at.wants(0)) at.give(0, converted(at.cotangent(), at.operand(0).tensor().type));
  }
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

/// The conversion to elements that a value names.
[[nodiscard]] constexpr const operation& cast_to(element type) noexcept {
  constexpr const operation* casts[] = {&operation_of<pointwise<functions::cast<float>>>,
                                        &operation_of<pointwise<functions::cast<double>>>,
                                        &operation_of<pointwise<functions::cast<std::int32_t>>>,
                                        &operation_of<pointwise<functions::cast<std::int64_t>>>,
                                        &operation_of<pointwise<functions::cast<bool>>>,
                                        &operation_of<pointwise<functions::cast<std::int8_t>>>,
                                        &operation_of<pointwise<functions::cast<std::uint8_t>>>,
                                        &operation_of<pointwise<functions::cast<bfloat16>>>,
                                        &operation_of<pointwise<functions::cast<float16>>>};
  return *casts[static_cast<unsigned>(type)];
}
constexpr gradient_value converted(const gradient_value& x, element type) {
  return x.tensor().type == type ? x : x.step->emit(cast_to(type), {}, {x.id});
}

}  // namespace shardwise
