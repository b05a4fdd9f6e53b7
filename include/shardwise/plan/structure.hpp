// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/rule/operation.hpp"

#include <concepts>

namespace shardwise {

/// Operations that only describe where values come from: an input of a program, and a number that
/// is the same for every element.
struct input_operation {
  static constexpr text_view name = "input";
  static constexpr bool is_leaf = true;
};
/// An argument of a function whose gradient is being taken: it represents its operand, which
/// finally replaces it.
struct argument_operation {
  static constexpr text_view name = "argument";
  static constexpr bool is_leaf = true;
};
/// A placeholder for the cotangent of a custom gradient, replaced by the actual one.
struct cotangent_operation {
  static constexpr text_view name = "cotangent";
  static constexpr bool is_leaf = true;
};
/// Marks values that have a custom gradient. Nothing reads its result, and programs that run do not
/// contain it. It follows the instructions that compute the gradient.
///
/// There is one for each argument of the function, with the operands argument, recorded gradient,
/// and first placeholder it depends on; and after these one for the results, with the operands
/// results and the `cotangent_operation` of each.
struct custom_gradient_operation {
  static constexpr text_view name = "custom_gradient";
  static constexpr bool stops_gradient = true;

  [[nodiscard]] static constexpr attributes of_results() noexcept { return integer_attributes(1); }
  [[nodiscard]] static constexpr attributes of_argument() noexcept { return {}; }
  [[nodiscard]] static constexpr bool is_of_results(const attributes& how) noexcept {
    return !how.integers.empty();
  }
};
struct constant_operation {
  static constexpr text_view name = "constant";
  static constexpr bool is_leaf = true;

  /// Integers are stored as such, so that all of their bits are kept.
  template <class T>
  [[nodiscard]] static constexpr attributes how(T value) noexcept {
    attributes out;
    if constexpr (std::integral<T>)
      out.integers = {static_cast<index_t>(value)};
    else
      out.number = static_cast<double>(value);
    return out;
  }
  template <class T>
  [[nodiscard]] static constexpr T value(const attributes& how) noexcept {
    return how.integers.empty() ? static_cast<T>(how.number) : static_cast<T>(how.integers[0]);
  }
};

/// A further result of an operation with several results; its integer is the number, from 1. The
/// first result is the value of the operation itself.
struct result_operation {
  static constexpr text_view name = "result";

  [[nodiscard]] static constexpr attributes how(int number) noexcept {
    return integer_attributes(number);
  }
  [[nodiscard]] static constexpr std::int32_t number(const attributes& how) noexcept {
    return static_cast<std::int32_t>(how.integers[0]);
  }
  [[nodiscard]] static constexpr bounded_text<47> label(const attributes& how) noexcept {
    return words_of(name, how);
  }
};

/// A call of one of the program's bodies, whose number is its integer. Its operands are the inputs
/// of the body, its results those of the body.
struct call_operation {
  static constexpr text_view name = "call";

  [[nodiscard]] static constexpr attributes how(std::int32_t body) noexcept {
    return integer_attributes(body);
  }
  [[nodiscard]] static constexpr std::int32_t body(const attributes& how) noexcept {
    return static_cast<std::int32_t>(how.integers[0]);
  }
  [[nodiscard]] static constexpr bounded_text<47> label(const attributes& how) noexcept {
    bounded_text<47> words;
    words << name << " body " << how.integers[0];
    return words;
  }
};

/// Returns true for an input of a program.
[[nodiscard]] constexpr bool is_input(const operation& what) noexcept {
  return what.id == operation_of<input_operation>.id;
}
/// Returns true for an argument of a function whose gradient is being taken.
[[nodiscard]] constexpr bool is_argument(const operation& what) noexcept {
  return what.id == operation_of<argument_operation>.id;
}
/// Returns true for the placeholder of a cotangent, and for the mark of a custom gradient.
[[nodiscard]] constexpr bool is_cotangent(const operation& what) noexcept {
  return what.id == operation_of<cotangent_operation>.id;
}
[[nodiscard]] constexpr bool is_custom_gradient(const operation& what) noexcept {
  return what.id == operation_of<custom_gradient_operation>.id;
}
/// Returns true for a number.
[[nodiscard]] constexpr bool is_constant(const operation& what) noexcept {
  return what.id == operation_of<constant_operation>.id;
}

/// Returns true for a call of a body.
[[nodiscard]] constexpr bool is_call(const operation& what) noexcept {
  return what.id == operation_of<call_operation>.id;
}
/// Returns true for a further result of an operation or a call.
[[nodiscard]] constexpr bool is_result(const operation& what) noexcept {
  return what.id == operation_of<result_operation>.id;
}

}  // namespace shardwise
