// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/einsum.hpp"
#include "shardwise/operation/matrices.hpp"
#include "shardwise/operation/reshape.hpp"
#include "shardwise/operation/search.hpp"

#include <utility>

namespace shardwise {

/// The operation that computes the eigenvectors of symmetric matrices.
struct eigenvectors_operation : detail::of_square_matrices {
  static constexpr text_view name = "eigenvectors";

  [[nodiscard]] static constexpr operation_cost cost(const mesh_desc& mesh, const attributes&,
                                                     const tensor_descs& operands,
                                                     const tensor_desc&) noexcept {
    return cost_of(mesh, operands[0], 9 * operands[0].extents[operands[0].rank() - 1]);
  }
  using emits =
      emitted_operations<einsum_operation, tril_operation, triu_operation, reshape_operation>;
  /// `v k transpose(v)`, where `k` has the elements of `transpose(v) dv` divided by the differences
  /// of two eigenvalues, and 0 on the diagonal.
  static constexpr void gradient(gradient_step& at) {
    const gradient_value v = at.result();
    const int rank = v.tensor().rank();
    const gradient_value products = detail::batched_product(at.operand(0), "xz", v, "zy", "xy") * v;
    attributes rows = reduction_operation::how(reduction::sum, 1U << (rank - 2), true);
    const gradient_value values = emit<reduction_operation>(rows, products);
    extents_desc column = values.tensor().extents;
    std::swap(column[rank - 1], column[rank - 2]);
    const auto beside_diagonal = [](const gradient_value& x) {
      return emit<tril_operation>(tril_operation::how(-1), x) +
             emit<triu_operation>(triu_operation::how(1), x);
    };
    // The differences on the diagonal, which are 0, are not divided by.
    const gradient_value apart = values - internal::shaped(values, column);
    const gradient_value zero = at.number(0, v), one = at.number(1, v);
    const gradient_value ones = masked(apart, elementwise<functions::greater>(zero, one)) + one;
    const gradient_value safe = apart + (ones - beside_diagonal(ones));
    const gradient_value k = detail::batched_product(v, "zx", at.cotangent(), "zy", "xy") / safe;
    const gradient_value left = detail::batched_product(v, "xz", beside_diagonal(k), "zy", "xy");
    at.give(0, detail::batched_product(left, "xz", v, "yz", "xy"));
  }
};

namespace linalg {

/// The operation as a type.
struct eigh_of : without_attributes<eigenvectors_operation> {};

}  // namespace linalg

namespace detail {
template <class Permitted>
struct eigh_steps {
  template <class X>
  [[nodiscard]] static constexpr auto apply(const X& given) {
    using T = typename X::value_type;
    const auto x = whole_matrices<linalg::eigh_of, Permitted>(given);
    const auto symmetric = (x + einsum<"...ij->...ji">(x)) * 0.5;
    const auto vectors = apply_operation<linalg::eigh_of>(symmetric);
    const auto values =
        einsum<"...ij,...ij->...j">(vectors, einsum<"...ij,...jk->...ik">(symmetric, vectors));
    return std::pair(narrowed<T>(values), narrowed<T>(vectors));
  }
};
template <class Permitted>
using eigh_call = composed_call<linalg::eigh_of, Permitted, eigh_steps<Permitted>>;

}  // namespace detail

namespace internal {

template <class Permitted>
inline constexpr int result_count<eigh_call<Permitted>> = 2;
}  // namespace internal

namespace linalg {

/// Returns the eigenvalues of symmetric matrices, the last two dimensions, in ascending order, and
/// their eigenvectors, the columns of orthogonal matrices. The mean of a matrix and its transpose
/// is decomposed. The other dimensions may be split. Gradients are not finite if eigenvalues are
/// equal.
///
///     auto [values, vectors] = linalg::eigh(covariance);     // f32[8@data, 4], f32[8@data, 4, 4]
template <NamedOperand X, internal::Terms Given = across_axes<>>
[[nodiscard]] constexpr internal::outcome_on<detail::eigh_call<internal::permitted_by<Given>>,
                                             Given, X>
eigh(X&& x, const Given& given = {}) {
  return internal::carry_out_on<detail::eigh_call<internal::permitted_by<Given>>>(
      given, static_cast<X&&>(x));
}

}  // namespace linalg

}  // namespace shardwise
