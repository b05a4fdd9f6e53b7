// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/cdist.hpp"
#include "shardwise/operation/covariance.hpp"
#include "shardwise/operation/cross.hpp"
#include "shardwise/operation/kron.hpp"
#include "shardwise/operation/matrices_on_paper.hpp"
#include "shardwise/operation/statistics_on_paper.hpp"

/// The steps of products of rows and of vectors on abstract tensors.
namespace shardwise::detail::composed_steps {

constexpr void kron(paper_steps& at, const attributes& how, const tensor_descs& given,
                    tensor_results& out) {
  const tensor_descs x = at.checked(kron_operation::rule(how, given), given);
  const tensor_desc pairs = product_of(at, kron_operation::equation, x[0], x[1]);
  if (!at.verdict().ok()) return;
  out.push_back(at.apply<reshape_operation>(kron_operation::merging(pairs.extents), pairs));
}
constexpr void cross(paper_steps& at, const attributes& how, const tensor_descs& given,
                     tensor_results& out) {
  const tensor_descs x = at.checked(cross_operation::rule(how, given), given);
  const auto turned = [&](int o, index_t places) {
    return at.apply<roll_operation>(
        cross_operation::turning(static_cast<int>(how.integers[0]), places, x[o].rank()), x[o]);
  };
  const tensor_desc first = at.each<f::multiply>(turned(0, 1), turned(1, 2));
  out.push_back(at.each<f::subtract>(first, at.each<f::multiply>(turned(0, 2), turned(1, 1))));
}
constexpr void cdist(paper_steps& at, const attributes& how, const tensor_descs& given,
                     tensor_results& out) {
  const tensor_descs x = at.checked(cdist_operation::rule(how, given), given);
  const tensor_desc a = widened(at, x[0]), b = widened(at, x[1]);
  const tensor_desc apart = at.each<f::subtract>(
      at.apply<unsqueeze_operation>(cdist_operation::behind_rows(a.extents), a),
      at.apply<unsqueeze_operation>(cdist_operation::before_rows(b.extents), b));
  const tensor_desc sum =
      at.apply<sum_of_squares_operation>(cdist_operation::adding(apart.extents), apart);
  out.push_back(narrowed(at, root_of_squares(at, sum), x[0].type));
}
/// The sums of products of the differences of rows from their means.
[[nodiscard]] constexpr tensor_desc centred_products(paper_steps& at, const tensor_desc& given) {
  const tensor_descs all{at.finished(given)};
  const tensor_desc x = widened(at, at.gathered(cov_operation::rule_of_rows(all[0]), all)[0]);
  const tensor_desc center = at.finished(mean_of(at, x, 1U << (x.rank() - 1), true));
  const tensor_desc centred = at.each<f::subtract>(x, center);
  return product_of(at, "...ik,...jk->...ij", centred, centred);
}
constexpr void cov(paper_steps& at, const attributes&, const tensor_descs& x, tensor_results& out) {
  const tensor_desc products = centred_products(at, x[0]);
  const tensor_desc made = at.each<f::divide>(products, paper_steps::number(products));
  out.push_back(made.type == x[0].type ? made : narrowed(at, at.finished(made), x[0].type));
}
constexpr void corrcoef(paper_steps& at, const attributes&, const tensor_descs& x,
                        tensor_results& out) {
  const tensor_desc products = at.finished(centred_products(at, x[0]));
  const tensor_desc roots = at.each<f::sqrt>(product_of(at, "...ii->...i", products));
  const auto beside = [&](const attributes& where) {
    return at.apply<unsqueeze_operation>(where, roots);
  };
  const tensor_desc by_rows =
      at.each<f::divide>(products, beside(cov_operation::beside_rows(roots.extents)));
  const tensor_desc made =
      at.each<f::divide>(by_rows, beside(cov_operation::beside_columns(roots.extents)));
  const tensor_desc bound = paper_steps::number(made);
  out.push_back(narrowed(at, at.each<f::clamp>(made, bound, bound), x[0].type));
}

}  // namespace shardwise::detail::composed_steps
