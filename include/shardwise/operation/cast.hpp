// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/expression/elementwise.hpp"

#include <utility>

namespace shardwise {

/// Returns a value of a differentiated program, converted to another element type.
[[nodiscard]] constexpr gradient_value converted(const gradient_value& x, element type);

namespace functions {

/// Conversion to elements of type `To`. A number that `To` cannot represent becomes the nearest one
/// that it can: floating-point numbers are truncated to integers and saturate at the ends of their
/// range, and NaN becomes 0. `bool` elements become 0 and 1; a number becomes true if it is not 0.
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
  static constexpr bool converts = true;
  static constexpr bool on_elements = true;

  [[nodiscard]] static constexpr linearity law_for(element from) noexcept {
    return has_fractions(from) && has_fractions(result) ? linearity::additive
                                                        : linearity::nonlinear;
  }
  /// The cotangent has the element type of the operand.
  static constexpr void gradient(auto& at) {
    if (at.wants(0)) at.give(0, converted(at.cotangent(), at.operand(0).tensor().type));
  }
};

}  // namespace functions

/// Returns the same tensor with elements of type `To`; see `functions::cast` for numbers that `To`
/// cannot represent.
///
///     auto counted = sum(cast<float>(x > 0));
///     auto narrow = cast<bfloat16>(weights);
template <Element To, class A, internal::Terms... Given>
[[nodiscard]] constexpr internal::of_elements<functions::cast<To>, A, Given...> cast(
    A&& a, const Given&... given) {
  return elementwise<functions::cast<To>>(std::forward<A>(a), given...);
}

/// Returns the conversion to an element type given as a value.
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
