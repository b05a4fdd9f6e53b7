// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/layout/tensor_desc.hpp"
#include "shardwise/rule/composite.hpp"

namespace shardwise {

/// What a rule says of an operation on given operands: the result, and how every factor is split.
/// `grains` are those of the factors, by number.
struct propagation {
  tensor_desc result{};
  /// The axes that split each factor, its size, and in what portions it is split.
  inplace_vector<axis_list, max_factors> axes{};
  factor_sizes sizes{};
  grain grains[max_factors]{};
  diagnosis verdict{};
};

/// The operands of one operation on paper.
using tensor_descs = inplace_vector<tensor_desc, max_operands>;

namespace detail {

/// The axes without those of size 1, which split nothing.
[[nodiscard]] constexpr axis_list real_axes(const mesh_desc& mesh, const axis_list& axes) noexcept {
  axis_list real;
  for (std::uint8_t a : axes)
    if (mesh.size(a) != 1) real.push_back(a);
  return real;
}

/// A bit for each axis.
[[nodiscard]] constexpr unsigned bits_of(const axis_list& axes) noexcept {
  unsigned bits = 0;
  for (int i = 0; i < axes.ssize(); ++i) bits |= 1U << axes[i];
  return bits;
}

/// Gives the factors of one operand their sizes: dimensions that meet have the same.
[[nodiscard]] constexpr diagnosis merge_sizes(const factor_map& map, const extents_desc& extents,
                                              int operand, factor_sizes& sizes) noexcept {
  for (int d = 0; d < extents.ssize(); ++d) {
    const std::uint8_t f = map[d];
    const index_t have = extents[d];
    if (f == repeated || have == dyn) continue;
    index_t& size = sizes[f];
    if (size == dyn) size = have;
    if (size != have)
      return {.rule = broken::operand_sizes_differ,
              .operand = operand,
              .dim = d,
              .have = have,
              .want = size};
  }
  return {};
}

/// Gives a factor its axes and their grain.
constexpr void give_axes(propagation& out, std::uint8_t factor, const axis_list& axes,
                         grain how) noexcept {
  out.axes[factor] = axes;
  if (!(out.grains[factor] == how)) out.grains[factor] = how;
}

/// Gives every factor its axes: the longest split of those that meet, of which the others are
/// beginnings, so that each device already holds what it reads. In portions of a grain only equal
/// splits do.
constexpr void merge_axes(const mesh_desc& mesh, const factor_rule& rule,
                          const tensor_descs& operands, propagation& out) noexcept {
  out.axes.resize(rule.factors.size());
  for (int o = 0; o < operands.ssize(); ++o) {
    const factor_map& map = rule.operands[o];
    const layout_desc& layout = operands[o].layout;
    for (int d = 0; d < layout.rank(); ++d) {
      const std::uint8_t f = map[d];
      const axis_list& theirs = layout.dims[d];
      const grain how = layout.grains[d];
      if (theirs.empty()) continue;
      if (f != repeated && out.axes[f].empty()) give_axes(out, f, theirs, how);
      if (f != repeated && out.axes[f] == theirs && out.grains[f] == how) continue;
      const axis_list real = real_axes(mesh, theirs);
      const axis_list ours = f == repeated ? axis_list{} : real_axes(mesh, out.axes[f]);
      const bool nested = real.is_prefix_of(ours) || ours.is_prefix_of(real);
      const bool alike = f == repeated || real.empty() || ours.empty() ||
                         (out.grains[f] == how && (how.is_contiguous() || real == ours));
      if ((f == repeated && !real.empty()) || !nested || !alike) {
        out.verdict = {.rule = broken::operand_layouts_conflict,
                       .operand = o,
                       .dim = d,
                       .axis = mesh.axes[theirs.back()].label};
        return;
      }
      if (f != repeated && real.size() > ours.size()) give_axes(out, f, theirs, how);
    }
  }
}

/// The refusal of an axis along whose split the result would have other elements on each device.
[[nodiscard]] constexpr diagnosis moving_split(const mesh_desc& mesh, const tensor_descs& operands,
                                               int axis) noexcept {
  diagnosis verdict{.rule = broken::split_would_move, .axis = mesh.axes[axis].label};
  for (int o = operands.ssize() - 1; o >= 0; --o)
    if (const int d = operands[o].layout.dim_of(static_cast<std::uint8_t>(axis)); d >= 0) {
      verdict.operand = o;
      verdict.dim = d;
    }
  return verdict;
}

/// A product and its parts as the factors of an operation are split.
[[nodiscard]] constexpr product_split product_of(const composite_factor& made,
                                                 const propagation& out) noexcept {
  const auto split_of = [&](int f) {
    return factor_split{out.axes[f], out.grains[f], out.sizes[f]};
  };
  product_split split;
  split.whole = split_of(made.whole);
  for (std::uint8_t part : made.parts) split.parts.push_back(split_of(part));
  return split;
}

/// Splits the parts of products that an operand has. Where others have a part too, it gets the
/// longer of both splits.
constexpr void split_products(const mesh_desc& mesh, const factor_rule& rule,
                              const tensor_descs& operands, propagation& out) noexcept {
  for (const composite_factor& made : rule.composites) {
    if (made.how != composition::product || out.axes[made.whole].empty()) continue;
    product_split split = product_of(made, out);
    for (factor_split& part : split.parts) {
      part.axes.clear();
      part.how = {};
    }
    split = split_parts(mesh, split);
    if (!split.ok()) {
      out.verdict = moving_split(mesh, operands, split.misfit);
      return;
    }
    for (int k = 0; k < split.parts.ssize(); ++k) {
      const std::uint8_t f = made.parts[k];
      const factor_split& part = split.parts[k];
      const axis_list ours = real_axes(mesh, out.axes[f]);
      const axis_list theirs = real_axes(mesh, part.axes);
      const bool alike = out.grains[f] == part.how && (part.how.is_contiguous() || ours == theirs);
      if (!theirs.empty() && !ours.empty() &&
          !(alike && (ours.is_prefix_of(theirs) || theirs.is_prefix_of(ours)))) {
        out.verdict = moving_split(mesh, operands, theirs.back());
        out.verdict.rule = broken::operand_layouts_conflict;
        return;
      }
      if (out.axes[f].empty() || theirs.size() > ours.size())
        give_axes(out, f, part.axes, part.how);
    }
  }
}

/// Splits products as their parts are split.
constexpr void join_products(const mesh_desc& mesh, const factor_rule& rule,
                             const tensor_descs& operands, propagation& out) noexcept {
  for (const composite_factor& made : rule.composites) {
    if (made.how != composition::product) continue;
    const product_split split = join_parts(mesh, product_of(made, out));
    if (!split.ok()) {
      out.verdict = moving_split(mesh, operands, split.misfit);
      return;
    }
    give_axes(out, made.whole, split.whole.axes, split.whole.how);
  }
}

/// Refuses what splits a factor that the result has not, nor folds.
constexpr void require_kept(const mesh_desc& mesh, const factor_rule& rule,
                            const tensor_descs& operands, propagation& out) noexcept {
  for (int f = 0; f < out.axes.ssize(); ++f) {
    if (rule.factors[f] != factor_kind::pass_through || out.axes[f].empty()) continue;
    if (rule.composite_of(f) >= 0 || rule.dim_with(rule.result, f) >= 0) continue;
    const axis_list real = real_axes(mesh, out.axes[f]);
    if (real.empty()) continue;
    out.verdict = moving_split(mesh, operands, real[0]);
    return;
  }
}

/// Lets every axis split one factor only; axes of size 1 give way. A composite has those of its
/// parts.
constexpr void separate_axes(const mesh_desc& mesh, const factor_rule& rule,
                             const tensor_descs& operands, propagation& out) noexcept {
  unsigned used = 0;
  for (int f = 0; f < out.axes.ssize(); ++f) {
    if (rule.composite_of(f) >= 0) continue;
    const unsigned bits = bits_of(out.axes[f]);
    if ((used & bits) == 0) {
      used |= bits;
      continue;
    }
    axis_list kept;
    for (std::uint8_t a : out.axes[f]) {
      const bool taken = (used >> a & 1U) != 0;
      used |= 1U << a;
      if (!taken) {
        kept.push_back(a);
      } else if (mesh.size(a) != 1) {
        for (int o = 0; o < operands.ssize(); ++o) {
          const int d = operands[o].layout.dim_of(a);
          if (d >= 0 && rule.operands[o][d] != repeated && rule.has_part(rule.operands[o][d], f))
            out.verdict = {.rule = broken::axis_would_split_twice,
                           .operand = o,
                           .dim = d,
                           .axis = mesh.axes[a].label};
        }
        return;
      }
    }
    out.axes[f] = kept;
    if (kept.empty() && !out.grains[f].is_contiguous()) out.grains[f] = {};
  }
}

/// The reduction whose pending values a law lets pass.
[[nodiscard]] constexpr reduction kind_of(linearity law) noexcept {
  switch (law) {
    case linearity::max_of:
      return reduction::max;
    case linearity::min_of:
      return reduction::min;
    case linearity::product_of:
      return reduction::product;
    default:
      return reduction::sum;
  }
}

/// The axes among these that have several devices, or as yet any number of them: a sum over one
/// device is no sum, so an axis of size 1 passes everything.
[[nodiscard]] constexpr unsigned axes_of_several(const mesh_desc& mesh, unsigned bits) noexcept {
  for (int a = 0; a < mesh.rank(); ++a)
    if (mesh.size(a) == 1) bits &= ~(1U << a);
  return bits;
}

/// True for a factor that passes no split: devices would need elements that others have.
[[nodiscard]] constexpr bool needs_others(const factor_rule& rule, int factor) noexcept {
  switch (rule.factors[factor]) {
    case factor_kind::need_replication:
    case factor_kind::permutation:
      return true;
    case factor_kind::blocked:
      for (const factor_halo& halo : rule.halos)
        if (halo.factor == factor && (halo.before > 0 || halo.after > 0)) return true;
      return false;
    default:
      return false;
  }
}

/// Refuses what splits a factor of which devices would need what others have.
constexpr void require_whole(const mesh_desc& mesh, const factor_rule& rule,
                             const tensor_descs& operands, propagation& out) noexcept {
  for (int f = 0; f < out.axes.ssize(); ++f) {
    if (out.axes[f].empty() || !needs_others(rule, f)) continue;
    const axis_list real = real_axes(mesh, out.axes[f]);
    if (real.empty()) continue;
    for (int o = 0; o < operands.ssize(); ++o)
      if (const int d = rule.dim_with(rule.operands[o], f);
          d >= 0 && operands[o].layout.dims[d].contains(real[0])) {
        out.verdict = {.rule = broken::dimension_is_split,
                       .operand = o,
                       .dim = d,
                       .axis = mesh.axes[real[0]].label};
        return;
      }
  }
}

/// Passes pending reductions on, where the law allows, and adds those of split reduction factors.
constexpr void merge_pending(const mesh_desc& mesh, const factor_rule& rule,
                             const tensor_descs& operands, propagation& out) noexcept {
  unsigned pending = 0;
  unsigned split = 0;
  unsigned folded = 0;
  for (int f = 0; f < out.axes.ssize(); ++f) {
    const unsigned bits = bits_of(out.axes[f]);
    split |= bits;
    if (rule.factors[f] == factor_kind::reduction) folded |= bits;
  }
  const bool together = rule.law == linearity::additive || rule.law == linearity::max_of ||
                        rule.law == linearity::min_of || rule.law == linearity::product_of ||
                        rule.law == linearity::structural;
  reduction kind = kind_of(rule.law);
  for (int o = 0; o < operands.ssize(); ++o) {
    const layout_desc& theirs = operands[o].layout;
    const unsigned bits = axes_of_several(mesh, theirs.pending);
    if (rule.law == linearity::structural && o == 0) kind = theirs.kind;
    const bool may = rule.law != linearity::nonlinear &&
                     !(rule.law == linearity::first_operand && o > 0) && theirs.kind == kind;
    if (bits != 0 && !may)
      out.verdict = {
          .rule = broken::partial_value_is_read, .operand = o, .axis = first_axis(mesh, bits)};
    else if (together && o > 0 && bits != pending)
      out.verdict = {.rule = broken::pending_axes_differ,
                     .operand = o,
                     .axis = first_axis(mesh, bits ^ pending)};
    else if (!together && (bits & (pending | split)) != 0)
      out.verdict = {.rule = broken::pending_axis_meets_itself,
                     .operand = o,
                     .axis = first_axis(mesh, bits & (pending | split))};
    if (!out.verdict.ok()) return;
    pending |= bits;
  }
  pending |= axes_of_several(mesh, folded);
  out.result.layout.pending = static_cast<std::uint8_t>(pending);
  if (pending != 0) out.result.layout.kind = rule.fold == reduction::sum ? kind : rule.fold;
}

/// The result is manual over the axes of any operand: devices that differ in one operand differ in
/// the result. Such an axis does nothing else in the operation.
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
    out.verdict = {
        .rule = broken::operand_is_manual, .operand = o, .axis = first_axis(mesh, manual & used)};
    return;
  }
}

}  // namespace detail

