// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/expression/elementwise.hpp"
#include "shardwise/plan/program.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace shardwise {

namespace internal {

/// Calls `f` with the number of an instruction, converted to the type used for arithmetic.
template <class F>
auto with_number(const attributes& value, element type, const F& f) {
  switch (computed_in(type)) {
    case element::f32:
      return f(constant_operation::value<float>(value));
    case element::f64:
      return f(constant_operation::value<double>(value));
    case element::i32:
      return f(constant_operation::value<std::int32_t>(value));
    case element::i64:
      return f(constant_operation::value<std::int64_t>(value));
    case element::i8:
      return f(constant_operation::value<std::int8_t>(value));
    case element::u8:
      return f(constant_operation::value<std::uint8_t>(value));
    default:
      return f(constant_operation::value<bool>(value));
  }
}

/// Calls `f` with a value of the type used for arithmetic on elements.
template <class F>
auto with_computed_type(element type, const F& f) {
  return with_number({}, type, f);
}

}  // namespace internal

/// A number among the operands of an elementwise operation, and its position: its bits in the type
/// used for arithmetic on elements of `type`.
struct number_operand {
  int place = 0;
  element type = element::f32;
  std::uint64_t bits = 0;

  /// Returns the number as the program stores it.
  [[nodiscard]] attributes how() const noexcept {
    return internal::with_computed_type(type, [&](auto number) {
      std::memcpy(&number, &bits, sizeof number);
      return constant_operation::how(number);
    });
  }
};
/// Returns the number of an instruction as an operand of the first position.
[[nodiscard]] inline number_operand number_operand_of(const attributes& value,
                                                      element type) noexcept {
  number_operand made{0, type};
  internal::with_number(value, type,
                        [&](auto number) { std::memcpy(&made.bits, &number, sizeof number); });
  return made;
}
using number_operands = inplace_vector<number_operand, max_operands>;

namespace internal {

/// Calls `number(operand)` or `tensor(k)` for each operand of an elementwise operation in order:
/// some numbers, and `count` tensors.
template <class Number, class Tensor>
void for_each_operand(const number_operands& numbers, std::size_t count, const Number& number,
                      const Tensor& tensor) {
  int place = 0;
  std::size_t next = 0;
  const auto add_numbers = [&] {
    for (const number_operand& each : numbers)
      if (each.place == place) {
        number(each);
        ++place;
      }
  };
  add_numbers();
  for (; next < count; ++next) {
    tensor(next);
    ++place;
    add_numbers();
  }
}

}  // namespace internal

}  // namespace shardwise
