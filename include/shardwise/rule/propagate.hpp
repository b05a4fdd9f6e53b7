// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/rule/factor_axes.hpp"

#include <type_traits>

namespace shardwise {

namespace internal {

/// Sets the sizes of the factors from one operand, and checks that aligned dimensions have equal
/// sizes.
[[nodiscard]] constexpr diagnosis merge_sizes(const factor_map& map, const extents_desc& extents,
                                              int operand, factor_sizes& sizes) noexcept {
  for (int d = 0; d < extents.ssize(); ++d) {
    const std::uint8_t f = map[d];
    const index_t have = extents[d];
    if (f == repeated || have == dyn) continue;
    index_t& size = sizes[f];
    if (size == dyn) size = have;
    if (size != have)
      return {.rule = violation::operand_sizes_differ,
              .operand = operand,
              .dim = d,
              .have = have,
              .want = size};
  }
  return {};
}

/// Returns the reduction whose pending values an operation with this rule may read.
[[nodiscard]] constexpr reduction kind_read(const factor_rule& rule) noexcept {
  switch (rule.law) {
    case linearity::max_of:
      return reduction::max;
    case linearity::min_of:
      return reduction::min;
    case linearity::product_of:
      return reduction::product;
    case linearity::multilinear:
      return rule.reduce;
    default:
      return reduction::sum;
  }
}

/// Carries pending reductions over to the result if the linearity of the operation allows it, and
/// adds the axes of split reduction factors.
constexpr void merge_pending(const mesh_desc& mesh, const factor_rule& rule,
                             const tensor_descs& operands, propagation& out) noexcept {
  unsigned pending = 0;
  unsigned split = 0;
  unsigned reduced = 0;
  for (int f = 0; f < out.axes.ssize(); ++f) {
    const unsigned bits = bits_of(out.axes[f]);
    split |= bits;
    if (rule.factors[f] == factor_kind::reduction) reduced |= bits;
  }
  const bool together = rule.law == linearity::additive || rule.law == linearity::max_of ||
                        rule.law == linearity::min_of || rule.law == linearity::product_of ||
                        rule.law == linearity::structural;
  reduction kind = kind_read(rule);
  for (int o = 0; o < operands.ssize(); ++o) {
    const layout_desc& theirs = operands[o].layout;
    const unsigned bits = axes_of_several(mesh, theirs.pending);
    if (rule.law == linearity::structural && o == 0) kind = theirs.kind;
    const bool may = rule.law != linearity::nonlinear &&
                     !(rule.law == linearity::first_operand && o > 0) && theirs.kind == kind;
    if (bits != 0 && !may)
      out.verdict = {
          .rule = violation::partial_value_is_read, .operand = o, .axis = first_axis(mesh, bits)};
    else if (together && o > 0 && bits != pending)
      out.verdict = {.rule = violation::pending_axes_differ,
                     .operand = o,
                     .axis = first_axis(mesh, bits ^ pending)};
    else if (!together && (bits & (pending | split)) != 0)
      out.verdict = {.rule = violation::pending_axis_meets_itself,
                     .operand = o,
                     .axis = first_axis(mesh, bits & (pending | split))};
    if (!out.verdict.ok()) return;
    pending |= bits;
  }
  pending |= axes_of_several(mesh, reduced);
  out.result.layout.pending = static_cast<std::uint8_t>(pending);
  if (pending != 0) out.result.layout.kind = rule.reduce == reduction::sum ? kind : rule.reduce;
}

/// Makes the result manual over the manual axes of all operands, since devices that differ in one
/// operand differ in the result. Such an axis must have no other use in the operation.
constexpr void merge_manual(const mesh_desc& mesh, const tensor_descs& operands,
                            propagation& out) noexcept {
  layout_desc& layout = out.result.layout;
  unsigned used = layout.pending;
  for (const axis_list& axes : out.axes) used |= bits_of(axes);
  for (int o = 0; o < operands.ssize(); ++o) used |= operands[o].layout.pending;
  for (int o = 0; o < operands.ssize(); ++o) {
    const unsigned manual = operands[o].layout.manual;
    layout.manual = static_cast<std::uint8_t>(layout.manual | manual);
    if ((manual & used) == 0) continue;
    out.verdict = {.rule = violation::operand_is_manual,
                   .operand = o,
                   .axis = first_axis(mesh, manual & used)};
    return;
  }
}

}  // namespace internal

namespace detail {

/// The implementation of `propagate`.
[[nodiscard]] constexpr propagation propagate_rule(const mesh_desc& mesh, const factor_rule& rule,
                                                   const tensor_descs& operands) noexcept {
  propagation out;
  if (operands.size() != rule.operands.size()) {
    out.verdict = {.rule = violation::operand_count_differs,
                   .have = operands.ssize(),
                   .want = rule.operands.ssize()};
    return out;
  }
  layout_desc& layout = out.result.layout;
  for (int o = 0; o < operands.ssize(); ++o) {
    const tensor_desc& operand = operands[o];
    const int want = rule.operands[o].ssize();
    if (operand.rank() != want) {
      out.verdict = {.rule = violation::operand_rank_differs,
                     .operand = o,
                     .have = operand.rank(),
                     .want = want};
      return out;
    }
    layout.uneven = layout.uneven || operand.layout.uneven;
  }
  out.sizes = rule.given_sizes();
  for (int o = 0; o < operands.ssize() && out.verdict.ok(); ++o)
    out.verdict = internal::merge_sizes(rule.operands[o], operands[o].extents, o, out.sizes);
  if (out.verdict.ok()) out.verdict = complete_sizes(rule, out.sizes);
  if (out.verdict.ok()) internal::merge_axes(mesh, rule, operands, out);
  if (out.verdict.ok()) internal::split_readers(mesh, rule, operands, out);
  if (out.verdict.ok()) internal::split_products(mesh, rule, operands, out);
  if (out.verdict.ok()) internal::require_whole(mesh, rule, operands, out);
  if (out.verdict.ok()) internal::separate_axes(mesh, rule, operands, out);
  if (out.verdict.ok()) internal::require_kept(mesh, rule, operands, out);
  if (out.verdict.ok()) internal::join_products(mesh, rule, operands, out);
  if (out.verdict.ok()) internal::merge_pending(mesh, rule, operands, out);
  if (out.verdict.ok()) internal::merge_manual(mesh, operands, out);
  if (!out.verdict.ok()) return out;

  out.result.type = operands[0].type;
  for (int d = 0; d < rule.result.ssize(); ++d) {
    const std::uint8_t f = rule.result[d];
    out.result.extents.push_back(f == repeated ? 1 : out.sizes[f]);
    layout.dims.push_back(f == repeated ? axis_list{} : out.axes[f]);
    if (f != repeated && !out.grains[f].is_contiguous()) layout.grains[d] = out.grains[f];
  }
  return out;
}
/// The implementation at run time, which is in the compiled library.
[[nodiscard]] propagation propagate_now(const mesh_desc& mesh, const factor_rule& rule,
                                        const tensor_descs& operands) noexcept;

}  // namespace detail

/// Applies a rule to operands on a mesh: checks shapes and layouts, and returns the result.
///
/// Specs that agree combine; if they do not, the verdict names the operand, dimension and axis that
/// conflict. No data is moved between devices. Sizes that are `dyn` are not checked yet.
[[nodiscard]] constexpr propagation propagate(const mesh_desc& mesh, const factor_rule& rule,
                                              const tensor_descs& operands) noexcept {
  if constexpr (build_config::compiled) {
    if (!std::is_constant_evaluated()) return detail::propagate_now(mesh, rule, operands);
  }
  return detail::propagate_rule(mesh, rule, operands);
}

}  // namespace shardwise