/// Applies a rule to operands on a mesh: the shape check, the layout check, the result.
///
/// Specs that agree combine; where they do not, the verdict says which operand, dimension and axis
/// stand in the way. Nothing is ever moved between devices here. What is `dyn` is not judged yet.
[[nodiscard]] constexpr propagation propagate(const mesh_desc& mesh, const factor_rule& rule,
                                              const tensor_descs& operands) noexcept {
  propagation out;
  if (operands.size() != rule.operands.size()) {
    out.verdict = {.rule = broken::operand_count_differs,
                   .have = operands.ssize(),
                   .want = rule.operands.ssize()};
    return out;
  }
  layout_desc& layout = out.result.layout;
  for (int o = 0; o < operands.ssize(); ++o) {
    const tensor_desc& operand = operands[o];
    const int want = rule.operands[o].ssize();
    if (operand.rank() != want) {
      out.verdict = {
          .rule = broken::operand_rank_differs, .operand = o, .have = operand.rank(), .want = want};
      return out;
    }
    layout.uneven = layout.uneven || operand.layout.uneven;
  }
  out.sizes = rule.given_sizes();
  for (int o = 0; o < operands.ssize() && out.verdict.ok(); ++o)
    out.verdict = detail::merge_sizes(rule.operands[o], operands[o].extents, o, out.sizes);
  if (out.verdict.ok()) out.verdict = complete_sizes(rule, out.sizes);
  if (out.verdict.ok()) detail::merge_axes(mesh, rule, operands, out);
  if (out.verdict.ok()) detail::split_products(mesh, rule, operands, out);
  if (out.verdict.ok()) detail::require_whole(mesh, rule, operands, out);
  if (out.verdict.ok()) detail::separate_axes(mesh, rule, operands, out);
  if (out.verdict.ok()) detail::require_kept(mesh, rule, operands, out);
  if (out.verdict.ok()) detail::join_products(mesh, rule, operands, out);
  if (out.verdict.ok()) detail::merge_pending(mesh, rule, operands, out);
  if (out.verdict.ok()) detail::merge_manual(mesh, operands, out);
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

}  // namespace shardwise
