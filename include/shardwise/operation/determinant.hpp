// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/search.hpp"
#include "shardwise/operation/solve.hpp"

namespace shardwise {

namespace detail {
/// The common part of functions of the determinants of matrices.
struct of_determinants : of_square_matrices {
  [[nodiscard]] static constexpr factor_rule rule(const attributes& how,
                                                  const tensor_descs& operands) noexcept {
    factor_rule out = of_square_matrices::rule(how, operands);
    out.result.pop_back();
    out.result.pop_back();
    return out;
  }
  [[nodiscard]] static constexpr operation_cost cost(const mesh_desc& mesh, const attributes&,
                                                     const tensor_descs& operands,
                                                     const tensor_desc&) noexcept {
    const index_t rows = operands[0].extents[operands[0].rank() - 1];
    return {.flops = cost_of(mesh, operands[0], 2 * rows).flops / 3};
  }
  using emits = emitted_operations<inverse_operation, transpose_operation, reshape_operation>;
  /// Gives a number for each matrix times the transpose of its inverse.
  static constexpr void give_scaled(gradient_step& at, const gradient_value& scale) {
    const gradient_value inverses = emit<inverse_operation>({}, at.operand(0));
    extents_desc column = scale.tensor().extents;
    column.push_back(1);
    column.push_back(1);
    at.give(0, transposed(inverses) * shaped(scale, column));
  }
};
}  // namespace detail

/// The operation that computes determinants.
struct determinant_operation : detail::of_determinants {
  static constexpr text_view name = "determinant";

  static constexpr void gradient(gradient_step& at) {
    give_scaled(at, at.cotangent() * at.result());
  }
};
/// The operation that computes the signs of determinants and the logarithms of their absolute
/// values.
struct slogdet_operation : detail::of_determinants {
  static constexpr text_view name = "slogdet";

  /// The signs are constant.
  static constexpr void gradient(gradient_step& at) { give_scaled(at, at.cotangent(1)); }
};

namespace linalg {

/// The operations as types.
struct determinant_of : without_attributes<determinant_operation> {};
struct slogdet_of : without_attributes<slogdet_operation> {};

}  // namespace linalg

namespace detail {
template <class Permitted>
using slogdet_call =
    fractional_call<linalg::slogdet_of, pair_call<linalg::slogdet_of, Permitted, void>>;

}  // namespace detail

namespace internal {

template <class Permitted>
inline constexpr int result_count<slogdet_call<Permitted>> = 2;
}  // namespace internal

namespace linalg {

/// Returns the determinants of square matrices, the last two dimensions. The gradient at a singular
/// matrix is not finite.
///
///     auto d = linalg::determinant(a);                 // f32[8@data, 4, 4] -> f32[8@data]
template <NamedOperand X, internal::Terms Given = across_axes<>>
[[nodiscard]] constexpr detail::matrix_outcome<determinant_of, Given, X> determinant(
    X&& x, const Given& given = {}) {
  return detail::carry_out_on_matrices<determinant_of, Given, X>(given, static_cast<X&&>(x));
}
/// Returns the signs of determinants and the logarithms of their absolute values, which can be
/// represented where the determinants cannot. For a singular matrix they are 0 and minus infinity.
///
///     auto [sign, log_size] = linalg::slogdet(covariance);     // two f32[8@data]
template <NamedOperand X, internal::Terms Given = across_axes<>>
[[nodiscard]] constexpr internal::outcome_on<detail::slogdet_call<internal::permitted_by<Given>>,
                                             Given, X>
slogdet(X&& x, const Given& given = {}) {
  return internal::carry_out_on<detail::slogdet_call<internal::permitted_by<Given>>>(
      given, static_cast<X&&>(x));
}

}  // namespace linalg

}  // namespace shardwise
