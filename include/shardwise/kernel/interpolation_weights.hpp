// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/index.hpp"
#include "shardwise/kernel/scratch_memory.hpp"
#include "shardwise/operation/interpolate.hpp"

#include <algorithm>
#include <cstddef>
#include <span>

namespace shardwise::detail {

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

/// The weights with which each result along a dimension is a sum of elements, in the order of the
/// elements. Weights that are 0 are left out: what a result does not depend on may be infinite.
template <class C>
class interpolation_weights {
 public:
  struct term {
    index_t from = 0;
    C weight{};
  };

  /// The weights of the new elements, or of the transposed map: which new elements depend on each
  /// element, and how.
  interpolation_weights(const interpolated_positions& positions, bool is_transposed)
      : begins_(static_cast<std::size_t>(is_transposed ? positions.size : positions.new_size) + 1) {
    const auto for_each_term = [&](const auto& f) {
      for (index_t i = 0; i < positions.new_size; ++i) {
        inplace_vector<term, 4> terms;
        add_terms(positions, i, terms);
        for (const term& one : terms) is_transposed ? f(one.from, term{i, one.weight}) : f(i, one);
      }
    };
    // Counted first, then stored behind those of the results before.
    for_each_term([&](index_t result, const term&) { ++begins_[at(result) + 1]; });
    for (std::size_t i = 1; i < begins_.size(); ++i) begins_[i] += begins_[i - 1];
    terms_.resize(begins_.back());
    scratch_vector<std::size_t> ends(begins_.begin(), begins_.end() - 1);
    for_each_term([&](index_t result, const term& one) { terms_[ends[at(result)]++] = one; });
  }

  [[nodiscard]] std::span<const term> of(index_t result) const noexcept {
    const std::size_t begin = begins_[at(result)];
    return {terms_.data() + begin, begins_[at(result) + 1] - begin};
  }

 private:
  [[nodiscard]] static constexpr std::size_t at(index_t i) noexcept {
    return static_cast<std::size_t>(i);
  }
  /// Adds up the weights of each element.
  static void add_terms(const interpolated_positions& positions, index_t i,
                        inplace_vector<term, 4>& terms) {
    index_t last = -1;
    double weight = 0;
    const auto finish = [&] {
      if (const auto rounded = static_cast<C>(weight); rounded != C{0})
        terms.push_back({last, rounded});
    };
    positions.for_each_weight(i, [&](index_t from, double more) {
      if (from != last) finish();
      weight = from == last ? weight + more : more;
      last = from;
    });
    finish();
  }

  scratch_vector<std::size_t> begins_;
  scratch_vector<term> terms_;
};

}  // namespace shardwise::detail
