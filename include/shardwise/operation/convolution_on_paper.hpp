// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/convolution_transpose.hpp"
#include "shardwise/operation/paper_steps.hpp"

#include <type_traits>

namespace shardwise::detail {

/// A transposed convolution, whose attributes are those of the convolution that it is computed as.
struct transposed_judge {
  /// The rule of that convolution, for weights `[channels, features / groups, window...]`.
  [[nodiscard]] static constexpr factor_rule rule(const attributes& how,
                                                  const tensor_descs& operands) noexcept {
    factor_rule out = convolution_operation::rule(how, as_convolution(how, operands));
    factor_map& weights = out.operands[1];
    const bool has_groups = window_attributes::groups(how) != 1;
    const std::uint8_t features = has_groups ? out.composites[1].parts[1] : weights[0];
    weights[0] = out.operands[0][1];
    weights[1] = features;
    return out;
  }
  [[nodiscard]] static constexpr diagnosis check(const attributes& how,
                                                 const tensor_descs& operands) noexcept {
    const diagnosis shapes = convolved::check(how, operands, 0);
    return shapes.ok() ? convolution_operation::check(how, as_convolution(how, operands)) : shapes;
  }

 private:
  [[nodiscard]] static constexpr tensor_descs as_convolution(
      const attributes& how, const tensor_descs& operands) noexcept {
    tensor_descs out = operands;
    const extents_desc& have = operands[1].extents;
    const index_t groups = window_attributes::groups(how);
    out[1].extents[0] = have[1] == dyn ? dyn : groups * have[1];
    out[1].extents[1] = have[0] == dyn ? dyn : have[0] / groups;
    return out;
  }
};

/// The steps of convolutions on abstract tensors.
namespace composed_steps {

constexpr void convolution_transpose(paper_steps& at, const attributes& how, const tensor_descs& x,
                                     tensor_results& out) {
  const tensor_desc weights = convolved::turned(
      x[1], x[1].extents, window_attributes::groups(how),
      [&]<class Class>(std::type_identity<Class>, const attributes& step, const tensor_desc& w) {
        return at.apply<Class>(step, at.gathered(Class::rule(step, {w}), {w})[0]);
      });
  if (!at.verdict().ok()) return;
  const tensor_descs operands{x[0], weights};
  const tensor_descs read = at.gathered(convolution_operation::rule(how, operands), operands);
  out.push_back(at.apply(operation_of<convolution_operation>, how, read));
}

}  // namespace composed_steps
}  // namespace shardwise::detail
