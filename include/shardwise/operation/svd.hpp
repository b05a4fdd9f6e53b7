// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/comparison.hpp"
#include "shardwise/operation/matrices.hpp"
#include "shardwise/operation/search.hpp"
#include "shardwise/operation/slice.hpp"

#include <tuple>
#include <type_traits>

namespace shardwise {

/// The operation that decomposes matrices of `m` rows and `n` columns into `k = min(m, n)` singular
/// values and their vectors. One matrix of `k` columns contains the results, so that a matrix is
/// decomposed once: a row of the values in descending order, the `m` rows of the left vectors and
/// the `n` rows of the right ones.
struct singular_vectors_operation : detail::of_matrices {
  static constexpr text_view name = "singular_vectors";

  /// A part of the results.
  enum class part { values, left, right };

  /// Returns the slice of the results of this rank that is a part, for matrices of `rows` rows and
  /// `columns` columns, of which one may be known only at run time.
  [[nodiscard]] static constexpr attributes slice_of(part which, int rank, index_t rows,
                                                     index_t columns) noexcept {
    const index_t middle = rows == dyn ? -columns : rows + 1;
    switch (which) {
      case part::values:
        return slice_operation::how(rank - 2, 0, 1, 1);
      case part::left:
        return slice_operation::how(rank - 2, 1, middle, 1);
      default:
        return slice_operation::how(rank - 2, middle, open_end, 1);
    }
  }
  [[nodiscard]] static constexpr factor_rule rule(const attributes& how,
                                                  const tensor_descs& operands) noexcept {
    const int rank = operands[0].rank();
    const index_t rows = operands[0].extents[rank - 2], columns = operands[0].extents[rank - 1];
    const bool is_known = rows != dyn && columns != dyn;
    factor_rule out = of_matrices::rule(how, operands);
    for (int d = rank; d < rank + 2; ++d) {
      out.factors.push_back(factor_kind::need_replication);
      out.result[d - 2] = static_cast<std::uint8_t>(d);
    }
    out.sizes = out.given_sizes();
    out.sizes[rank] = is_known ? size_sum(size_sum(rows, columns), 1) : dyn;
    out.sizes[rank + 1] = is_known ? (rows < columns ? rows : columns) : dyn;
    return out;
  }
  /// Checks that there is a matrix, of which at least one size is known.
  [[nodiscard]] static constexpr diagnosis check(const attributes&,
                                                 const tensor_descs& operands) noexcept {
    const tensor_desc& x = operands[0];
    const int rank = x.rank();
    if (const diagnosis ranked = check_rank(x); !ranked.ok()) return ranked;
    if (x.extents[rank - 2] != dyn || x.extents[rank - 1] != dyn) return {};
    return {.rule = violation::slice_is_out_of_range, .operand = 0, .dim = rank - 2};
  }
  [[nodiscard]] static constexpr operation_cost cost(const mesh_desc& mesh, const attributes&,
                                                     const tensor_descs& operands,
                                                     const tensor_desc& result) noexcept {
    return cost_of(mesh, operands[0], 22 * result.extents[result.rank() - 1]);
  }
  using emits = emitted_operations<einsum_operation, transpose_operation, reshape_operation,
                                   slice_operation, pointwise<functions::where>>;
  /// The product of `u w + (du - u transpose(u) du) / s` and `transpose(v)`, plus `u` times the
  /// transpose of `(dv - v transpose(v) dv) / s`; `w` is `ds` on the diagonal, and beside it
  /// contains the antisymmetric parts of `transpose(u) du` times `s` and `s` times those of
  /// `transpose(v) dv`, divided by the differences of two squares of `s`. What is 0 stays 0 if it
  /// is divided by 0, so that the gradient of the values alone is finite.
  static constexpr void gradient(gradient_step& at) {
    const extents_desc given = at.operand(0).tensor().extents;
    const int rank = given.ssize();
    const index_t rows = given[rank - 2], columns = given[rank - 1];
    const auto taken = [&](part which, const gradient_value& x) {
      return emit<slice_operation>(slice_of(which, rank, rows, columns), x);
    };
    const gradient_value s = taken(part::values, at.result());
    const gradient_value u = taken(part::left, at.result()), v = taken(part::right, at.result());
    const gradient_value du = taken(part::left, at.cotangent());
    const gradient_value dv = taken(part::right, at.cotangent());
    extents_desc column = s.tensor().extents;
    column[rank - 2] = column[rank - 1];
    column[rank - 1] = 1;
    const gradient_value s_column = internal::shaped(s, column);
    const gradient_value apart = (s - s_column) * (s + s_column);
    const gradient_value inner_u = detail::batched_product(u, "zx", du, "zy", "xy");
    const gradient_value inner_v = detail::batched_product(v, "zx", dv, "zy", "xy");
    const gradient_value turned = divided(inner_u - detail::transposed(inner_u), apart) * s +
                                  divided(inner_v - detail::transposed(inner_v), apart) * s_column;
    gradient_value left = detail::batched_product(u, "xz", turned, "zy", "xy") +
                          u * taken(part::values, at.cotangent());
    if (rows == dyn || columns == dyn || rows > columns)
      left = left + divided(du - detail::batched_product(u, "xz", inner_u, "zy", "xy"), s);
    gradient_value dx = detail::batched_product(left, "xz", v, "yz", "xy");
    if (rows == dyn || columns == dyn || rows < columns) {
      const gradient_value right =
          divided(dv - detail::batched_product(v, "xz", inner_v, "zy", "xy"), s);
      dx = dx + detail::batched_product(u, "xz", right, "yz", "xy");
    }
    at.give(0, dx);
  }

