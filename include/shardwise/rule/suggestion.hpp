// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/layout/layout_rules.hpp"
#include "shardwise/rule/propagate.hpp"

#include <type_traits>

namespace shardwise {

/// The reshard that would make an operation legal: an operand, and its new layout.
struct suggested_reshard {
  int operand = -1;
  layout_desc layout{};
  /// True if the layout of the operand is exact and the suggested one has to be uneven.
  bool becomes_uneven = false;
  /// The axes over which communication would suffice if the call permitted it; empty for an
  /// operation that takes no permission.
  axis_list permitted{};
};

namespace detail {

/// True if an axis splits the same dimension in both layouts, within the same parts: the axes that
/// are major to it are the same. Axes of one device split nothing.
[[nodiscard]] constexpr bool splits_alike(const mesh_desc& mesh, const axis_list& from,
                                          const axis_list& to, std::uint8_t axis) noexcept {
  int i = 0;
  int k = 0;
  for (;; ++i, ++k) {
    while (i < from.ssize() && mesh.size(from[i]) == 1) ++i;
    while (k < to.ssize() && mesh.size(to[k]) == 1) ++k;
    if (i == from.ssize() || k == to.ssize() || from[i] != to[k]) return false;
    if (from[i] == axis) return true;
  }
}

}  // namespace detail

/// Returns the axes, a bit for each, over which devices need other elements or terms of a tensor in
/// another layout than in its own: what a permission has to name. Axes of one device split nothing.
[[nodiscard]] constexpr unsigned moved_axes(const mesh_desc& mesh, const tensor_desc& tensor,
                                            const layout_desc& to) noexcept {
  const layout_desc from = said_by_axis(mesh, tensor.layout, tensor.extents);
  unsigned moved = 0;
  for (std::uint8_t a = 0; a < mesh.rank(); ++a) {
    if (mesh.size(a) == 1) continue;
    const int d = from.dim_of(a);
    const bool stays = d == to.dim_of(a) && from.is_pending(a) == to.is_pending(a) &&
                       (d < 0 || (detail::splits_alike(mesh, from.dims[d], to.dims[d], a) &&
                                  from.grains[d] == said_by_axis(mesh, to.dims[d], to.grains[d],
                                                                 tensor.extents[d])));
    if (!stays) moved |= 1U << a;
  }
  return moved;
}

namespace detail {

/// Moves an axis that was rejected in one dimension of an operand to an earlier dimension, if that
/// makes the operation legal. No device holds more afterwards.
constexpr void split_before(const mesh_desc& mesh, const factor_rule& rule, tensor_descs& operands,
                            const diagnosis& refused, std::uint8_t axis) noexcept {
  tensor_desc& operand = operands[refused.operand];
  const layout_desc without_it = operand.layout;
  for (int d = refused.dim - 1; d >= 0; --d) {
    if (!without_it.grains[d].is_contiguous()) continue;
    operand.layout.dims[d].push_back(axis);
    if (validate(mesh, operand.layout, operand.extents).ok() &&
        propagate(mesh, rule, operands).verdict.ok())
      return;
    operand.layout = without_it;
  }
}

}  // namespace detail

/// Returns the halo exchange that gives devices the elements which windows of a split dimension
/// need; `operand` is -1 if the rejection has another reason or sizes are not known.
[[nodiscard]] constexpr suggested_reshard propose_halo(const mesh_desc& mesh,
                                                       const factor_rule& rule,
                                                       const tensor_descs& operands,
                                                       const diagnosis& verdict) noexcept {
  if (verdict.rule != violation::dimension_is_split || verdict.operand < 0) return {};
  const tensor_desc& operand = operands[verdict.operand];
  const std::uint8_t f = rule.operands[verdict.operand][verdict.dim];
  const int w = f == repeated ? -1 : rule.window_of(f);
  if (w < 0 || rule.windows[w].reader == f) return {};
  suggested_reshard out{verdict.operand, said_by_axis(mesh, operand.layout, operand.extents)};
  const axis_list& axes = out.layout.dims[verdict.dim];
  grain& how = out.layout.grains[verdict.dim];
  if (axes.empty() || !how.is_contiguous()) return {};
  const needed_halo lacks =
      halo_of(mesh, axes, rule.windows[w].reads, operand.extents[verdict.dim]);
  if (!lacks.is_known || lacks.before >= grain::halo_end || lacks.behind >= grain::halo_end)
    return {};
  const factor_window& window = rule.windows[w];
  const index_t size = operand.extents[verdict.dim], parts = mesh.parts(axes);
  bool may_be_uneven = false;
  for (const tensor_desc& each : operands) may_be_uneven = may_be_uneven || each.layout.uneven;
  if (!window.keeps_split(size, parts, may_be_uneven)) return {};
  const index_t part = ceil_div(size, parts);
  if (window.may_gather &&
      (lacks.before > part || lacks.behind > part || lacks.before + lacks.behind >= size - part))
    return {};
  how = grain::halo(lacks.before, lacks.behind);
  return out;
}

/// The `across` of a call: whether it accepts one, so that an error may suggest it, and a bit for
/// each axis that it has already.
struct across_permission {
  bool is_taken = false;
  unsigned axes = 0;
  /// True if only the steps of a composed operation communicate: they reduce what is split or
  /// pending of the first operand, and gather no other.
  bool is_of_steps = false;

