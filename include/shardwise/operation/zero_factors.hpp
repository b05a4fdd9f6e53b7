// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/arithmetic.hpp"
#include "shardwise/operation/comparison.hpp"

namespace shardwise {

/// Returns `1 + x` for factors of a product that are 0, and 0 for the others. The sum is the number
/// of zeros, and its derivative with respect to each of them is 1, which `times_zeros` needs.
[[nodiscard]] constexpr gradient_value zero_factors(const gradient_value& x,
                                                    const gradient_value& is_zero) {
  return masked(x + 1, is_zero);
}
/// Returns a value where it is finite, and 0 elsewhere.
[[nodiscard]] constexpr gradient_value where_finite(gradient_step& at,
                                                    const gradient_value& value) {
  return masked(value, elementwise<functions::equal>(value - value, at.number(0, value)));
}
/// Returns `product`, that of the factors that are not 0, times those that are; `zeros` is the sum
/// of their `zero_factors`. With a single zero, the value is 0, but its derivative with respect to
/// the zero is `product`; gradients of second order read it. With more, both are 0.
[[nodiscard]] constexpr gradient_value times_zeros(gradient_step& at, const gradient_value& product,
                                                   const gradient_value& zeros) {
  const gradient_value has_none = elementwise<functions::equal>(zeros, at.number(0, zeros));
  const gradient_value has_one = elementwise<functions::equal>(zeros, at.number(1, zeros));
  return masked(product, has_none) + masked(where_finite(at, product) * (zeros + -1), has_one);
}

}  // namespace shardwise
