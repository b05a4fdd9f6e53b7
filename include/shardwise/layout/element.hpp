// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/half.hpp"
#include "shardwise/core/text.hpp"

#include <cstdint>
#include <type_traits>

namespace shardwise {

/// The element types of tensors, as values. The 16-bit floating-point types are stored in 16 bits
/// and computed in `f32`; `boolean` is a truth value.
enum class element : std::uint8_t { f32, f64, i32, i64, boolean, i8, u8, bf16, f16 };

/// The number of element types.
inline constexpr int element_types = 9;

/// Returns the short name of an element type in the notation of the library.
[[nodiscard]] constexpr text_view to_text(element type) noexcept {
  constexpr text_view words[] = {"f32", "f64", "i32", "i64", "bool", "i8", "u8", "bf16", "f16"};
  return words[static_cast<unsigned>(type)];
}

/// Returns the C++ name of an element type, as programs write it.
[[nodiscard]] constexpr text_view type_name_of(element type) noexcept {
  constexpr text_view words[] = {"float",        "double",   "std::int32_t",
                                 "std::int64_t", "bool",     "std::int8_t",
                                 "std::uint8_t", "bfloat16", "float16"};
  return words[static_cast<unsigned>(type)];
}

/// Returns the size of one element in bytes.
[[nodiscard]] constexpr index_t size_of(element type) noexcept {
  constexpr index_t sizes[] = {4, 8, 4, 8, 1, 1, 1, 2, 2};
  return sizes[static_cast<unsigned>(type)];
}

/// True for floating-point types.
[[nodiscard]] constexpr bool has_fractions(element type) noexcept {
  return type == element::f32 || type == element::f64 || type == element::bf16 ||
         type == element::f16;
}

/// True for integer types, but not for `bool`.
[[nodiscard]] constexpr bool is_whole_number(element type) noexcept {
  return !has_fractions(type) && type != element::boolean;
}

/// The element type in which arithmetic is done: `f32` for the 16-bit floating-point types, else
/// the type itself.
[[nodiscard]] constexpr element computed_in(element type) noexcept {
  return type == element::bf16 || type == element::f16 ? element::f32 : type;
}

/// The element type of sums of squares: its range holds the squares of all narrower elements.
[[nodiscard]] constexpr element squared_in(element type) noexcept {
  return has_fractions(type) ? element::f64 : type;
}

namespace detail {
/// The type of each element type, in the order of `element`.
template <int Place>
struct type_at_place;
template <>
struct type_at_place<0> : std::type_identity<float> {};
template <>
struct type_at_place<1> : std::type_identity<double> {};
template <>
struct type_at_place<2> : std::type_identity<std::int32_t> {};
template <>
struct type_at_place<3> : std::type_identity<std::int64_t> {};
template <>
struct type_at_place<4> : std::type_identity<bool> {};
template <>
struct type_at_place<5> : std::type_identity<std::int8_t> {};
template <>
struct type_at_place<6> : std::type_identity<std::uint8_t> {};
template <>
struct type_at_place<7> : std::type_identity<bfloat16> {};
template <>
struct type_at_place<8> : std::type_identity<float16> {};

template <class T, int Place = 0>
[[nodiscard]] constexpr int place_of_element() noexcept {
  if constexpr (Place == element_types)
    return -1;
  else if constexpr (std::is_same_v<T, typename type_at_place<Place>::type>)
    return Place;
  else
    return place_of_element<T, Place + 1>();
}
}  // namespace detail

/// The type of an element type.
template <element Type>
using type_of_element = typename detail::type_at_place<static_cast<int>(Type)>::type;

template <class T>
inline constexpr bool is_element = detail::place_of_element<T>() >= 0;

/// A type that tensors can hold.
template <class T>
concept Element = is_element<T>;

/// The value of an element type.
template <Element T>
inline constexpr element element_of = static_cast<element>(detail::place_of_element<T>());

/// The type in which arithmetic on elements of `T` is done.
template <Element T>
using compute_type = type_of_element<computed_in(element_of<T>)>;
/// The type of sums of the squares of elements of `T`.
template <Element T>
using squares_type = type_of_element<squared_in(element_of<T>)>;
/// True for 16-bit floating-point elements, which are computed in `float`: a function of several
/// steps converts them before the first and rounds once, after the last.
template <class T>
inline constexpr bool rounds_once = [] {
  if constexpr (is_element<T>)
    return has_fractions(element_of<T>) && !std::is_same_v<compute_type<T>, T>;
  else
    return false;
}();

/// Floating-point element types, and integer element types; `bool` is neither.
template <class T>
concept Fractional = Element<T> && has_fractions(element_of<T>);
template <class T>
concept Whole = std::is_integral_v<T> && Element<T> && !std::is_same_v<T, bool>;

}  // namespace shardwise
