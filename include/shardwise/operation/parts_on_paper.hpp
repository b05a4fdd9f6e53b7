// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/composed_on_paper.hpp"
#include "shardwise/operation/cumsum.hpp"
#include "shardwise/operation/diff.hpp"
#include "shardwise/operation/iota_like.hpp"
#include "shardwise/operation/repeat_counts.hpp"
#include "shardwise/operation/repeat_each.hpp"
#include "shardwise/operation/ring_roll.hpp"
#include "shardwise/operation/scan_in_parts.hpp"
#include "shardwise/operation/shard_mirror.hpp"
#include "shardwise/operation/shard_owner.hpp"

namespace shardwise::detail {

/// A function of halves of a dimension that is not linear.
struct halves_judge {
  [[nodiscard]] static constexpr factor_rule rule(const attributes& how,
                                                  const tensor_descs& operands) noexcept {
    factor_rule out = split_judge::rule(how, operands);
    out.law = linearity::nonlinear;
    return out;
  }
  [[nodiscard]] static constexpr diagnosis check(const attributes& how,
                                                 const tensor_descs& operands) noexcept {
    return over(how.integers[0]).judge(operands[0].rank());
  }
};
/// An integral along a dimension: a sum of weighted elements, which are not pending.
struct trapezoid_judge {
  [[nodiscard]] static constexpr factor_rule rule(const attributes& how,
                                                  const tensor_descs& operands) noexcept {
    factor_rule out =
        reduction_rule(reduction::sum, operands[0].rank(), over(how.integers[0]).bits());
    out.law = linearity::nonlinear;
    return out;
  }
  [[nodiscard]] static constexpr diagnosis check(const attributes& how,
                                                 const tensor_descs& operands) noexcept {
    return over(how.integers[0]).judge(operands[0].rank());
  }
};
/// The counts of numbers: a sum of ones by index.
struct bincount_judge {
  [[nodiscard]] static constexpr factor_rule rule(const attributes& how,
                                                  const tensor_descs& operands) noexcept {
    factor_rule out = segment_sum_operation::rule(of_ones(how), with_ones(operands));
    out.operands.pop_back();
    out.law = linearity::nonlinear;
    return out;
  }
  [[nodiscard]] static constexpr diagnosis check(const attributes& how,
                                                 const tensor_descs& operands) noexcept {
    if (operands[0].rank() == 0) return over(0).judge(0);
    return segment_sum_operation::check(of_ones(how), with_ones(operands));
  }
  [[nodiscard]] static constexpr diagnosis check_elements(const attributes&,
                                                          const tensor_descs& operands) noexcept {
    return check_indices(operands, 0, 1);
  }
  [[nodiscard]] static constexpr attributes of_ones(const attributes& how) noexcept {
    return integer_attributes(0, how.integers[0], how.integers[1]);
  }

 private:
  [[nodiscard]] static constexpr tensor_descs with_ones(const tensor_descs& operands) noexcept {
    return {tensor_desc{element::i64, operands[0].extents, operands[0].layout}, operands[0]};
  }
};

/// The steps of a scan on abstract tensors.
struct scan_of_paper {
  paper_steps& at;
  const scan_parts& plan;