  /// The permission of a call with these axes; nothing is left to permit if it has every axis.
  [[nodiscard]] static constexpr across_permission with(unsigned axes) noexcept {
    return {axes != ~0U, axes};
  }
  /// Returns true if a permission over further axes would help.
  [[nodiscard]] constexpr bool may_help(const diagnosis& verdict) const noexcept {
    const bool is_reduced =
        verdict.operand == 0 && (verdict.rule == violation::dimension_is_split ||
                                 verdict.rule == violation::partial_value_is_read);
    return is_taken && (!is_of_steps || is_reduced);
  }
};

/// Returns the reshard to suggest when `propagate` rejects the layouts of the operands; `operand`
/// is -1 if no reshard helps, for instance for sizes that differ. If the call takes a permission,
/// the axes that it would have to name are suggested too.
[[nodiscard]] constexpr suggested_reshard propose(const mesh_desc& mesh, const factor_rule& rule,
                                                  const tensor_descs& operands,
                                                  const diagnosis& verdict,
                                                  across_permission call = {}) noexcept {
  suggested_reshard out{verdict.operand, {}};
  const auto without = [](const axis_list& axes, const auto& drop) {
    axis_list kept;
    for (std::uint8_t a : axes)
      if (!drop(a)) kept.push_back(a);
    return kept;
  };
  const auto leave = [&](int d, const axis_list& axes) {
    out.layout.dims[d] = axes;
    out.layout.grains[d] = out.layout.grains[d].over(axes.ssize());
  };
  switch (verdict.rule) {
    case violation::operand_layouts_conflict: {
      out.layout = operands[verdict.operand].layout;
      const std::uint8_t f = rule.operands[verdict.operand][verdict.dim];
      axis_list wanted;
      unsigned taken = 0;
      grain how{};
      for (int o = 0; o < verdict.operand && f != repeated; ++o)
        if (const int d = rule.operands[o].find(f); d >= 0 && wanted.empty()) {
          wanted = operands[o].layout.dims[d];
          taken = internal::bits_of(wanted);
          how = operands[o].layout.grains[d];
        }
      for (int d = 0; d < out.layout.rank(); ++d)
        leave(d, without(out.layout.dims[d], [&](std::uint8_t a) { return wanted.contains(a); }));
      // A reduction cannot stay pending over axes that now split the dimension.
      out.layout.pending = static_cast<std::uint8_t>(out.layout.pending & ~taken);
      if (out.layout.pending == 0) out.layout.kind = reduction::sum;
      out.layout.dims[verdict.dim] = wanted;
      out.layout.grains[verdict.dim] = how;
      if (!validate(mesh, out.layout, operands[verdict.operand].extents).ok())
        out.layout.uneven = out.becomes_uneven = true;
      else if (!out.layout.uneven)
        out.layout.follow(exact{});
      break;
    }
    case violation::dimension_is_split: {
      // Gather all dimensions of the operand that are needed whole, so that one reshard is
      // sufficient. Of windows each dimension is judged alone, since a halo may do for it.
      tensor_descs given = operands;
      out.layout = given[out.operand].layout;
      for (diagnosis next = verdict; next.rule == verdict.rule && next.operand == out.operand;
           next = propagate(mesh, rule, given).verdict) {
        leave(next.dim, {});
        given[out.operand].layout = out.layout;
        if (!rule.windows.empty()) break;
      }
      break;
    }
    case violation::split_would_move: {
      // Remove other misplaced axes too, so that one reshard is sufficient.
      tensor_descs given = operands;
      layout_desc& left = given[out.operand].layout;
      for (diagnosis next = verdict;
           next.rule == violation::split_would_move && next.operand == out.operand;
           next = propagate(mesh, rule, given).verdict) {
        const auto moved = static_cast<std::uint8_t>(mesh.find(next.axis));
        left.dims[next.dim] =
            without(left.dims[next.dim], [&](std::uint8_t a) { return a == moved; });
        left.grains[next.dim] = left.grains[next.dim].over(left.dims[next.dim].ssize());
        detail::split_before(mesh, rule, given, next, moved);
      }
      out.layout = left;
      break;
    }
    case violation::axis_would_split_twice: {
      out.layout = operands[verdict.operand].layout;
      leave(verdict.dim, without(out.layout.dims[verdict.dim], [&](std::uint8_t a) {
              return mesh.axes[a].label == verdict.axis;
            }));
      break;
    }
    case violation::partial_value_is_read:
    case violation::pending_axes_differ:
    case violation::pending_axis_meets_itself: {
      // The operand of the verdict may be the one that is not pending; then the other one must be
      // finished.
      const int axis = mesh.find(verdict.axis);
      for (int o = 0; o < operands.ssize() && !operands[out.operand].layout.is_pending(axis); ++o)
        out.operand = o;
      out.layout = operands[out.operand].layout;
      out.layout.pending = 0;
      out.layout.kind = reduction::sum;
      break;
    }
    default:
      out.operand = -1;
  }
  if (call.may_help(verdict) && out.operand >= 0) {
    const unsigned needed = call.axes | moved_axes(mesh, operands[out.operand], out.layout);
    for (std::uint8_t a = 0; a < mesh.rank(); ++a)
      if ((needed >> a & 1U) != 0) out.permitted.push_back(a);
  }
  return out;
}

/// Writes `reshard<P<"data", none>>`, with axes between `quote`s and, if it is not empty, another
/// `policy`. Compile-time errors omit the quotes, which compilers would print as `\"`.
[[nodiscard]] constexpr message_text write_reshard(message_text out, const mesh_desc& mesh,
                                                   const layout_desc& layout, text_view quote,
                                                   text_view policy = {}) noexcept {
  out << "reshard<P<";
  for (int d = 0; d < layout.rank(); ++d) {
    const axis_list& dim = layout.dims[d];
    const grain how = layout.grains[d];
    if (d > 0) out << ", ";
    if (how.is_single_cut())
      out << "cut_once(";
    else if (how.is_cyclic())
      out << "block_cyclic<" << how.number() << ">(";
    else if (how.is_strided())
      out << "strided_by<" << how.number() << ">(";
    else if (dim.size() > 1)
      out << "by(";
    for (int i = 0; i < dim.ssize(); ++i) {
      out << text_view(i > 0 ? ", " : "") << quote << mesh.axes[dim[i]].label;
      if (how.is_halo() && i + 1 == dim.ssize()) out << '~' << how.before() << ':' << how.behind();
      out << quote;
    }
    if (dim.size() > 1 || !(how.is_contiguous() || how.is_halo())) out << ')';
    if (dim.empty()) out << "none";
  }
  return out << '>' << text_view(policy.empty() ? "" : ", ") << policy << '>';
}

/// Writes the call that fixes the error, `reshard<P<"data", none>>(operand 1)`; nothing if no
/// reshard helps.
[[nodiscard]] constexpr message_text call_of(const mesh_desc& mesh, const suggested_reshard& fix,
                                             text_view quote = "\"") noexcept {
  if (fix.operand < 0) return {};
  message_text out = write_reshard({}, mesh, fix.layout, quote, fix.becomes_uneven ? "uneven" : "");
  return out << "(operand " << fix.operand << ')';
}
/// Writes the axes of the permission that fixes the error, `"data", "model"`; nothing if none
/// helps.
[[nodiscard]] constexpr message_text axes_to_permit(const mesh_desc& mesh,
                                                    const suggested_reshard& fix,
                                                    text_view quote = "\"") noexcept {
  message_text out;
  for (int i = 0; i < fix.permitted.ssize(); ++i)
    out << text_view(i > 0 ? ", " : "") << quote << mesh.axes[fix.permitted[i]].label << quote;
  return out;
}

namespace detail {

/// The implementation of `advice`.
[[nodiscard]] constexpr message_text write_advice(const mesh_desc& mesh, const factor_rule& rule,
                                                  const tensor_descs& operands,
                                                  const diagnosis& verdict,
                                                  across_permission call) noexcept {
  message_text out;
  for (int o = 0; o < operands.ssize(); ++o) {
    out << (o > 0 ? text_view(", ") : text_view("operands ")) << to_text(mesh, operands[o]);
  }
  const suggested_reshard fix = propose(mesh, rule, operands, verdict, call);
  if (fix.operand >= 0) out << "; try " << text_view(call_of(mesh, fix));
  if (!fix.permitted.empty()) out << ", or across<" << text_view(axes_to_permit(mesh, fix)) << '>';
  return out;
}
/// The implementation at run time, which is in the compiled library.
[[nodiscard]] message_text advice_now(const mesh_desc& mesh, const factor_rule& rule,
                                      const tensor_descs& operands, const diagnosis& verdict,
                                      across_permission call) noexcept;

}  // namespace detail

/// Returns the operands and the suggestion in words: `try reshard<P<"data", none>>(operand 1)`,
/// with `, or across<"model">` for a call that takes a permission.
[[nodiscard]] constexpr message_text advice(const mesh_desc& mesh, const factor_rule& rule,
                                            const tensor_descs& operands, const diagnosis& verdict,
                                            across_permission call = {}) noexcept {
  if constexpr (build_config::compiled) {
    if (!std::is_constant_evaluated())
      return detail::advice_now(mesh, rule, operands, verdict, call);
  }
  return detail::write_advice(mesh, rule, operands, verdict, call);
}

}  // namespace shardwise
