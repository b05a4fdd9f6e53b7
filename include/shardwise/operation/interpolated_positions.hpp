// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/index.hpp"
#include "shardwise/operation/interpolate.hpp"

#include <algorithm>

namespace shardwise::internal {

/// How the elements of a resized dimension lie among those of the original one. Positions are exact
/// quotients of integers.
struct interpolated_positions {
  interpolation method = interpolation::nearest;
  bool is_aligned = false;
  index_t size = 0;
  index_t new_size = 0;

  /// A quotient of integers, whose denominator is positive.
  struct quotient {
    index_t numerator = 0;
    index_t denominator = 1;

    [[nodiscard]] constexpr index_t floor() const noexcept {
      const index_t cut = numerator / denominator;
      return cut - (cut * denominator > numerator ? 1 : 0);
    }
    /// Returns the distance from the integer below.
    [[nodiscard]] constexpr double rest() const noexcept {
      return static_cast<double>(numerator - floor() * denominator) /
             static_cast<double>(denominator);
    }
  };

  /// Returns the position of a new element in the original dimension, where elements have their
  /// indices as positions.
  [[nodiscard]] constexpr quotient at(index_t i) const noexcept {
    if (!is_aligned) return {(2 * i + 1) * size - new_size, 2 * new_size};
    return {i * (size - 1), std::max<index_t>(new_size - 1, 1)};
  }
  /// Returns the index of the nearest element.
  [[nodiscard]] constexpr index_t nearest(index_t i) const noexcept {
    if (method == interpolation::nearest && !is_aligned)
      return quotient{i * size, new_size}.floor();
    const quotient here = at(i);
    return quotient{2 * here.numerator + here.denominator, 2 * here.denominator}.floor();
  }
  [[nodiscard]] constexpr index_t within(index_t i) const noexcept {
    return std::clamp<index_t>(i, 0, size - 1);
  }
  /// Calls `f(index, weight)` for each element of which new element `i` is a sum; an index may be
  /// repeated.
  template <class F>
  constexpr void for_each_weight(index_t i, const F& f) const {
    if (interpolate_operation::picks(method)) return f(nearest(i), 1.0);
    const quotient here = at(i);
    const index_t before = here.floor();
    const double t = here.rest();
    if (method == interpolation::linear) {
      f(within(before), 1 - t);
      f(within(before + 1), t);
      return;
    }
    const double u = 1 - t;
    f(within(before - 1), far_weight(1 + t));
    f(within(before), near_weight(t));
    f(within(before + 1), near_weight(u));
    f(within(before + 2), far_weight(1 + u));
  }

 private:
  static constexpr double keys = -0.75;

  /// Returns the weights of elements at a distance of at most 1 and from 1 to 2.
  [[nodiscard]] static constexpr double near_weight(double x) noexcept {
    return ((keys + 2) * x - (keys + 3)) * x * x + 1;
  }
  [[nodiscard]] static constexpr double far_weight(double x) noexcept {
    return keys * (((x - 5) * x + 8) * x - 4);
  }
};

}  // namespace shardwise::internal
