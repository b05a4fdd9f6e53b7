// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/arithmetic_kernels.hpp"
#include "shardwise/operation/special.hpp"

#include <cmath>

namespace shardwise {

/// Within 1 ulp.
template <>
struct kernel<functions::hypot> {
  template <class Result, class T>
  [[nodiscard]] static Result of(T a, T b) noexcept {
    return std::hypot(a, b);
  }
};
/// Exact.
template <>
struct kernel<functions::copysign> {
  template <class Result, class T>
  [[nodiscard]] static Result of(T a, T b) noexcept {
    return std::copysign(a, b);
  }
};
/// The product of `x` and the logarithm of the C library, rounded once more.
template <>
struct kernel<functions::xlogy> {
  template <class Result, class T>
  [[nodiscard]] static Result of(T x, T y) noexcept {
    return x == T{} && y == y ? T{} : x * std::log(y);
  }
};

}  // namespace shardwise
