// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/as.hpp"
#include "shardwise/operation/over.hpp"
#include "shardwise/rule/gradient_step.hpp"

namespace shardwise {

/// The operation that reverses the order of elements along dimensions, which are its integers.
struct flip_operation : of_any_elements {
  static constexpr text_view name = "flip";
  static constexpr dims_among names{};
  static constexpr views_read reads = views_read::any;

  [[nodiscard]] static constexpr factor_rule rule(const attributes& how,
                                                  const tensor_descs& operands) noexcept {
    factor_rule out = same_dimensions_rule(linearity::structural, operands[0].rank());
    for (index_t d : how.integers) out.factors[d] = factor_kind::permutation;
    return out;
  }
  [[nodiscard]] static constexpr diagnosis check(const attributes& how,
                                                 const tensor_descs& operands) noexcept {
    return over(how.integers).judge(operands[0].rank());
  }
  [[nodiscard]] static constexpr strided_elements view(const attributes& how, const factor_rule&,
                                                       const strided_elements& from,
                                                       const extents_desc&) noexcept {
    strided_elements out = from;
    // A dimension that is listed twice is reversed once.
    const unsigned flipped = over(how.integers).bits();
    for (int d = 0; d < from.extents.ssize(); ++d) {
      if ((flipped >> d & 1U) == 0 || from.extents[d] == 0) continue;
      out.offset += (from.extents[d] - 1) * from.strides[d];
      out.strides[d] = -from.strides[d];
    }
    return out;
  }
  [[nodiscard]] static constexpr bounded_text<47> label(const attributes& how) noexcept {
    return words_of(name, how);
  }
  static constexpr void gradient(gradient_step& at) {
    at.give(0, emit<flip_operation>(at.how(), at.cotangent()));
  }
};

/// A flip along `Dims` whose attributes are types.
template <int... Dims>
struct flip_of {
  using operation_class = flip_operation;
  static constexpr attributes how = integer_attributes(Dims...);
};

}  // namespace shardwise
