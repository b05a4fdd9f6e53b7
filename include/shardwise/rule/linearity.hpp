// SPDX-License-Identifier: BSL-1.0
#pragma once

namespace shardwise {

/// How a function of several operands treats values whose reduction is pending: the closed list of
/// ways in which it may be computed before the reduction instead of after it.
enum class linearity : unsigned char {
  /// f(x + y) != f(x) + f(y): no operand may be pending. exp, relu, comparison.
  nonlinear,
  /// f(x + y, u + v) = f(x, u) + f(y, v): all operands pending sums over the same axes. add,
  /// negate.
  additive,
  /// Linear in each operand alone: pending sums over different axes combine. multiply, einsum.
  /// A rule with another reduction distributes over that one, whose pending values combine.
  multilinear,
  /// Linear in the first operand; the others are not pending. divide.
  first_operand,
  /// The maximum of maxima: all operands pending maxima over the same axes.
  max_of,
  /// The minimum of minima: all operands pending minima over the same axes.
  min_of,
  /// The product of products: all operands pending products over the same axes.
  product_of,
  /// Elements are only rearranged: all operands are pending alike, with any reduction. transpose.
  structural,
};

}  // namespace shardwise
