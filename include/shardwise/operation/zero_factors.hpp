// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/arithmetic.hpp"
#include "shardwise/operation/comparison.hpp"

namespace shardwise {

/// Returns 1 plus the factor for every factor of a product that is 0, and 0 for the others. A sum
/// of these is the number of zeros; its derivatives are those of the zeros, for `times_zeros`.
[[nodiscard]] constexpr gradient_value zero_factors(const gradient_value& x,
                                                    const gradient_value& is_zero) {
  return masked(x + 1, is_zero);
}
/// Returns the product of the factors that are not 0 times the zeros, as many as `zeros`, a sum of
/// `zero_factors`. The value is 0 if there is a zero; it has the derivative of a single one, which
/// gradients of second order read.
[[nodiscard]] constexpr gradient_value times_zeros(gradient_step& at, const gradient_value& product,
                                                   const gradient_value& zeros) {
  const gradient_value has_none = elementwise<functions::equal>(zeros, at.number(0, zeros));
  const gradient_value has_one = elementwise<functions::equal>(zeros, at.number(1, zeros));
  return elementwise<functions::where>(has_none, product, masked(product * (zeros + -1), has_one));
}

}  // namespace shardwise
