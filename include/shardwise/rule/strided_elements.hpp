// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/index.hpp"
#include "shardwise/core/inplace_vector.hpp"
#include "shardwise/rule/factor_rule.hpp"

#include <cstdint>

namespace shardwise {

/// Returns the strides of a contiguous row-major block.
[[nodiscard]] constexpr inplace_vector<index_t, max_rank> row_major(
    const inplace_vector<index_t, max_rank>& extents) noexcept {
  inplace_vector<index_t, max_rank> strides;
  strides.resize(extents.size());
  index_t step = 1;
  for (int d = extents.ssize() - 1; d >= 0; --d) {
    strides[d] = step;
    step *= extents[d];
  }
  return strides;
}

/// The elements of some memory that form a block: the position of the first one, the extents, and
/// the distance between adjacent elements along each dimension (0 repeats an element).
struct strided_elements {
  index_t offset = 0;
  inplace_vector<index_t, max_rank> extents{};
  inplace_vector<index_t, max_rank> strides{};

  friend constexpr bool operator==(const strided_elements&, const strided_elements&) = default;
};

/// The views through which a step can read an operand: none; those whose rows, along the last
/// dimension, are rows of the operand, or parts of them; any. Each includes the ones before.
enum class views_read : std::uint8_t { never, of_rows, any };

/// Returns the elements of a block in the order of the dimensions of a result, with the extents
/// `made`: those that have a factor of the operand are traversed with it, and others repeat the
/// element.
[[nodiscard]] constexpr strided_elements by_factors(
    const factor_rule& rule, const strided_elements& from,
    const inplace_vector<index_t, max_rank>& made) noexcept {
  strided_elements out{from.offset, made, {}};
  for (int r = 0; r < made.ssize(); ++r) {
    const int d = rule.result[r] == repeated ? -1 : rule.operands[0].find(rule.result[r]);
    out.strides.push_back(d < 0 ? 0 : from.strides[d]);
  }
  return out;
}

}  // namespace shardwise
