// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/half.hpp"
#include "shardwise/layout/tensor_desc.hpp"

#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace shardwise::internal {

/// The type of a value in MLIR: its elements, as MLIR writes them, and its extents.
struct mlir_type {
  std::string_view element{};
  extents_desc extents{};

  [[nodiscard]] int rank() const noexcept { return extents.ssize(); }
  /// Returns the same type with other elements, or with other extents.
  [[nodiscard]] mlir_type of(std::string_view other) const noexcept { return {other, extents}; }
  [[nodiscard]] mlir_type sized(const extents_desc& other) const noexcept {
    return {element, other};
  }
  /// Returns the type of one element.
  [[nodiscard]] mlir_type scalar() const noexcept { return {element, {}}; }
  friend bool operator==(const mlir_type&, const mlir_type&) = default;
};

/// Returns the name that MLIR has for an element type.
[[nodiscard]] constexpr std::string_view mlir_element(element type) noexcept {
  constexpr std::string_view words[] = {"f32", "f64", "i32",  "i64", "i1",
                                        "i8",  "ui8", "bf16", "f16"};
  return words[static_cast<unsigned>(type)];
}
[[nodiscard]] constexpr bool is_mlir_float(std::string_view type) noexcept {
  return type.starts_with('f') || type.starts_with('b');
}

/// Returns a type as text: `tensor<8x4xf32>`.
[[nodiscard]] inline std::string to_text(const mlir_type& type) {
  std::string out = "tensor<";
  for (const index_t n : type.extents) out += std::to_string(n) + 'x';
  return out.append(type.element) + '>';
}

/// Returns numbers as text, separated by commas.
template <class List>
[[nodiscard]] std::string comma_separated(const List& all) {
  std::string out;
  for (const auto& n : all)
    out += (out.empty() ? "" : ", ") + std::to_string(static_cast<index_t>(n));
  return out;
}
/// Returns a list of integers as an attribute: `array<i64: 1, 2>`.
template <class List>
[[nodiscard]] std::string mlir_array(const List& all) {
  const std::string numbers = comma_separated(all);
  return numbers.empty() ? "array<i64>" : "array<i64: " + numbers + '>';
}
/// Returns pairs of integers as an attribute: `dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>`.
template <class List>
[[nodiscard]] std::string mlir_pairs(const List& flat) {
  std::string out;
  index_t count = 0;
  for (auto at = flat.begin(); at != flat.end(); ++at, ++count) {
    const index_t first = *at;
    out += (count > 0 ? ", [" : "[") + std::to_string(first) + ", " + std::to_string(*++at) + ']';
  }
  const std::string type = " : tensor<" + std::to_string(count) + "x2xi64>";
  return count == 0 ? "dense<>" + type : "dense<[" + out + "]>" + type;
}
[[nodiscard]] inline std::string mlir_count(index_t n) { return std::to_string(n) + " : i64"; }

/// Returns a floating-point number as a literal of MLIR, with the digits that give the same bits
/// when they are read, whatever the locale; infinities and NaN by their bits.
template <class T>
[[nodiscard]] std::string float_literal(T number) {
  using wide = std::conditional_t<sizeof(T) == 8, double, float>;
  using bits = std::conditional_t<sizeof(T) == 8, std::uint64_t,
                                  std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint16_t>>;
  const auto value = static_cast<wide>(number);
  char words[64];
  if (!(std::fabs(value) <= std::numeric_limits<wide>::max())) {
    // Of NaN only the quiet one without a payload is written.
    const T plain =
        value != value ? static_cast<T>(std::numeric_limits<wide>::quiet_NaN()) : number;
    char* const end =
        std::to_chars(words, words + sizeof words, std::bit_cast<bits>(plain), 16).ptr;
    std::string digits(&words[0], end);
    for (char& c : digits)
      if (c >= 'a') c = static_cast<char>(c - 'a' + 'A');
    return "0x" + std::string(2 * sizeof(T) - digits.size(), '0') + digits;
  }
  char* const end = std::to_chars(words, words + sizeof words, value).ptr;
  std::string digits(&words[0], end);
  // A whole number has a point too, also before an exponent.
  if (const std::size_t exponent = digits.find('e'); digits.find('.') == std::string::npos)
    digits.insert(exponent == std::string::npos ? digits.size() : exponent, ".0");
  return digits;
}

/// Returns a number as a literal for elements of this type.
[[nodiscard]] inline std::string mlir_literal(double number, std::string_view type) {
  if (type == "f64") return float_literal(number);
  if (type == "f32") return float_literal(static_cast<float>(number));
  if (type == "bf16") return float_literal(static_cast<bfloat16>(static_cast<float>(number)));
  if (type == "f16") return float_literal(static_cast<float16>(static_cast<float>(number)));
  if (type == "i1") return number != 0 ? "true" : "false";
  return std::to_string(static_cast<index_t>(number));
}
[[nodiscard]] inline std::string mlir_literal(index_t number, std::string_view type) {
  if (is_mlir_float(type)) return mlir_literal(static_cast<double>(number), type);
  if (type == "i1") return number != 0 ? "true" : "false";
  if (type == "ui64") return std::to_string(static_cast<std::uint64_t>(number));
  return std::to_string(number);
}

}  // namespace shardwise::internal
