// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/rule/composite.hpp"
#include "shardwise/rule/propagation.hpp"

namespace shardwise::internal {

/// Sets the axes of a factor and their grain.
constexpr void give_axes(propagation& out, std::uint8_t factor, const axis_list& axes,
                         grain how) noexcept {
  out.axes[factor] = axes;
  if (!(out.grains[factor] == how)) out.grains[factor] = how;
}

/// Returns true if a split of factor `f` and another one, over `axes` with the grain `how`, can be
/// compared by their axes alone: both are cut axis by axis, or both have the same grain over the
/// same axes.
[[nodiscard]] constexpr bool are_alike(const mesh_desc& mesh, const propagation& out, int f,
                                       const axis_list& axes, grain how) noexcept {
  const grain ours = said_by_axis(mesh, out.axes[f], out.grains[f], out.sizes[f]);
  return ours == said_by_axis(mesh, axes, how, out.sizes[f]) &&
         (ours.is_contiguous() || real_axes(mesh, out.axes[f]) == real_axes(mesh, axes));
}

/// Chooses the axes of every factor: the longest of the splits of its dimensions. The others must
/// be prefixes of it, so that each device already holds what it reads; splits with a grain must be
/// equal.
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
      const bool alike =
          f == repeated || real.empty() || ours.empty() || are_alike(mesh, out, f, theirs, how);
      if ((f == repeated && !real.empty()) || !nested || !alike) {
        out.verdict = {.rule = violation::operand_layouts_conflict,
                       .operand = o,
                       .dim = d,
                       .axis = mesh.axes[theirs.back()].label};
        return;
      }
      if (f != repeated && real.size() > ours.size()) give_axes(out, f, theirs, how);
    }
  }
}

/// Returns the diagnosis for an axis whose split would give each device different elements of the
/// result.
[[nodiscard]] constexpr diagnosis moving_split(const mesh_desc& mesh, const tensor_descs& operands,
                                               int axis) noexcept {
  diagnosis verdict{.rule = violation::split_would_move, .axis = mesh.axes[axis].label};
  for (int o = operands.ssize() - 1; o >= 0; --o)
    if (const int d = operands[o].layout.dim_of(static_cast<std::uint8_t>(axis)); d >= 0) {
      verdict.operand = o;
      verdict.dim = d;
    }
  return verdict;
}

/// The splits of a product and of its parts in an operation.
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

/// Splits the parts of products that an operand has. A part that is also a dimension of another
/// operand takes the longer of both splits.
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
      const bool alike = are_alike(mesh, out, f, part.axes, part.how);
      if (!theirs.empty() && !ours.empty() &&
          !(alike && (ours.is_prefix_of(theirs) || theirs.is_prefix_of(ours)))) {
        out.verdict = moving_split(mesh, operands, theirs.back());
        out.verdict.rule = violation::operand_layouts_conflict;
        return;
      }
      if (out.axes[f].empty() || theirs.size() > ours.size())
        give_axes(out, f, part.axes, part.how);
    }
  }
}

/// Splits products according to the splits of their parts.
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

/// Rejects splits of factors that are neither in the result nor reduced.
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

/// Checks that every axis splits only one factor; axes of size 1 are dropped instead. A composite
/// factor shares the axes of its parts.
constexpr void separate_axes(const mesh_desc& mesh, const factor_rule& rule,
                             const tensor_descs& operands, propagation& out) noexcept {
  unsigned used = 0;
  for (const bool are_reduced : {false, true})
    for (int f = 0; f < out.axes.ssize(); ++f) {
      // A factor read through windows has the same split as the factor that reads it.
      const int w = rule.window_of(f);
      if (rule.composite_of(f) >= 0 || (w >= 0 && rule.windows[w].reader != f) ||
          (rule.factors[f] == factor_kind::reduction) != are_reduced)
        continue;
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
          // The first one: later operands follow it.
          for (int o = operands.ssize() - 1; o >= 0; --o) {
            const int d = operands[o].layout.dim_of(a);
            if (d >= 0 && rule.operands[o][d] != repeated && rule.has_part(rule.operands[o][d], f))
              out.verdict = {.rule = violation::axis_would_split_twice,
                             .operand = o,
                             .dim = d,
                             .axis = mesh.axes[a].label};
          }
          return;
        }
      }
      out.axes[f] = kept;
      if (!out.grains[f].is_contiguous()) out.grains[f] = out.grains[f].over(kept.ssize());
    }
}

