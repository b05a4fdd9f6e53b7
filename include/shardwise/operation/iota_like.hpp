// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/expression/whole.hpp"
#include "shardwise/operation/as.hpp"
#include "shardwise/operation/over.hpp"

namespace shardwise {

/// The operation that returns the index of each element along a dimension, which is its only
/// integer. It uses only the extents and the layout of its operand.
struct iota_like_operation : of_any_elements {
  static constexpr text_view name = "iota_like";
  static constexpr dims_among names{.count = 1};

  [[nodiscard]] static constexpr attributes how(int dim) noexcept {
    return integer_attributes(dim);
  }
  [[nodiscard]] static constexpr factor_rule rule(const attributes&,
                                                  const tensor_descs& operands) noexcept {
    return same_dimensions_rule(linearity::nonlinear, operands[0].rank());
  }
  [[nodiscard]] static constexpr diagnosis check(const attributes& how,
                                                 const tensor_descs& operands) noexcept {
    return over(how.integers[0]).judge(operands[0].rank());
  }
  [[nodiscard]] static constexpr element result_type(const attributes&,
                                                     const tensor_descs&) noexcept {
    return element::i64;
  }
  [[nodiscard]] static constexpr bounded_text<47> label(const attributes& how) noexcept {
    return words_of(name, how);
  }
};

/// The operation whose attributes are types.
template <int Dim>
struct iota_like_of {
  using operation_class = iota_like_operation;
  static constexpr attributes how = iota_like_operation::how(Dim);
};

/// Returns the index of each element along a dimension, with the layout of `x`, whose values are
/// not used. Such indices are used to make masks. Every layout is accepted, since each device knows
/// which elements it holds.
///
///     auto causal = iota_like<0>(scores) >= iota_like<1>(scores);    // bool[8@data, 8]
template <int Dim, NamedOperand X, internal::Terms Given = across_axes<>>
[[nodiscard]] constexpr auto iota_like(X&& x, const Given& given = {})
    -> decltype(apply_operation<iota_like_of<Dim>>(given, static_cast<X&&>(x))) {
  return apply_operation<iota_like_of<Dim>>(given, static_cast<X&&>(x));
}

}  // namespace shardwise
