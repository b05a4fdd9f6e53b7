// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/by_extents.hpp"
#include "shardwise/operation/gathered_call.hpp"
#include "shardwise/operation/svd.hpp"

#include <limits>
#include <utility>

namespace shardwise {

/// The pseudo-inverses of matrices on abstract tensors. They are computed as a composition of other
/// operations.
struct pinv_operation : detail::of_matrices {
  static constexpr text_view name = "pinv";
  static constexpr bool has_fractions = true;

  /// The result has the extents of the transposed matrices.
  [[nodiscard]] static constexpr factor_rule rule(const attributes& how,
                                                  const tensor_descs& operands) noexcept {
    const int rank = operands[0].rank();
    factor_rule out = of_matrices::rule(how, operands);
    std::swap(out.result[rank - 2], out.result[rank - 1]);
    return out;
  }
  [[nodiscard]] static constexpr diagnosis check(const attributes& how,
                                                 const tensor_descs& operands) noexcept {
    return singular_vectors_operation::check(how, operands);
  }
  /// Returns the maximum of the singular values, which is kept with size 1.
  [[nodiscard]] static constexpr attributes largest(const extents_desc& values) noexcept {
    return reduction_operation::how(reduction::max, 1U << (values.ssize() - 1), true);
  }
};

namespace linalg {

/// The operation as a type.
struct pinv_of : without_attributes<pinv_operation> {};

}  // namespace linalg

namespace detail {
struct pinv_steps {
  template <class X>
  [[nodiscard]] static constexpr auto apply(const X& given) {
    using T = typename X::value_type;
    const auto [u, s, vh] = linalg::svd(widened(given));
    const extents_desc& extents = given.extents();
    const int rank = extents.ssize();
    const index_t rows = extents[rank - 2], columns = extents[rank - 1];
    const double relative = static_cast<double>(rows < columns ? columns : rows) *
                            static_cast<double>(std::numeric_limits<compute_type<T>>::epsilon());
    const auto is_used =
        s > apply_by_extents<reduction_operation, &pinv_operation::largest>(s) * relative;
    const auto inverses = where(is_used, 1 / where(is_used, s, 1), 0);
    return narrowed<T>(einsum<"...kj,...ik->...ji">(vh, einsum<"...ik,...k->...ik">(u, inverses)));
  }
};
template <class Permitted>
using pinv_call = gathered_call<linalg::pinv_of, Permitted, pinv_steps>;
}  // namespace detail

namespace linalg {

/// Returns the pseudo-inverses of matrices, the last two dimensions, by their singular value
/// decompositions. Singular values count as 0 if they are at most the largest one times the larger
/// size and the rounding error of the element type, as in PyTorch, so that the rank need not be
/// full. The other dimensions may be split. The gradient is not finite if singular values are
/// equal.
///
///     auto y = linalg::pinv(x);                        // f32[8@data, 6, 4] -> f32[8@data, 4, 6]
template <NamedOperand X, internal::Terms Given = across_axes<>>
[[nodiscard]] constexpr internal::outcome_on<detail::pinv_call<internal::permitted_by<Given>>,
                                             Given, const X&>
pinv(const X& x, const Given& given = {}) {
  return internal::carry_out_on<detail::pinv_call<internal::permitted_by<Given>>>(given, x);
}

}  // namespace linalg

}  // namespace shardwise