  template <class Class, auto How, class Made = void>
  [[nodiscard]] constexpr tensor_desc apply(const tensor_desc& x) const {
    return at.apply<Class>((plan.*How)(), x);
  }
  template <class Function, class... X>
  [[nodiscard]] constexpr tensor_desc each(const X&... x) const {
    return at.each<Function>(x...);
  }
  [[nodiscard]] constexpr tensor_desc number(const tensor_desc& beside, double) const noexcept {
    return paper_steps::number(beside);
  }
  [[nodiscard]] constexpr tensor_desc widen(const tensor_desc& x) const {
    return composed_steps::widened(at, x);
  }
  [[nodiscard]] constexpr tensor_desc narrow(const tensor_desc& like, const tensor_desc& x) const {
    return composed_steps::narrowed(at, x, like.type);
  }
  [[nodiscard]] constexpr tensor_desc fill(const tensor_desc& x) const {
    return plan.missing() == 0 ? x : apply<pad_operation, &scan_parts::fill>(x);
  }
  [[nodiscard]] constexpr tensor_desc trim(const tensor_desc& x) const {
    return plan.missing() == 0 ? x : apply<slice_operation, &scan_parts::trim>(x);
  }
  [[nodiscard]] constexpr tensor_desc gather(const tensor_desc& x) const {
    layout_desc layout = x.layout;
    layout.unsplit(plan.dim);
    return at.resharded(x, layout);
  }
  [[nodiscard]] constexpr tensor_desc lay_out(const tensor_desc& x, const tensor_desc& like) const {
    return x.layout == like.layout ? x : at.resharded(x, like.layout);
  }
};

/// The steps of `diff`, `glu`, `bincount`, `repeat_counts`, `repeat_each`, `trapezoid`, and of
/// `roll`, `flip`, `index_at` and scans between devices, on abstract tensors.
namespace composed_steps {

/// A part of a dimension.
[[nodiscard]] constexpr tensor_desc part_of(paper_steps& at, const tensor_desc& x,
                                            const attributes& how, index_t begin, index_t end) {
  return at.apply<slice_operation>(
      slice_operation::how(static_cast<int>(how.integers[0]), begin, end, 1), x);
}
constexpr void diff(paper_steps& at, const attributes& how, const tensor_descs& given,
                    tensor_results& out) {
  const tensor_desc x = at.gathered(neighbours_judge::rule(how, given), given)[0];
  const tensor_desc upper = part_of(at, x, how, 1, open_end);
  out.push_back(at.each<f::subtract>(upper, part_of(at, x, how, 0, -1)));
}
constexpr void glu(paper_steps& at, const attributes& how, const tensor_descs& given,
                   tensor_results& out) {
  const tensor_desc x = at.gathered(split_judge::rule(how, given), given)[0];
  const index_t size = x.extents[static_cast<int>(how.integers[0])];
  // An odd size has no half: its slice is out of range.
  const tensor_desc first = part_of(at, x, how, 0, size % 2 == 0 ? size / 2 : size + 1);
  const tensor_desc second = part_of(at, x, how, size / 2, size);
  out.push_back(at.each<f::multiply>(first, at.each<f::sigmoid>(second)));
}
constexpr void bincount(paper_steps& at, const attributes& how, const tensor_descs& ids,
                        tensor_results& out) {
  const tensor_desc index = at.apply<iota_like_operation>(integer_attributes(0), ids[0]);
  const tensor_desc n = paper_steps::number(index);
  const tensor_desc ones = at.each<f::add>(at.each<f::multiply>(index, n), n);
  out.push_back(at.apply<segment_sum_operation>(bincount_judge::of_ones(how), ones, ids[0]));
}
constexpr void repeat_each(paper_steps& at, const attributes& how, const tensor_descs& given,
                           tensor_results& out) {
  const tensor_descs x = at.checked(repeat_each_operation::rule(how, given), given);
  const attributes along = integer_attributes(0);
  const tensor_desc counts = at.apply(cast_to(element::i64), {}, {x[1]});
  tensor_results starts;
  bincount(at, integer_attributes(how.integers[1], static_cast<int>(out_of_range::fill)),
           {at.apply<cumsum_operation>(along, counts)}, starts);
  const int dim = static_cast<int>(how.integers[0]);
  out.push_back(at.apply<take_operation>(take_operation::how(dim, out_of_range::clamp), x[0],
                                         at.apply<cumsum_operation>(along, starts[0])));
}
/// The runs of equal counts, which are repeated and concatenated, compute nothing.
constexpr void repeat_counts(paper_steps& at, const attributes& how, const tensor_descs& given,
                             tensor_results& out) {
  const tensor_descs x = at.checked(repeat_counts_operation::rule(how, given), given);
  out.push_back(at.apply<repeat_counts_operation>(how, x[0]));
}
constexpr void trapezoid(paper_steps& at, const attributes& how, const tensor_descs& x,
                         tensor_results& out) {
  const auto dim = static_cast<int>(how.integers[0]);
  const tensor_desc wide = widened(at, x[0]);
  const tensor_desc index = at.apply<iota_like_operation>(iota_like_operation::how(dim), wide);
  const tensor_desc place = paper_steps::number(index);
  const auto is_end = [&] {
    return at.apply(cast_to(wide.type), {}, {at.each<f::equal>(index, place)});
  };
  const tensor_desc first = is_end(), ends = at.each<f::add>(first, is_end());
  const tensor_desc n = paper_steps::number(ends);
  const tensor_desc weights = at.each<f::add>(at.each<f::multiply>(ends, n), n);
  const tensor_desc total =
      at.reduce(reduction::sum, at.each<f::multiply>(wide, weights), 1U << dim, false);
  out.push_back(with_terms_as(at, at.each<f::multiply>(total, n), x[0].type));
}

/// Makes no result if the dimension is rolled as a whole.
constexpr void roll(paper_steps& at, const attributes& how, const tensor_descs& x,
                    tensor_results& out) {
  const auto dim = static_cast<int>(how.integers[0]);
  const ring_roll plan = ring_roll::of(at.mesh(), x[0], dim, how.integers[1], at.permitted());
  if (!plan.is_possible()) return;
  const tensor_desc mine = to_manual(at.mesh(), x[0]).tensor;
  for (const ring_roll::piece& piece : plan.pieces) {
    const tensor_desc part =
        plan.moves_shards() ? mine : part_of(at, mine, how, piece.begin, piece.end);
    if (piece.by != 0) (void)at.called(plan.move_of(piece), part);
  }
  out.push_back(x[0]);
}

/// Makes no result if the dimension is not split, or gathered.
constexpr void index_at(paper_steps& at, const attributes& how, const tensor_descs& x,
                        tensor_results& out) {
  const shard_owner plan = shard_owner::of(at.mesh(), x[0], how, at.permitted());
  if (!plan.is_possible()) return;
  const auto dim = static_cast<int>(how.integers[0]);
  const tensor_desc mine =
      at.apply<slice_operation>(slice_operation::how(dim, plan.local, plan.local + 1, 1, true),
                                to_manual(at.mesh(), x[0]).tensor);
  const tensor_desc sent = at.called(plan.sending(), mine);
  out.push_back(from_manual(at.mesh(), sent, shard_owner::result_of(at.mesh(), x[0], how)).tensor);
}
/// Makes no result if the dimension is scanned as a whole.
template <class Class>
constexpr void scan(paper_steps& at, const attributes& how, const tensor_descs& x,
                    tensor_results& out) {
  const scan_parts plan = scan_parts::of(at.mesh(), x[0], how.integers[0], at.permitted());
  if (plan.is_possible()) out.push_back(scan_in_parts<Class>(scan_of_paper{at, plan}, x[0]));
}
/// Makes no result if the dimensions are reversed as a whole.
constexpr void flip(paper_steps& at, const attributes& how, const tensor_descs& x,
                    tensor_results& out) {
  const shard_mirror plan = shard_mirror::of(at.mesh(), x[0], over(how.integers), at.permitted());
  if (!plan.is_possible()) return;
  const tensor_desc mine = to_manual(at.mesh(), x[0]).tensor;
  for (const axis_list& axes : plan.dims) (void)at.called(shard_mirror::along(axes), mine);
  out.push_back(x[0]);
}

}  // namespace composed_steps
}  // namespace shardwise::detail
