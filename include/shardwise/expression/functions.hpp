// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/fixed_string.hpp"
#include "shardwise/core/text.hpp"
#include "shardwise/rule/linearity.hpp"

/// The elementwise functions, on paper: what each is called, how it treats pending reductions and
/// what it costs. Their kernels are in `runtime/function_kernels.hpp`, one for each.
namespace shardwise::functions {

/// What a function is called, how it treats pending reductions, and what it costs an element.
template <fixed_string Symbol, linearity Law = linearity::nonlinear, int Flops = 1>
struct described {
  static constexpr text_view symbol = Symbol;
  static constexpr linearity law = Law;
  static constexpr int flops = Flops;
};
/// The same for those of float and double only: what they give are fractions.
template <fixed_string Symbol, int Flops = 1>
struct fractional : described<Symbol, linearity::nonlinear, Flops> {
  static constexpr bool has_fractions = true;
};

struct identity : described<"identity", linearity::additive, 0> {};
struct negate : described<"negate", linearity::additive> {};
struct add : described<"+", linearity::additive> {};
struct subtract : described<"-", linearity::additive> {};
struct multiply : described<"*", linearity::multilinear> {};
struct divide : described<"/", linearity::first_operand> {};
struct maximum : described<"maximum", linearity::max_of> {};
struct minimum : described<"minimum", linearity::min_of> {};
struct abs : described<"abs"> {};
struct square : described<"square"> {};
struct sqrt : fractional<"sqrt"> {};
struct exp : fractional<"exp"> {};
struct log : fractional<"log"> {};
struct tanh : fractional<"tanh"> {};
struct sigmoid : fractional<"sigmoid", 4> {};
struct relu : described<"relu"> {};
/// The tanh form: 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))).
struct gelu : fractional<"gelu", 9> {};
/// 1 where the operands are equal, 0 elsewhere; those that follow compare alike.
struct equal : described<"equal"> {};
struct less : described<"less"> {};
struct less_equal : described<"less_equal"> {};
struct greater : described<"greater"> {};
struct greater_equal : described<"greater_equal"> {};
/// The second operand where the first is not zero, the third elsewhere.
struct where : described<"where"> {};

}  // namespace shardwise::functions
