// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/text.hpp"

#include <cstdint>

namespace shardwise {

/// The element types of tensors, as values.
enum class element : std::uint8_t { f32, f64, i32, i64 };

/// The short name of an element type in the notation.
[[nodiscard]] constexpr text_view to_text(element type) noexcept {
  constexpr text_view words[] = {"f32", "f64", "i32", "i64"};
  return words[static_cast<unsigned>(type)];
}

/// The bytes of one element.
[[nodiscard]] constexpr index_t size_of(element type) noexcept {
  return type == element::f32 || type == element::i32 ? 4 : 8;
}

/// True for elements that have fractions.
[[nodiscard]] constexpr bool has_fractions(element type) noexcept {
  return type == element::f32 || type == element::f64;
}

template <class T>
inline constexpr bool is_element = false;
template <>
inline constexpr bool is_element<float> = true;
template <>
inline constexpr bool is_element<double> = true;
template <>
inline constexpr bool is_element<std::int32_t> = true;
template <>
inline constexpr bool is_element<std::int64_t> = true;

/// A type that tensors can hold.
template <class T>
concept Element = is_element<T>;

/// The value of an element type.
template <Element T>
inline constexpr element element_of = T(0.5) != T{}
                                          ? (sizeof(T) == 4 ? element::f32 : element::f64)
                                          : (sizeof(T) == 4 ? element::i32 : element::i64);

}  // namespace shardwise