/// Returns true for a factor that may not be split because devices would need elements of other
/// devices.
[[nodiscard]] constexpr bool needs_others(const factor_rule& rule, int factor) noexcept {
  switch (rule.factors[factor]) {
    case factor_kind::need_replication:
    case factor_kind::permutation:
      return true;
    default:
      return false;
  }
}

/// Returns the diagnosis for the split of a factor of which devices need the whole.
[[nodiscard]] constexpr diagnosis needed_whole(const mesh_desc& mesh, const factor_rule& rule,
                                               const tensor_descs& operands, int factor,
                                               std::uint8_t axis) noexcept {
  diagnosis verdict{.rule = violation::dimension_is_split, .axis = mesh.axes[axis].label};
  for (int o = operands.ssize() - 1; o >= 0; --o)
    if (const int d = rule.dim_with(rule.operands[o], factor);
        d >= 0 && operands[o].layout.dims[d].contains(axis)) {
      verdict.operand = o;
      verdict.dim = d;
    }
  return verdict;
}

/// Splits a factor that reads windows in the same way as the split factor that it reads, if each
/// device holds what its windows read: in its own part, or in that and a halo. Rejects other
/// splits, and halos that no window reads.
constexpr void split_readers(const mesh_desc& mesh, const factor_rule& rule,
                             const tensor_descs& operands, propagation& out) noexcept {
  for (int f = 0; f < out.axes.ssize() && out.verdict.ok(); ++f) {
    const grain how = said_by_axis(mesh, out.axes[f], out.grains[f], out.sizes[f]);
    const int w = rule.window_of(f);
    if (out.axes[f].empty() || (w < 0 && !how.is_halo())) continue;
    const axis_list real = real_axes(mesh, out.axes[f]);
    if (real.empty()) {
      // Pass axes of size 1 on to the result, as other operations do.
      if (w >= 0 && out.axes[rule.windows[w].reader].empty())
        give_axes(out, rule.windows[w].reader, out.axes[f], {});
      continue;
    }
    const needed_halo lacks = w < 0
                                  ? needed_halo{0, 0, false}
                                  : halo_of(mesh, out.axes[f], rule.windows[w].reads, out.sizes[f]);
    if (!how.without_halo().is_contiguous() || !lacks.is_known || lacks.before > how.before() ||
        lacks.behind > how.behind() ||
        !rule.windows[w].keeps_split(out.sizes[f], mesh.parts(out.axes[f]),
                                     out.result.layout.uneven)) {
      out.verdict = needed_whole(mesh, rule, operands, f, real[0]);
      return;
    }
    const std::uint8_t reader = rule.windows[w].reader;
    if (reader == f) {
      if (how.is_halo()) out.verdict = needed_whole(mesh, rule, operands, f, real[0]);
      continue;
    }
    const axis_list theirs = real_axes(mesh, out.axes[reader]);
    if (!theirs.empty() && !(theirs == real && out.grains[reader].is_contiguous())) {
      out.verdict = moving_split(mesh, operands, theirs.back());
      out.verdict.rule = violation::operand_layouts_conflict;
      return;
    }
    give_axes(out, reader, out.axes[f], {});
  }
}

/// Rejects splits of a factor under which devices would need elements of other devices.
constexpr void require_whole(const mesh_desc& mesh, const factor_rule& rule,
                             const tensor_descs& operands, propagation& out) noexcept {
  for (int f = 0; f < out.axes.ssize(); ++f) {
    if (out.axes[f].empty() || !needs_others(rule, f)) continue;
    const axis_list real = real_axes(mesh, out.axes[f]);
    if (real.empty()) continue;
    out.verdict = needed_whole(mesh, rule, operands, f, real[0]);
    return;
  }
}

}  // namespace shardwise::internal