 private:
  /// Returns a quotient, where 0 divided by 0 is 0.
  [[nodiscard]] static constexpr gradient_value divided(const gradient_value& a,
                                                        const gradient_value& b) {
    const gradient_value zero = a.step->number(0, a), one = a.step->number(1, a);
    const gradient_value is_zero = elementwise<functions::equal>(b, zero);
    const gradient_value beside =
        elementwise<functions::where>(elementwise<functions::equal>(a, zero), one, b);
    return a / elementwise<functions::where>(is_zero, beside, b);
  }
};

namespace linalg {

/// The operation as a type.
struct svd_of : without_attributes<singular_vectors_operation> {};

}  // namespace linalg

namespace detail {
/// A part of the results of the operation, for matrices of these sizes.
template <singular_vectors_operation::part Which, int Rank, index_t Rows, index_t Columns>
struct singular_part_of {
  using operation_class = slice_operation;
  static constexpr attributes how =
      singular_vectors_operation::slice_of(Which, Rank, Rows, Columns);
};

template <class Permitted>
struct svd_steps {
  using part = singular_vectors_operation::part;

  template <class X>
  [[nodiscard]] static constexpr auto apply(const X& given) {
    using T = typename X::value_type;
    const auto x = whole_matrices<linalg::svd_of, Permitted>(given);
    const auto made = apply_operation<linalg::svd_of>(x);
    return std::tuple(narrowed<T>(taken<part::left>(x, made)),
                      narrowed<T>(einsum<"...ij->...j">(taken<part::values>(x, made))),
                      narrowed<T>(einsum<"...ij->...ji">(taken<part::right>(x, made))));
  }

 private:
  template <part Which, class X, class Made>
  [[nodiscard]] static constexpr auto taken(const X& x, const Made& made) {
    if constexpr (ValueOperand<Made>) {
      const extents_desc extents = x.extents();
      const int rank = extents.ssize();
      return Made::value_domain::template apply_with<slice_operation, typename Made::value_type>(
          singular_vectors_operation::slice_of(Which, rank, extents[rank - 2], extents[rank - 1]),
          made);
    } else {
      constexpr extents_desc extents = X::extents_type::value;
      constexpr int rank = extents.ssize();
      return apply_operation<singular_part_of<Which, rank, extents[rank - 2], extents[rank - 1]>>(
          made);
    }
  }
};
template <class Permitted>
using svd_call = composed_call<linalg::svd_of, Permitted, svd_steps<Permitted>>;

}  // namespace detail

namespace internal {

template <class Permitted>
inline constexpr int result_count<svd_call<Permitted>> = 3;
}  // namespace internal

namespace linalg {

/// Returns the reduced singular value decomposition of matrices, the last two dimensions: `u`, the
/// values `s` in descending order, and `vh`, so that a matrix is `u` times the diagonal matrix of
/// `s` times `vh`. Of `m` rows and `n` columns, and with `k = min(m, n)`, `u` has `k` orthonormal
/// columns and `vh` as many orthonormal rows. In each column of `u`, the first of the entries with
/// the largest absolute value is not negative, which determines the signs of both vectors. The
/// decomposition of a matrix with an infinity or a NaN is NaN. All elements are decomposed as
/// `double`. The other dimensions may be split.
///
/// The gradient of the values is always finite. That of the vectors is not finite if values are
/// equal or, in a matrix that is not square, 0.
///
///     auto [u, s, vh] = linalg::svd(x);
///     // f32[8@data, 6, 4] -> f32[8@data, 6, 4], f32[8@data, 4], f32[8@data, 4, 4]
template <NamedOperand X, internal::Terms Given = across_axes<>>
[[nodiscard]] constexpr internal::outcome_on<detail::svd_call<internal::permitted_by<Given>>, Given,
                                             X>
svd(X&& x, const Given& given = {}) {
  return internal::carry_out_on<detail::svd_call<internal::permitted_by<Given>>>(
      given, static_cast<X&&>(x));
}

}  // namespace linalg

}  // namespace shardwise
