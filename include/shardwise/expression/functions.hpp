// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/text.hpp"
#include "shardwise/rule/linearity.hpp"

/// The elementwise functions, on paper: what each is called, how it treats pending reductions and
/// what it costs. Their kernels are in `runtime/function_kernels.hpp`, one for each.
namespace shardwise::functions {

/// What functions of one operation have in common that read values, and so no terms of them.
struct nonlinear_function {
  static constexpr linearity law = linearity::nonlinear;
  static constexpr int flops = 1;
};

struct identity {
  static constexpr text_view symbol = "identity";
  static constexpr linearity law = linearity::additive;
  static constexpr int flops = 0;
};
struct negate {
  static constexpr text_view symbol = "negate";
  static constexpr linearity law = linearity::additive;
  static constexpr int flops = 1;
};
struct add {
  static constexpr text_view symbol = "+";
  static constexpr linearity law = linearity::additive;
  static constexpr int flops = 1;
};
struct subtract {
  static constexpr text_view symbol = "-";
  static constexpr linearity law = linearity::additive;
  static constexpr int flops = 1;
};
struct multiply {
  static constexpr text_view symbol = "*";
  static constexpr linearity law = linearity::multilinear;
  static constexpr int flops = 1;
};
struct divide {
  static constexpr text_view symbol = "/";
  static constexpr linearity law = linearity::first_operand;
  static constexpr int flops = 1;
};
struct maximum {
  static constexpr text_view symbol = "maximum";
  static constexpr linearity law = linearity::max_of;
  static constexpr int flops = 1;
};
struct minimum {
  static constexpr text_view symbol = "minimum";
  static constexpr linearity law = linearity::min_of;
  static constexpr int flops = 1;
};
struct abs : nonlinear_function {
  static constexpr text_view symbol = "abs";
};
struct square : nonlinear_function {
  static constexpr text_view symbol = "square";
};
/// Of float and double only: what it gives are fractions.
struct fractional_function : nonlinear_function {
  static constexpr bool has_fractions = true;
};
struct sqrt : fractional_function {
  static constexpr text_view symbol = "sqrt";
};
struct exp : fractional_function {
  static constexpr text_view symbol = "exp";
};
struct log : fractional_function {
  static constexpr text_view symbol = "log";
};
struct tanh : fractional_function {
  static constexpr text_view symbol = "tanh";
};
struct sigmoid : fractional_function {
  static constexpr text_view symbol = "sigmoid";
  static constexpr int flops = 4;
};
struct relu : nonlinear_function {
  static constexpr text_view symbol = "relu";
};
/// The tanh form: 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))).
struct gelu : fractional_function {
  static constexpr text_view symbol = "gelu";
  static constexpr int flops = 9;
};
/// 1 where the operands are equal, 0 elsewhere.
struct equal : nonlinear_function {
  static constexpr text_view symbol = "equal";
};
/// 1 where the first operand is less, 0 elsewhere.
struct less : nonlinear_function {
  static constexpr text_view symbol = "less";
};
/// 1 where the first operand is less or equal, 0 elsewhere.
struct less_equal : nonlinear_function {
  static constexpr text_view symbol = "less_equal";
};
/// 1 where the first operand is greater, 0 elsewhere.
struct greater : nonlinear_function {
  static constexpr text_view symbol = "greater";
};
/// 1 where the first operand is greater or equal, 0 elsewhere.
struct greater_equal : nonlinear_function {
  static constexpr text_view symbol = "greater_equal";
};
/// The second operand where the first is not zero, the third elsewhere.
struct where : nonlinear_function {
  static constexpr text_view symbol = "where";
};

}  // namespace shardwise::functions
