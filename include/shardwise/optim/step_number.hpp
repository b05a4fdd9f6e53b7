// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/expression/nest.hpp"
#include "shardwise/host/factories.hpp"
#include "shardwise/nn/together.hpp"
#include "shardwise/operation/cast.hpp"
#include "shardwise/operation/number.hpp"
#include "shardwise/plan/gradient.hpp"
#include "shardwise/tensor/tensor_handle.hpp"

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

namespace shardwise::detail {

/// The elements in which a tensor is combined with numbers: its own, or those of its arithmetic.
enum class combined_in : bool { own_elements, wide_elements };
template <class X, combined_in In>
[[nodiscard]] constexpr element combined_element() noexcept {
  constexpr element own = element_of<typename X::value_type>;
  return In == combined_in::wide_elements ? computed_in(own) : own;
}
/// True for a nest with a tensor that is combined in elements of a type.
template <class Nest, element Type, combined_in In = combined_in::own_elements>
inline constexpr bool has_element = any_in_nest<Nest>([]<class X>(std::type_identity<X>) {
  if constexpr (EitherOperand<X>)
    return combined_element<X, In>() == Type;
  else
    return false;
});

/// Replaces a number that no tensor needs.
struct unconverted {};
/// A number of a step, such as a rate, for use with the tensors of a nest. A number that is a
/// tensor is converted once to each other floating-point element type in which the nest is
/// combined.
template <combined_in In, class Number, class... Converted>
struct number_of_step {
  const Number& given;
  std::tuple<Converted...> converted;  // in the order of `element`

  /// Returns the number beside tensors of type `X`.
  template <class X>
  [[nodiscard]] constexpr auto beside() const {
    constexpr element type = combined_element<X, In>();
    constexpr auto place = static_cast<std::size_t>(type);
    if constexpr (EitherOperand<std::tuple_element_t<place, std::tuple<Converted...>>>)
      return std::get<place>(converted);
    else if constexpr (Scalar<Number> && has_fractions(type))
      return static_cast<type_of_element<computed_in(type)>>(given);
    else
      return given;
  }
};
/// True if `Number` is a tensor that must be converted to elements `Type` for some tensor of the
/// nest.
template <class Number, class Nest, element Type, combined_in In>
[[nodiscard]] constexpr bool is_converted() noexcept {
  if constexpr (EitherOperand<Number> && has_fractions(Type))
    return has_element<Nest, Type, In> && element_of<typename Number::value_type> != Type;
  else
    return false;
}
template <class Nest, combined_in In = combined_in::own_elements, class Number>
[[nodiscard]] constexpr auto number_beside_nest(const Number& number) {
  const auto convert = [&]<int I>(std::integral_constant<int, I>) {
    if constexpr (is_converted<Number, Nest, element{I}, In>())
      return made_tensor(cast<type_of_element<element{I}>>(number));
    else
      return unconverted{};
  };
  return [&]<int... I>(std::integer_sequence<int, I...>) {
    return number_of_step<In, Number, decltype(convert(std::integral_constant<int, I>{}))...>{
        number, {convert(std::integral_constant<int, I>{})...}};
  }
  (std::make_integer_sequence<int, element_types>{});
}

/// The type of a scalar of `float` in the mesh of a nest.
template <class Nest>
struct step_count {
  using first = std::remove_cvref_t<decltype(first_in(std::declval<const Nest&>()))>;
  using type = typename number_beside<float, first>::type;
};
/// Returns such a scalar in the pool of a nest.
template <class Number, class Nest>
[[nodiscard]] Number number_in_pool_of(const Nest& nest, float value) {
  const auto fill = [=](const held_box&, const strided<float>& block) {
    fill_elements(value, block);
  };
  return handle_of<Number>(
      make_filled<float>(first_in(nest).share()->home(), {element::f32, {}, {}}, fill));
}

}  // namespace shardwise::detail
