// SPDX-License-Identifier: BSL-1.0
// Tensors of every element type of StableHLO that programs use, and the arithmetic of their
// elements.
#pragma once

#include "unit/export/mlir_reader.hpp"
#include <shardwise/core/half.hpp>

#include <bit>
#include <cmath>
#include <complex>
#include <cstring>

namespace hlo_text {

using index = std::int64_t;
using indices = std::vector<index>;

/// An element: a number with fractions, which may be complex, or the bits of an integer. Integers
/// of fewer than 64 bits are extended by their sign or, if they are unsigned, by zeros.
struct number {
  std::complex<double> real{};
  std::int64_t whole = 0;
};

/// How elements of a type are stored.
struct element_form {
  bool is_float = false;
  bool is_complex = false;
  bool is_unsigned = false;
  int bits = 0;
};
inline element_form form_of(const std::string& element) {
  if (element == "complex<f32>") return {true, true, false, 32};
  if (element == "complex<f64>") return {true, true, false, 64};
  if (element == "bf16") return {true, false, false, 15};  // not the 16 of f16
  if (element == "i1") return {false, false, true, 1};
  const std::size_t digits = element.find_first_of("0123456789");
  demand(digits != element.npos, "no element type is " + element);
  element_form out;
  out.bits = std::stoi(element.substr(digits));
  const std::string kind = element.substr(0, digits);
  out.is_float = kind == "f";
  out.is_unsigned = kind == "ui";
  demand(kind == "f" || kind == "ui" || kind == "i", "no element type is " + element);
  return out;
}

inline double rounded(double x, int bits) {
  if (bits == 64) return x;
  const auto narrow = static_cast<float>(x);
  if (bits == 15) return static_cast<float>(shardwise::bfloat16(narrow));
  if (bits == 16) return static_cast<float>(shardwise::float16(narrow));
  return narrow;
}
/// Rounds or wraps a number, as a result of this element type does.
inline number as_element(number x, const element_form& form) {
  if (form.is_float) {
    x.real = {rounded(x.real.real(), form.bits),
              form.is_complex ? rounded(x.real.imag(), form.bits) : 0.0};
    x.whole = 0;
    return x;
  }
  x.real = 0;
  if (form.bits < 64) {
    const auto mask = (std::uint64_t{1} << form.bits) - 1;
    const std::uint64_t low = static_cast<std::uint64_t>(x.whole) & mask;
    const bool is_negative = !form.is_unsigned && (low >> (form.bits - 1) & 1U) != 0;
    x.whole = static_cast<std::int64_t>(is_negative ? low | ~mask : low);
  }
  return x;
}
inline number real_number(double x) { return {{x, 0.0}, 0}; }
inline number whole_number(std::int64_t x) { return {{}, x}; }

struct tensor {
  tensor_type type;
  std::vector<number> elements;

  explicit tensor(tensor_type of) : type(std::move(of)) {
    index count = 1;
    for (const index n : type.extents) count *= n;
    elements.resize(static_cast<std::size_t>(count));
  }
  [[nodiscard]] int rank() const { return static_cast<int>(type.extents.size()); }
  [[nodiscard]] index extent(int d) const { return type.extents[static_cast<std::size_t>(d)]; }
  [[nodiscard]] element_form form() const { return form_of(type.element); }
  [[nodiscard]] std::size_t place_of(const indices& at) const {
    index place = 0;
    for (std::size_t d = 0; d < at.size(); ++d) {
      demand(at[d] >= 0 && at[d] < type.extents[d], "an index is outside of a tensor");
      place = place * type.extents[d] + at[d];
    }
    return static_cast<std::size_t>(place);
  }
  [[nodiscard]] bool has(const indices& at) const {
    for (std::size_t d = 0; d < at.size(); ++d)
      if (at[d] < 0 || at[d] >= type.extents[d]) return false;
    return true;
  }
  [[nodiscard]] const number& at(const indices& where) const { return elements[place_of(where)]; }
  number& at(const indices& where) { return elements[place_of(where)]; }
  [[nodiscard]] index whole(std::size_t i = 0) const { return elements[i].whole; }
};

/// Calls `f` with each index of a box of these extents, in row-major order.
template <class F>
void for_each_index(const indices& extents, F f) {
  for (const index n : extents)
    if (n <= 0) return;
  indices at(extents.size(), 0);
  for (;;) {
    f(static_cast<const indices&>(at));
    std::size_t d = at.size();
    while (d > 0 && ++at[d - 1] == extents[d - 1]) at[--d] = 0;
    if (d == 0) return;
  }
}

/// Returns the element of these bits.
inline number from_bits(std::uint64_t bits, const element_form& form) {
  if (!form.is_float) return as_element(whole_number(static_cast<std::int64_t>(bits)), form);
  if (form.bits == 64) return real_number(std::bit_cast<double>(bits));
  if (form.bits == 32) return real_number(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  if (form.bits == 15)
    return real_number(std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16U));
  return real_number(
      static_cast<float>(std::bit_cast<shardwise::float16>(static_cast<std::uint16_t>(bits))));
}

/// The number of an element as a text: `1.5`, `-3`, `true`, `0x7F800000`.
inline number parse_number(const std::string& words, const element_form& form) {
  if (words == "true" || words == "false") return whole_number(words == "true");
  if (!form.is_float)
    return whole_number(words[0] == '-' ? std::stoll(words)
                                        : static_cast<std::int64_t>(std::stoull(words)));
  if (!words.starts_with("0x")) return real_number(std::stod(words));
  const std::uint64_t bits = std::stoull(words, nullptr, 16);
  const std::size_t digits = form.bits == 64 ? 16 : form.bits == 32 ? 8 : 4;
  demand(words.size() == 2 + digits, words + " has not as many digits as its element has bits");
  return from_bits(bits, form);
}

/// Three-way order of two elements; 2 if one is NaN.
inline int order_of(const number& a, const number& b, const element_form& form) {
  if (form.is_float) {
    const double x = a.real.real(), y = b.real.real();
    return std::isnan(x) || std::isnan(y) ? 2 : x < y ? -1 : x > y ? 1 : 0;
  }
  if (form.is_unsigned) {
    const auto x = static_cast<std::uint64_t>(a.whole), y = static_cast<std::uint64_t>(b.whole);
    return x < y ? -1 : x > y ? 1 : 0;
  }
  return a.whole < b.whole ? -1 : a.whole > b.whole ? 1 : 0;
}

}  // namespace hlo_text
