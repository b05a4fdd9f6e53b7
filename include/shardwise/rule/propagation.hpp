// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/layout/tensor_desc.hpp"
#include "shardwise/rule/factor_rule.hpp"

namespace shardwise {

/// The outcome of a rule for given operands: the result, and how every factor is split. `grains`
/// holds the grain of each factor, by number.
struct propagation {
  tensor_desc result{};
  /// The axes that split each factor, its size, and its grain.
  inplace_vector<axis_list, max_factors> axes{};
  factor_sizes sizes{};
  grain grains[max_factors]{};
  diagnosis verdict{};
};

/// The descriptions of the operands of an operation.
using tensor_descs = inplace_vector<tensor_desc, max_operands>;

namespace internal {

/// Returns the axes without those of size 1, which split nothing.
[[nodiscard]] constexpr axis_list real_axes(const mesh_desc& mesh, const axis_list& axes) noexcept {
  axis_list real;
  for (std::uint8_t a : axes)
    if (mesh.size(a) != 1) real.push_back(a);
  return real;
}

/// Returns a bit for each axis.
[[nodiscard]] constexpr unsigned bits_of(const axis_list& axes) noexcept {
  unsigned bits = 0;
  for (int i = 0; i < axes.ssize(); ++i) bits |= 1U << axes[i];
  return bits;
}

}  // namespace internal
}  // namespace shardwise
