// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/gathered_call.hpp"
#include "shardwise/operation/qr.hpp"

namespace shardwise {

/// The least squares solutions of linear systems on abstract tensors. They are computed as a
/// composition of other operations.
struct lstsq_operation : detail::of_matrices {
  static constexpr text_view name = "lstsq";
  static constexpr bool has_fractions = true;

  /// Return the equations of the two products, for right-hand sides that are columns or vectors: of
  /// the transposed orthonormal columns with the right-hand sides, and of the columns with
  /// solutions.
  [[nodiscard]] static constexpr text_view projecting(bool columns) noexcept {
    return columns ? "...ij,...ik->...jk" : "...ij,...i->...j";
  }
  [[nodiscard]] static constexpr text_view spanning(bool columns) noexcept {
    return columns ? "...ij,...jk->...ik" : "...ij,...j->...i";
  }

  /// Right-hand sides share the rows, and solutions the columns.
  [[nodiscard]] static constexpr factor_rule rule(const attributes& how,
                                                  const tensor_descs& operands) noexcept {
    const int rank = operands[0].rank();
    factor_rule out = of_matrices::rule(how, operands);
    factor_map sides = out.operands[0];
    sides.pop_back();
    if (operands[1].rank() == rank) {
      sides.push_back(static_cast<std::uint8_t>(rank));
      out.factors.push_back(factor_kind::pass_through);
    }
    out.operands.push_back(sides);
    out.result = sides;
    out.result[rank - 2] = static_cast<std::uint8_t>(rank - 1);
    return out;
  }
  /// Checks that it is known whether there are more rows or more columns, and the rank of the
  /// right-hand sides.
  [[nodiscard]] static constexpr diagnosis check(const attributes&,
                                                 const tensor_descs& operands) noexcept {
    const tensor_desc& x = operands[0];
    if (const diagnosis ranked = check_rank(x); !ranked.ok()) return ranked;
    const int rank = x.rank();
    for (int d = rank - 2; d < rank; ++d)
      if (x.extents[d] == dyn)
        return {.rule = violation::slice_is_out_of_range, .operand = 0, .dim = d};
    if (operands[1].rank() == rank || operands[1].rank() == rank - 1) return {};
    return {.rule = violation::operand_rank_differs,
            .operand = 1,
            .have = operands[1].rank(),
            .want = rank};
  }
  [[nodiscard]] static constexpr bool is_wide(const extents_desc& x) noexcept {
    return x[x.ssize() - 2] < x[x.ssize() - 1];
  }
};

namespace linalg {

/// The operation as a type.
struct lstsq_of : without_attributes<lstsq_operation> {};

}  // namespace linalg

namespace detail {
struct lstsq_steps {
  template <class A, class B>
  [[nodiscard]] static constexpr auto apply(const A& a, const B& b) {
    return narrowed<typename B::value_type>(solved(widened(a), widened(b)));
  }

 private:
  template <class A, class B>
  [[nodiscard]] static constexpr auto solved(const A& a, const B& b) {
    if constexpr (ValueOperand<A> || ValueOperand<B>) {
      using made = typename value_domain_of<A, B>::type::template tensor<typename B::value_type>;
      const bool columns = a.extents().ssize() == b.extents().ssize();
      return lstsq_operation::is_wide(a.extents())
                 ? made(of_least_norm(a, b,
                                      [&](const auto& q, const auto& y) {
                                        return einsum(lstsq_operation::spanning(columns), made(q),
                                                      made(y));
                                      }))
                 : made(of_least_error(a, b, [&](const auto& q, const auto& y) {
                     return einsum(lstsq_operation::projecting(columns), made(q), made(y));
                   }));
    } else {
      constexpr bool columns = A::extents_type::rank == B::extents_type::rank;
      if constexpr (lstsq_operation::is_wide(A::extents_type::value))
        return of_least_norm(a, b, [](const auto& q, const auto& y) {
          constexpr text_view words = lstsq_operation::spanning(columns);
          return einsum<to_fixed_string<words.size()>(words)>(q, y);
        });
      else
        return of_least_error(a, b, [](const auto& q, const auto& y) {
          constexpr text_view words = lstsq_operation::projecting(columns);
          return einsum<to_fixed_string<words.size()>(words)>(q, y);
        });
    }
  }

  /// With the orthonormal columns `q` and the triangle `r` of `a`, the solution of `r x =
  /// transpose(q) b`.
  template <class A, class B, class Project>
  [[nodiscard]] static constexpr auto of_least_error(const A& a, const B& b,
                                                     const Project& project) {
    const auto [q, r] = linalg::qr(a);
    return linalg::triangular_solve<linalg::triangular::upper>(r, project(q, b));
  }
  /// With those of the transposed `a`, the product of `q` and the solution of `transpose(r) y = b`.
  template <class A, class B, class Span>
  [[nodiscard]] static constexpr auto of_least_norm(const A& a, const B& b, const Span& span) {
    const auto [q, r] = linalg::qr(einsum<"...ij->...ji">(a));
    return span(q, linalg::triangular_solve<linalg::triangular::upper_transposed>(r, b));
  }
};
template <class Permitted>
using lstsq_call = gathered_call<linalg::lstsq_of, Permitted, lstsq_steps>;
}  // namespace detail

namespace linalg {

/// Returns the least squares solutions of linear systems with matrices of full rank, the last two
/// dimensions of `a`, by their QR decompositions: the `x` for which `a x - b` has the smallest norm
/// or, if there are more columns than rows, the solution with the smallest norm. `b` has the rank
/// of `a` and may have several columns, or has one dimension less and is a vector for each matrix.
/// Columns of `b` and the dimensions before are batches, and may be split. The result is not
/// finite, or has no correct digits, if the rank is not full: then multiply by `pinv(a)`.
///
///     auto x = linalg::lstsq(a, b);        // f32[8@data, 6, 4], f32[8@data, 6] -> f32[8@data, 4]
template <NamedOperand A, NamedOperand B, internal::Terms Given = across_axes<>>
[[nodiscard]] constexpr internal::outcome_on<detail::lstsq_call<internal::permitted_by<Given>>,
                                             Given, const A&, const B&>
lstsq(const A& a, const B& b, const Given& given = {}) {
  return internal::carry_out_on<detail::lstsq_call<internal::permitted_by<Given>>>(given, a, b);
}

}  // namespace linalg

}  // namespace shardwise
