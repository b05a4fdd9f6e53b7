// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/arithmetic.hpp"
#include "shardwise/operation/cast.hpp"
#include "shardwise/operation/clamp.hpp"
#include "shardwise/operation/classification.hpp"
#include "shardwise/operation/comparison.hpp"
#include "shardwise/operation/dynamic_slice.hpp"
#include "shardwise/operation/logical.hpp"
#include "shardwise/operation/over.hpp"
#include "shardwise/operation/paper_steps.hpp"
#include "shardwise/operation/reduce.hpp"
#include "shardwise/operation/slice.hpp"
#include "shardwise/operation/sort.hpp"
#include "shardwise/operation/squeeze.hpp"
#include "shardwise/operation/stack.hpp"
#include "shardwise/operation/stop_gradient.hpp"
#include "shardwise/operation/sum_of_squares.hpp"
#include "shardwise/operation/take.hpp"
#include "shardwise/operation/transcendental.hpp"
#include "shardwise/operation/whole_dims.hpp"

namespace shardwise {

namespace detail {

/// A reduction of transformed elements, which are not pending.
struct reduction_of_made {
  [[nodiscard]] static constexpr factor_rule rule(const attributes& how,
                                                  const tensor_descs& operands) noexcept {
    factor_rule out = reduction_operation::rule(how, operands);
    out.law = linearity::nonlinear;
    return out;
  }
  [[nodiscard]] static constexpr diagnosis check_elements(const attributes&,
                                                          const tensor_descs& operands) noexcept {
    return check_alike(operands, 0, true);
  }
};
/// The parts of a dimension, each of which is a slice.
struct split_judge : of_any_elements {
  [[nodiscard]] static constexpr factor_rule rule(const attributes& how,
                                                  const tensor_descs& operands) noexcept {
    factor_rule out = same_dimensions_rule(linearity::structural, operands[0].rank());
    out.factors[how.integers[0]] = factor_kind::need_replication;
    return out;
  }
  [[nodiscard]] static constexpr diagnosis check(const attributes& how,
                                                 const tensor_descs& operands) noexcept {
    const diagnosis named = over(how.integers[0]).judge(operands[0].rank());
    if (!named.ok()) return named;
    const index_t size = operands[0].extents[static_cast<int>(how.integers[0])];
    index_t begin = 0;
    for (int i = 1; i < how.integers.ssize(); ++i) {
      const index_t end = how.integers[i];
      if (end < begin || end > size)
        return {.rule = violation::slice_is_out_of_range,
                .operand = 0,
                .dim = static_cast<int>(how.integers[0]),
                .have = end,
                .want = size};
      begin = end;
    }
    return {};
  }
};
/// A normalised tensor times a scale plus a shift, which are broadcast to it.
struct scaled_judge {
  [[nodiscard]] static constexpr factor_rule rule(const attributes& how,
                                                  const tensor_descs& operands) noexcept {
    operand_extents extents;
    for (const tensor_desc& x : operands) extents.push_back(x.extents);
    factor_rule out = elementwise_rule(linearity::nonlinear, extents);
    const unsigned dims = over(how.integers).bits();
    for (int d = 0; d < operands[0].rank(); ++d)
      if ((dims >> d & 1U) != 0 && out.operands[0][d] != repeated)
        out.factors[out.operands[0][d]] = factor_kind::need_replication;
    return out;
  }
  [[nodiscard]] static constexpr diagnosis check(const attributes& how,
                                                 const tensor_descs& operands) noexcept {
    return over(how.integers).judge(operands[0].rank());
  }
};
/// A quantile: a dimension in order, and the fraction, a number.
struct quantile_judge {
  [[nodiscard]] static constexpr factor_rule rule(const attributes& how,
                                                  const tensor_descs& operands) noexcept {
    factor_rule out = sort_operation::rule(how, operands);
    if (operands.size() > 1) out.operands.push_back({});
    return out;
  }
  /// Checks that there is an element, and that the fraction is one number that can be read.
  [[nodiscard]] static constexpr diagnosis check(const attributes& how,
                                                 const tensor_descs& operands) noexcept {
    if (const diagnosis sorted = sort_operation::check(how, operands); !sorted.ok()) return sorted;
    const auto dim = static_cast<int>(how.integers[0]);
    if (operands[0].extents[dim] == 0)
      return {.rule = violation::slice_is_out_of_range, .operand = 0, .dim = dim, .have = 1};
    if (operands.size() > 1 && operands[1].rank() != 0)
      return {.rule = violation::operand_rank_differs,
              .operand = 1,
              .have = operands[1].rank(),
              .want = 0};
    if (operands.size() > 1 && operands[1].layout.pending != 0)
      return {.rule = violation::partial_value_is_read, .operand = 1};
    return {};
  }
};
struct cast_judge : of_any_elements {
  [[nodiscard]] static constexpr factor_rule rule(const attributes& how,
                                                  const tensor_descs& operands) noexcept {
    return cast_to(static_cast<element>(how.integers[0])).rule({}, operands);
  }
};
struct reshard_judge : of_any_elements {
  [[nodiscard]] static constexpr factor_rule rule(const attributes&,
                                                  const tensor_descs& operands) noexcept {
    return same_dimensions_rule(linearity::structural, operands[0].rank());
  }
};

/// The steps of composed operations on abstract tensors; their functions take the same steps with
/// tensors.
namespace composed_steps {

namespace f = functions;

[[nodiscard]] constexpr tensor_desc widened(paper_steps& at, const tensor_desc& x) {
  const element type = computed_in(x.type);
  return type == x.type ? x : at.apply(cast_to(type), {}, {x});
}
[[nodiscard]] constexpr tensor_desc narrowed(paper_steps& at, const tensor_desc& x, element type) {
  return type == x.type ? x : at.apply(cast_to(type), {}, {x});
}
/// The same for a pending sum, whose terms are rounded.
[[nodiscard]] constexpr tensor_desc with_terms_as(paper_steps& at, const tensor_desc& x,
                                                  element type) {
  return type == x.type ? x : at.apply(internal::rounding_terms_to(type), {}, {x});
}
/// A result in elements of a type: one that is rounded once is reduced before.
[[nodiscard]] constexpr tensor_desc finished_as(paper_steps& at, const tensor_desc& x,
                                                element type) {
  return computed_in(type) == type ? with_terms_as(at, x, type)
                                   : narrowed(at, at.finished(x), type);
}
[[nodiscard]] constexpr tensor_desc for_products(paper_steps& at, const tensor_desc& x) {
  return narrowed(at, x, squared_in(x.type));
}
[[nodiscard]] constexpr unsigned dims_of(const attributes& how) noexcept {
  return reduction_operation::reduced(how);
}
[[nodiscard]] constexpr bool keeps(const attributes& how) noexcept { return how.integers[1] != 0; }
[[nodiscard]] constexpr tensor_desc mean_of(paper_steps& at, const tensor_desc& x, unsigned dims,
                                            bool keep) {
  return at.each<f::divide>(at.reduce(reduction::sum, x, dims, keep), paper_steps::number(x));
}

[[nodiscard]] constexpr tensor_desc sum_of_squares(paper_steps& at, const tensor_desc& x,
                                                   unsigned dims, bool keep) {
  return at.apply<sum_of_squares_operation>(reduction_operation::how(reduction::sum, dims, keep),
                                            widened(at, x));
}
[[nodiscard]] constexpr tensor_desc mean_of_squares(paper_steps& at, const tensor_desc& x,
                                                    unsigned dims, bool keep) {
  const tensor_desc sum = sum_of_squares(at, x, dims, keep);
  return at.each<f::divide>(sum, paper_steps::number(sum));
}

constexpr void cast(paper_steps& at, const attributes& how, const tensor_descs& x,
                    tensor_results& out) {
  out.push_back(at.apply(cast_to(static_cast<element>(how.integers[0])), {}, x));
}
constexpr void mean(paper_steps& at, const attributes& how, const tensor_descs& x,
                    tensor_results& out) {
  const tensor_desc wide = mean_of(at, widened(at, x[0]), dims_of(how), keeps(how));
  out.push_back(with_terms_as(at, wide, x[0].type));
}
[[nodiscard]] constexpr tensor_desc truth_of(paper_steps& at, const tensor_desc& x) {
  return x.type == element::boolean ? x : at.apply(cast_to(element::boolean), {}, {x});
}
constexpr void any(paper_steps& at, const attributes& how, const tensor_descs& x,
                   tensor_results& out) {
  out.push_back(at.reduce(reduction::max, truth_of(at, x[0]), dims_of(how), keeps(how)));
}
constexpr void all(paper_steps& at, const attributes& how, const tensor_descs& x,
                   tensor_results& out) {
  out.push_back(at.reduce(reduction::min, truth_of(at, x[0]), dims_of(how), keeps(how)));
}
constexpr void count_nonzero(paper_steps& at, const attributes& how, const tensor_descs& x,
                             tensor_results& out) {
  const tensor_desc ones = at.apply(cast_to(element::i64), {}, {truth_of(at, x[0])});
  out.push_back(at.reduce(reduction::sum, ones, dims_of(how), keeps(how)));
}
constexpr void quantile(paper_steps& at, const attributes& how, const tensor_descs& x,
                        tensor_results& out) {
  const auto dim = static_cast<int>(how.integers[0]);
  const attributes order = sort_operation::how(dim, false);
  const tensor_desc sorted = widened(
      at,
      at.apply<sort_operation>(order, at.gathered(sort_operation::rule(order, {x[0]}), {x[0]})[0]));
  const auto pick = [&] {
    const tensor_desc one = at.apply<dynamic_slice_operation>(integer_attributes(dim, 1), sorted,
                                                              tensor_desc{element::i64, {}, {}});
    return at.apply<squeeze_operation>(integer_attributes(dim), one);
  };
  const tensor_desc greatest = pick(), low = pick(), high = pick();
  const tensor_desc number = paper_steps::number(low);
  const tensor_desc sum =
      at.each<f::add>(at.each<f::multiply>(low, number), at.each<f::multiply>(high, number));
  const tensor_desc mixed = at.each<f::clamp>(sum, low, high);
  const tensor_desc between = at.each<f::where>(at.each<f::equal>(low, high), low, mixed);
  out.push_back(
      narrowed(at, at.each<f::where>(at.each<f::isnan>(greatest), greatest, between), x[0].type));
}
constexpr void split(paper_steps& at, const attributes& how, const tensor_descs& given,
                     tensor_results& out) {
  const auto dim = static_cast<int>(how.integers[0]);
  // Gathered once for all parts.
  const tensor_descs x = at.gathered(split_judge::rule(how, given), given);
  index_t begin = 0;
  for (int i = 1; i <= how.integers.ssize(); ++i) {
    const index_t end = i < how.integers.ssize() ? how.integers[i] : x[0].extents[dim];
    out.push_back(at.apply<slice_operation>(slice_operation::how(dim, begin, end, 1), x[0]));
    begin = end;
  }
}

/// The elements minus their maximum along a dimension.
[[nodiscard]] constexpr tensor_desc below_greatest(paper_steps& at, const tensor_desc& x,
                                                   unsigned dims) {
  return at.each<f::subtract_constant>(x, at.finished(at.reduce(reduction::max, x, dims, true)));
}
constexpr void softmax(paper_steps& at, const attributes& how, const tensor_descs& x,
                       tensor_results& out) {
  const unsigned dims = over(how.integers[0]).bits();
  const tensor_desc given = at.finished(x[0]);
  const tensor_desc terms = at.each<f::exp>(below_greatest(at, widened(at, given), dims));
  const tensor_desc total = at.finished(at.reduce(reduction::sum, terms, dims, true));
  out.push_back(narrowed(at, at.each<f::divide>(terms, total), x[0].type));
}
constexpr void log_softmax(paper_steps& at, const attributes& how, const tensor_descs& x,
                           tensor_results& out) {
  const unsigned dims = over(how.integers[0]).bits();
  const tensor_desc below = below_greatest(at, widened(at, at.finished(x[0])), dims);
  const tensor_desc total =
      at.finished(at.reduce(reduction::sum, at.each<f::exp>(below), dims, true));
  out.push_back(narrowed(at, at.each<f::subtract>(below, at.each<f::log>(total)), x[0].type));
}
/// Elements divided by the root of a mean of squares, times a scale, plus a shift.
constexpr void normalised(paper_steps& at, const attributes& how, const tensor_descs& x,
                          const tensor_desc& centred, tensor_results& out) {
  const tensor_desc squares =
      at.finished(mean_of_squares(at, centred, over(how.integers).bits(), true));
  const tensor_desc root = at.each<f::sqrt>(at.each<f::add>(squares, paper_steps::number(squares)));
  tensor_desc made = at.each<f::divide>(centred, narrowed(at, root, centred.type));
  if (x.size() > 1) made = at.each<f::multiply>(made, widened(at, at.beside(made, x[1])));
  if (x.size() > 2) made = at.each<f::add>(made, widened(at, at.beside(made, x[2])));
  out.push_back(narrowed(at, made, x[0].type));
}
constexpr void layer_norm(paper_steps& at, const attributes& how, const tensor_descs& x,
                          tensor_results& out) {
  const tensor_desc wide = widened(at, at.finished(x[0]));
  const tensor_desc center = at.finished(mean_of(at, wide, over(how.integers).bits(), true));
  normalised(at, how, x, at.each<f::subtract>(wide, center), out);
}
constexpr void rms_norm(paper_steps& at, const attributes& how, const tensor_descs& x,
                        tensor_results& out) {
  normalised(at, how, x, widened(at, at.finished(x[0])), out);
}
/// Finishes the pending ones of several tensors of the same extents in one collective.
constexpr void finish_together(paper_steps& at, tensor_descs& all) {
  tensor_descs pending;
  for (const tensor_desc& each : all)
    if (each.layout.pending != 0) pending.push_back(each);
  if (!at.verdict().ok() || pending.empty()) return;
  if (pending.ssize() == 1) {
    for (tensor_desc& each : all) each = at.finished(each);
    return;
  }
  const tensor_desc stacked =
      at.finished(at.apply(operation_of<stack_operation>, integer_attributes(0), pending));
  index_t i = 0;
  for (tensor_desc& each : all)
    if (each.layout.pending != 0) {
      each = at.apply<slice_operation>(slice_operation::how(0, i, i + 1, 1, true), stacked);
      ++i;
    }
}
/// Values times their weights, of which those of 0 count nothing.
[[nodiscard]] constexpr tensor_desc weighted(paper_steps& at, const tensor_desc& x,
                                             const tensor_desc& weights) {
  const tensor_desc counts = at.each<f::not_equal>(weights, paper_steps::number(weights));
  const tensor_desc kept = at.each<f::logical_or>(at.each<f::isfinite>(x), counts);
  return at.each<f::multiply>(at.each<f::masked>(x, kept), weights);
}
constexpr void cross_entropy(paper_steps& at, const attributes& how, const tensor_descs& x,
                             tensor_results& out) {
  const attributes along = integer_attributes(how.integers[0]);
  const unsigned dims = over(how.integers[0]).bits();
  const tensor_desc below = below_greatest(at, widened(at, at.finished(x[0])), dims);
  const auto sum = [&](const tensor_desc& of) {
    return at.reduce(reduction::sum, of, dims, false);
  };
  tensor_descs all{sum(at.each<f::exp>(below))};
  if (has_fractions(x[1].type)) {
    const tensor_desc wanted = widened(at, x[1]);
    all.push_back(sum(weighted(at, below, wanted)));
    all.push_back(sum(wanted));
  } else {
    const tensor_desc label = at.apply<unsqueeze_operation>(along, x[1]);
    const tensor_desc found = at.apply<take_along_operation>(
        take_operation::how(static_cast<int>(how.integers[0]), out_of_range::error), below, label);
    all.push_back(at.apply<squeeze_operation>(along, found));
  }
  finish_together(at, all);
  tensor_desc loss = at.each<f::log>(all[0]);
  if (all.ssize() == 3) loss = at.each<f::multiply>(loss, all[2]);
  out.push_back(narrowed(at, at.each<f::subtract>(loss, all[1]), x[0].type));
}

}  // namespace composed_steps
}  // namespace detail
}  // namespace shardwise
