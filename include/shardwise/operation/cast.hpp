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
/// A cast to a wider floating-point type is exact, so it may take a pending sum and converts each
/// of its terms: the pending gradient of a narrow copy of a weight stays pending and is reduced in
/// the element type of the weight, unless `finish_gradient` reduces it earlier. A narrowing cast
/// takes no pending sum: terms may be beyond its range, or lose what remains of them in the sum.
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

  /// True if each number of a floating-point type is one of another.
  [[nodiscard]] static constexpr bool is_exact(element from, element to) noexcept {
    return has_fractions(from) && has_fractions(to) && (from == to || size_of(from) < size_of(to));
  }
  [[nodiscard]] static constexpr linearity law_for(element from) noexcept {
    return is_exact(from, result) ? linearity::additive : linearity::nonlinear;
  }
  /// The cotangent has the element type of the operand.
  static constexpr void gradient(auto& at) {
    if (at.wants(0)) at.give(0, converted(at.cotangent(), at.operand(0).tensor().type));
  }
};

/// The same conversion of the terms of a pending sum, each of which is rounded: for results whose
/// terms are defined so, such as the mean of narrow elements.
template <Element To>
struct rounded_terms : cast<To> {
  static constexpr bounded_text<20> words = [] {
    bounded_text<20> out;
    out << "cast_terms_" << to_text(element_of<To>);
    return out;
  }();
  static constexpr text_view symbol = words;

  [[nodiscard]] static constexpr linearity law_for(element) noexcept { return linearity::additive; }
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

namespace internal {

/// Converts a value to elements of type `T`, a pending sum term by term.
template <class T, class X>
[[nodiscard]] constexpr auto with_terms_as(X&& x) {
  using from = typename std::remove_cvref_t<X>::value_type;
  if constexpr (AnyRefused<X>)
    return refused_value{};
  else if constexpr (std::is_same_v<from, T>)
    return std::remove_cvref_t<X>(std::forward<X>(x));
  else if constexpr (functions::cast<T>::is_exact(element_of<from>, element_of<T>))
    return cast<T>(std::forward<X>(x));
  else
    return elementwise<functions::rounded_terms<T>>(std::forward<X>(x));
}
/// Returns the operation that converts to a narrower element type given as a value.
[[nodiscard]] constexpr const operation& rounding_terms_to(element type) noexcept {
  return type == element::f16    ? operation_of<pointwise<functions::rounded_terms<float16>>>
         : type == element::bf16 ? operation_of<pointwise<functions::rounded_terms<bfloat16>>>
                                 : operation_of<pointwise<functions::rounded_terms<float>>>;
}

}  // namespace internal

constexpr gradient_value converted(const gradient_value& x, element type) {
  return x.tensor().type == type ? x : x.step->emit(cast_to(type), {}, {x.id});
}

}  // namespace shardwise
