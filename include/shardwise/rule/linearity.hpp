// SPDX-License-Identifier: BSL-1.0
#pragma once

namespace shardwise {

/// How a function of several operands treats values with a pending reduction: the closed list of
/// cases in which it may be computed before the reduction instead of after it.
enum class linearity : unsigned char {
  /// f(x + y) != f(x) + f(y): no operand may be pending. Examples: exp, relu, comparison.
  nonlinear,
  /// f(x + y, u + v) = f(x, u) + f(y, v): all operands are pending sums over the same axes.
  /// Examples: add, negate.
  additive,
  /// Linear in each operand separately: pending sums over different axes combine. Examples:
  /// multiply, einsum. A rule with another reduction distributes over that reduction, whose pending
  /// values combine.
  multilinear,
  /// Linear in the first operand; the others are not pending. Example: divide.
  first_operand,
  /// The maximum of maxima: all operands pending maxima over the same axes.
  max_of,
  /// The minimum of minima: all operands pending minima over the same axes.
  min_of,
  /// The product of products: all operands pending products over the same axes.
  product_of,
  /// Elements are only moved: all operands have the same pending reduction, of any kind. Example:
  /// transpose.
  structural,
};

}  // namespace shardwise
