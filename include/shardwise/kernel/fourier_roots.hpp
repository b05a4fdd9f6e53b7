// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/index.hpp"
#include "shardwise/kernel/scratch_memory.hpp"

#include <cmath>
#include <cstddef>
#include <utility>

namespace shardwise::detail {

/// A complex number, or a packet of them.
template <class V>
struct complex_of {
  V re, im;
};

/// The complex roots of unity of one order. Angles are reduced to an eighth of the circle, so that
/// roots that are mirror images of each other have the same digits.
class fourier_roots {
 public:
  explicit fourier_roots(index_t order) : order_(order) {
    if (order % 8 != 0) return;
    table_.reserve(static_cast<std::size_t>(order / 8 + 1));
    for (index_t k = 0; k <= order / 8; ++k) table_.push_back(in_first_eighth(8 * k));
  }
  /// Returns `exp(-2 pi i k / order)`, rounded to `T`.
  template <class T>
  [[nodiscard]] complex_of<T> at(index_t k) const noexcept {
    // Angles are in units of an eighth of `order` parts of the circle.
    index_t angle = 8 * (k % order_);
    const bool is_below = angle > 4 * order_;
    if (is_below) angle = 8 * order_ - angle;
    const bool is_left = angle > 2 * order_;
    if (is_left) angle = 4 * order_ - angle;
    const bool is_steep = angle > order_;
    if (is_steep) angle = 2 * order_ - angle;
    complex_of<double> root =
        table_.empty() ? in_first_eighth(angle) : table_[static_cast<std::size_t>(angle / 8)];
    if (is_steep) std::swap(root.re, root.im);
    return {static_cast<T>(is_left ? -root.re : root.re),
            static_cast<T>(is_below ? root.im : -root.im)};
  }

 private:
  [[nodiscard]] complex_of<double> in_first_eighth(index_t angle) const noexcept {
    constexpr double quarter_of_pi = 0.785398163397448309616;
    const double radians =
        quarter_of_pi * (static_cast<double>(angle) / static_cast<double>(order_));
    return {std::cos(radians), std::sin(radians)};
  }

  index_t order_;
  scratch_vector<complex_of<double>> table_{};
};

}  // namespace shardwise::detail
