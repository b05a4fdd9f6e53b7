// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/cholesky.hpp"
#include "shardwise/operation/composed_on_paper.hpp"
#include "shardwise/operation/contraction_on_paper.hpp"
#include "shardwise/operation/determinant.hpp"
#include "shardwise/operation/eigh.hpp"
#include "shardwise/operation/qr.hpp"
#include "shardwise/operation/svd.hpp"

namespace shardwise::detail::composed_steps {

/// Returns a product of tensors, by an equation with an ellipsis.
template <class... Operands>
[[nodiscard]] constexpr tensor_desc product_of(paper_steps& at, text_view equation,
                                               const Operands&... x) {
  const operand_extents extents{x.extents...};
  return at.apply<einsum_operation>(einsum_operation::how(named_dimensions(equation, extents)),
                                    x...);
}
/// Returns matrices that each device has whole, in the type used for arithmetic.
template <class Class>
[[nodiscard]] constexpr tensor_desc whole_matrices(paper_steps& at, const attributes& how,
                                                   const tensor_descs& given) {
  const tensor_descs x{at.finished(given[0])};
  return widened(at, at.gathered(Class::rule(how, x), x)[0]);
}

constexpr void slogdet(paper_steps& at, const attributes& how, const tensor_descs& given,
                       tensor_results& out) {
  const tensor_descs x{at.finished(given[0])};
  const tensor_desc made =
      at.apply<slogdet_operation>(how, at.gathered(slogdet_operation::rule(how, x), x)[0]);
  out.push_back(made);
  out.push_back(made);
}
constexpr void qr(paper_steps& at, const attributes& how, const tensor_descs& given,
                  tensor_results& out) {
  const tensor_desc x = whole_matrices<orthonormal_columns_operation>(at, how, given);
  const tensor_desc q = at.apply<orthonormal_columns_operation>(how, x);
  const tensor_desc r =
      at.apply<triu_operation>(triu_operation::how(0), product_of(at, "...ki,...kj->...ij", q, x));
  out.push_back(narrowed(at, q, given[0].type));
  out.push_back(narrowed(at, r, given[0].type));
}
constexpr void eigh(paper_steps& at, const attributes& how, const tensor_descs& given,
                    tensor_results& out) {
  const tensor_desc x = whole_matrices<eigenvectors_operation>(at, how, given);
  const tensor_desc sum = at.each<f::add>(x, product_of(at, "...ij->...ji", x));
  const tensor_desc symmetric = at.each<f::multiply>(sum, paper_steps::number(sum));
  const tensor_desc vectors = at.apply<eigenvectors_operation>(how, symmetric);
  const tensor_desc values = product_of(at, "...ij,...ij->...j", vectors,
                                        product_of(at, "...ij,...jk->...ik", symmetric, vectors));
  out.push_back(narrowed(at, values, given[0].type));
  out.push_back(narrowed(at, vectors, given[0].type));
}
constexpr void svd(paper_steps& at, const attributes& how, const tensor_descs& given,
                   tensor_results& out) {
  using part = singular_vectors_operation::part;
  const tensor_desc x = whole_matrices<singular_vectors_operation>(at, how, given);
  const tensor_desc made = at.apply<singular_vectors_operation>(how, x);
  const int rank = x.rank();
  const auto taken = [&](part which) {
    return at.apply<slice_operation>(
        singular_vectors_operation::slice_of(which, rank, x.extents[rank - 2], x.extents[rank - 1]),
        made);
  };
  out.push_back(narrowed(at, taken(part::left), given[0].type));
  out.push_back(narrowed(at, product_of(at, "...ij->...j", taken(part::values)), given[0].type));
  out.push_back(narrowed(at, product_of(at, "...ij->...ji", taken(part::right)), given[0].type));
}

}  // namespace shardwise::detail::composed_steps
