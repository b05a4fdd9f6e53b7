// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/composed_on_paper.hpp"
#include "shardwise/operation/exponential.hpp"
#include "shardwise/operation/searchsorted.hpp"

namespace shardwise::detail {

/// A norm of an order that is a number.
struct lp_norm_judge {
  [[nodiscard]] static constexpr factor_rule rule(const attributes& how,
                                                  const tensor_descs& operands) noexcept {
    factor_rule out = reduction_of_whole::rule(how, operands);
    out.operands.push_back({});
    return out;
  }
};

/// The steps of norms, statistics and searches on abstract tensors.
namespace composed_steps {

constexpr void l1_norm(paper_steps& at, const attributes& how, const tensor_descs& x,
                       tensor_results& out) {
  out.push_back(at.reduce(reduction::sum, at.each<f::abs>(x[0]), dims_of(how), keeps(how)));
}
constexpr void max_norm(paper_steps& at, const attributes& how, const tensor_descs& x,
                        tensor_results& out) {
  out.push_back(at.reduce(reduction::max, at.each<f::abs>(x[0]), dims_of(how), keeps(how)));
}
/// A root of a sum of powers; `root` is applied where it is not 0.
template <class Root>
[[nodiscard]] constexpr tensor_desc root_of_sum(paper_steps& at, const tensor_desc& sum,
                                                const Root& root) {
  const tensor_desc number = paper_steps::number(sum);
  const tensor_desc is_zero = at.each<f::equal>(sum, number);
  return at.each<f::where>(is_zero, sum, root(at.each<f::where>(is_zero, number, sum)));
}
[[nodiscard]] constexpr tensor_desc root_of_squares(paper_steps& at, const tensor_desc& sum) {
  return root_of_sum(at, sum, [&](const tensor_desc& x) { return at.each<f::sqrt>(x); });
}
constexpr void l2_norm(paper_steps& at, const attributes& how, const tensor_descs& x,
                       tensor_results& out) {
  const tensor_desc sum = at.finished(sum_of_squares(at, x[0], dims_of(how), keeps(how)));
  out.push_back(narrowed(at, root_of_squares(at, sum), x[0].type));
}
constexpr void lp_norm(paper_steps& at, const attributes& how, const tensor_descs& x,
                       tensor_results& out) {
  const tensor_desc wide = widened(at, x[0]);
  tensor_desc order = x[1];
  order.type = wide.type;
  const tensor_desc powers = at.each<f::pow>(at.each<f::abs>(wide), order);
  const tensor_desc sum = at.finished(at.reduce(reduction::sum, powers, dims_of(how), keeps(how)));
  const auto root = [&](const tensor_desc& one) { return at.each<f::pow>(one, order); };
  out.push_back(narrowed(at, root_of_sum(at, sum, root), x[0].type));
}
/// The differences of elements from their mean.
[[nodiscard]] constexpr tensor_desc centred(paper_steps& at, const attributes& how,
                                            const tensor_desc& given) {
  const tensor_desc x = widened(at, given);
  return at.each<f::subtract>(x, at.finished(mean_of(at, x, dims_of(how), true)));
}
constexpr void variance(paper_steps& at, const attributes& how, const tensor_descs& x,
                        tensor_results& out) {
  const tensor_desc made = mean_of_squares(at, centred(at, how, x[0]), dims_of(how), keeps(how));
  out.push_back(finished_as(at, made, x[0].type));
}
constexpr void standard_deviation(paper_steps& at, const attributes& how, const tensor_descs& x,
                                  tensor_results& out) {
  const tensor_desc made =
      at.finished(mean_of_squares(at, centred(at, how, x[0]), dims_of(how), keeps(how)));
  out.push_back(narrowed(at, root_of_squares(at, made), x[0].type));
}
constexpr void logsumexp(paper_steps& at, const attributes& how, const tensor_descs& given,
                         tensor_results& out) {
  const unsigned dims = dims_of(how);
  const tensor_desc x = widened(at, given[0]);
  const tensor_desc largest = at.finished(at.reduce(reduction::max, x, dims, true));
  const tensor_desc number = paper_steps::number(largest);
  const tensor_desc shift =
      at.each<f::stop_gradient>(at.each<f::where>(at.each<f::isfinite>(largest), largest, number));
  const tensor_desc total = at.finished(
      at.reduce(reduction::sum, at.each<f::exp>(at.each<f::subtract>(x, shift)), dims, true));
  const tensor_desc is_empty = at.each<f::equal>(total, number);
  const tensor_desc logarithm = at.each<f::log>(at.each<f::where>(is_empty, number, total));
  const tensor_desc kept = at.each<f::add>(at.each<f::where>(is_empty, number, logarithm), shift);
  const tensor_desc made = keeps(how) ? kept : at.reduce(reduction::max, kept, dims, false);
  out.push_back(narrowed(at, made, given[0].type));
}
/// A reduction in which another number takes the place of NaN.
template <reduction Kind>
constexpr void without_nan(paper_steps& at, const attributes& how, const tensor_descs& x,
                           tensor_results& out) {
  const tensor_desc kept =
      at.each<f::where>(at.each<f::isnan>(x[0]), paper_steps::number(x[0]), x[0]);
  out.push_back(at.reduce(Kind, kept, dims_of(how), keeps(how)));
}
constexpr void nanmean(paper_steps& at, const attributes& how, const tensor_descs& x,
                       tensor_results& out) {
  const auto total = [&](const tensor_desc& terms) {
    return at.finished(at.reduce(reduction::sum, terms, dims_of(how), keeps(how)));
  };
  const tensor_desc wide = widened(at, x[0]);
  const tensor_desc is_number = at.each<f::logical_not>(at.each<f::isnan>(wide));
  const tensor_desc sum = total(at.each<f::where>(is_number, wide, paper_steps::number(wide)));
  const tensor_desc count = total(at.apply(cast_to(element::i64), {}, {is_number}));
  const tensor_desc made = at.each<f::divide>(sum, at.apply(cast_to(wide.type), {}, {count}));
  out.push_back(narrowed(at, made, x[0].type));
}
constexpr void nanvar(paper_steps& at, const attributes& how, const tensor_descs& given,
                      tensor_results& out) {
  const tensor_desc x = widened(at, given[0]);
  const unsigned dims = dims_of(how);
  const auto total = [&](const tensor_desc& terms, bool keep) {
    return at.reduce(reduction::sum, terms, dims, keep);
  };
  const tensor_desc number = paper_steps::number(x);
  const tensor_desc is_number = at.each<f::logical_not>(at.each<f::isnan>(x));
  const tensor_desc ones = at.apply(cast_to(element::i64), {}, {is_number});
  const tensor_desc count = at.apply(cast_to(x.type), {}, {at.finished(total(ones, true))});
  const tensor_desc known = at.each<f::where>(is_number, x, number);
  const tensor_desc sum = at.finished(total(known, true));
  const tensor_desc apart = at.each<f::subtract>(known, at.each<f::divide>(sum, count));
  const tensor_desc wide_count = for_products(at, count);
  const tensor_desc wide_number = paper_steps::number(wide_count);
  const tensor_desc squares =
      sum_of_squares(at, at.each<f::where>(is_number, apart, number), dims, keeps(how));
  const tensor_desc terms =
      at.each<f::maximum>(at.each<f::subtract>(wide_count, wide_number), wide_number);
  const tensor_desc made = at.each<f::divide>(
      squares, keeps(how) ? terms : at.reduce(reduction::max, terms, dims, false));
  out.push_back(finished_as(at, made, given[0].type));
}
constexpr void searchsorted(paper_steps& at, const attributes& how, const tensor_descs& given,
                            tensor_results& out) {
  const tensor_descs x = at.checked(searchsorted_operation::rule(how, given), given);
  const auto apart = [&](const attributes& dims, const tensor_desc& one) {
    return dims.integers.empty() ? one : at.apply<unsqueeze_operation>(dims, one);
  };
  const extents_desc sorted = x[0].extents, values = x[1].extents;
  const tensor_desc column = apart(searchsorted_operation::behind_sorted(sorted, values), x[0]);
  const tensor_desc row = apart(searchsorted_operation::before_values(values, sorted), x[1]);
  tensor_desc is_before = at.each<f::less>(column, row);
  if (has_fractions(x[0].type))
    is_before = at.each<f::logical_and>(at.each<f::logical_not>(is_before),
                                        at.each<f::equal>(column, column));
  const tensor_desc ones = at.apply(cast_to(element::i64), {}, {is_before});
  out.push_back(
      at.apply<reduction_operation>(searchsorted_operation::counting(ones.extents, sorted), ones));
}

}  // namespace composed_steps
}  // namespace shardwise::detail
