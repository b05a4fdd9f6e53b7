// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/layout/manual.hpp"
#include "shardwise/rule/collective.hpp"
#include "shardwise/rule/operation.hpp"
#include "shardwise/rule/position_moves.hpp"
#include "shardwise/rule/suggestion.hpp"

#include <bit>

namespace shardwise {

/// A collective that a program calls explicitly, on values that devices hold along manual axes: its
/// kind, its axes, major to minor, and its dimensions. `apply` returns the result for a tensor.
///
///     all_gather      the parts along `from` one after the other, which all devices then have
///     reduce_scatter  the reduction of the values, a part along `to` for each device
///     all_to_all      parts along `to` are exchanged, and put together along `from`
///     all_reduce      the reduction of the values, which all devices then have
///     collective_permute, broadcast   the value of the device that `moves` names, or zeros
///     slice           each device keeps its part along `to`, of what all of them have; without
///                     `to` all of it, as a value that may vary
///     slice, as_terms what devices have becomes the terms of a pending sum; with `of_one`, the
///                     value that all of them share is the term of the first, and the others are 0
struct manual_collective {
  /// The dimension of a collective that does not use one.
  static constexpr int nowhere = -128;

  collective kind = collective::all_reduce;
  reduction reduce = reduction::sum;
  axis_list axes{};
  int from = nowhere;
  int to = nowhere;
  position_moves moves{};
  bool as_terms = false;
  bool of_one = false;

  /// Convert to and from the attributes of the operation.
  [[nodiscard]] constexpr attributes how() const noexcept {
    attributes out;
    out.kind = reduce;
    index_t packed = 0;
    for (int i = axes.ssize() - 1; i >= 0; --i) packed = packed << 4 | (axes[i] + 1);
    packed = packed << 2 | index_t{of_one} << 1 | index_t{as_terms};
    out.integers = {static_cast<index_t>(kind), index_t{from}, index_t{to}, packed};
    moves.write(out.integers);
    return out;
  }
  [[nodiscard]] static constexpr manual_collective read(const attributes& how) noexcept {
    manual_collective out{.kind = static_cast<collective>(how.integers[0]),
                          .reduce = how.kind,
                          .from = static_cast<int>(how.integers[1]),
                          .to = static_cast<int>(how.integers[2]),
                          .moves = position_moves::read(how.integers, 4),
                          .as_terms = (how.integers[3] & 1) != 0,
                          .of_one = (how.integers[3] & 2) != 0};
    for (index_t packed = how.integers[3] >> 2; packed != 0; packed >>= 4)
      out.axes.push_back(static_cast<std::uint8_t>((packed & 15) - 1));
    return out;
  }
  /// Returns the same collective of a tensor of this rank, with dimensions counted from the first.
  [[nodiscard]] constexpr manual_collective from_front(int rank) const noexcept {
    manual_collective out = *this;
    out.from = counted_from_front(from, rank);
    out.to = counted_from_front(to, rank);
    return out;
  }
  /// Returns a bit for each of the axes.
  [[nodiscard]] constexpr std::uint8_t bits() const noexcept {
    return static_cast<std::uint8_t>(internal::bits_of(axes));
  }
  [[nodiscard]] constexpr bool reduces() const noexcept {
    return kind == collective::all_reduce || kind == collective::reduce_scatter;
  }

  /// Returns the result for a tensor.
  ///
  /// Checks that the tensor is manual over the axes, or else that all devices along them have the
  /// same value (slice) or terms of the same reduction (reduce_scatter); that the dimensions exist,
  /// are not split over other axes, and are divisible where they are cut; and that reductions still
  /// pending over other axes are of the same kind.
  ///
  ///     // f32[4, 2]{manual: data} gathered over "data" along 0: f32[8, 2]
  [[nodiscard]] constexpr manual_result apply(const mesh_desc& mesh,
                                              const tensor_desc& tensor) const noexcept {
    manual_result result{tensor, judge(mesh, tensor)};
    if (!result.verdict.ok()) return result;
    layout_desc& layout = result.tensor.layout;
    const index_t parts = mesh.parts(axes);
    const bool varies = !as_terms && kind != collective::all_reduce &&
                        kind != collective::all_gather && kind != collective::broadcast;
    const unsigned pending = as_terms ? layout.pending | internal::axes_of_several(mesh, bits())
                                      : layout.pending & ~unsigned{bits()};
    layout.pending = static_cast<std::uint8_t>(pending);
    if (pending == 0) layout.kind = reduction::sum;
    layout.manual = static_cast<std::uint8_t>(varies ? unsigned{layout.manual} | bits()
                                                     : layout.manual & ~unsigned{bits()});
    if (from >= 0 && result.tensor.extents[from] != dyn)
      result.tensor.extents[from] = parts == dyn ? dyn : result.tensor.extents[from] * parts;
    if (to >= 0 && result.tensor.extents[to] != dyn)
      result.tensor.extents[to] = parts == dyn ? dyn : result.tensor.extents[to] / parts;
    result.verdict = validate(result.tensor.extents);
    return result;
  }

 private:
  [[nodiscard]] constexpr diagnosis judge(const mesh_desc& mesh,
                                          const tensor_desc& tensor) const noexcept {
    const layout_desc& layout = tensor.layout;
    // The value is the reduction of its terms over the axes; over one device, it is the term.
    const unsigned terms = internal::axes_of_several(mesh, bits());
    const bool of_terms = kind == collective::reduce_scatter &&
                          (layout.kind == reduce || terms == 0) &&
                          (layout.pending & terms) == terms;
    for (const std::uint8_t a : axes) {
      const bool is_manual = (layout.manual >> a & 1) != 0;
      const bool is_shared = !is_manual && !layout.is_pending(a) && layout.dim_of(a) < 0;
      const bool shares = kind == collective::slice && (!as_terms || of_one);
      if (shares && of_one && !is_shared && !is_manual)
        return {.rule = layout.is_pending(a) ? violation::partial_value_is_read
                                             : violation::dimension_is_split,
                .operand = 0,
                .dim = layout.dim_of(a),
                .axis = mesh.axes[a].label};
      if (shares && !is_shared)
        return {.rule = violation::operand_is_manual, .operand = 0, .axis = mesh.axes[a].label};
      if (!shares && !is_manual && (!of_terms || layout.dim_of(a) >= 0))
        return {.rule = violation::axis_is_not_manual, .axis = mesh.axes[a].label};
    }
    const bool sums = of_one || (reduces() && reduce != reduction::max && reduce != reduction::min);
    if (sums && tensor.type == element::boolean)
      return {.rule = violation::operand_is_no_number, .operand = 0};
    const bool joins = kind == collective::all_gather || kind == collective::all_to_all;
    const bool cuts = kind == collective::reduce_scatter || kind == collective::all_to_all;
    for (const bool first : {true, false}) {
      const int d = first ? from : to;
      if (d == nowhere && !(first ? joins : cuts)) continue;
      if (d < 0 || d >= tensor.rank())
        return {.rule = violation::dimension_is_out_of_range, .have = d, .want = tensor.rank()};
      if (!layout.dims[d].empty())
        return {.rule = violation::dimension_is_split,
                .operand = 0,
                .dim = d,
                .axis = mesh.axes[layout.dims[d].back()].label};
    }
    const index_t parts = mesh.parts(axes);
    if (to >= 0 && parts > 1 && tensor.extents[to] != dyn && tensor.extents[to] % parts != 0)
      return {.rule = violation::extent_is_not_divisible,
              .dim = to,
              .have = tensor.extents[to],
              .want = parts};
    if (from >= 0)
      if (const diagnosis joined = check_joined(from, tensor.extents[from], parts); !joined.ok())
        return joined;
    // Parts of parts are blocks of a round, whose size is limited.
    if (from >= 0 && from == to && parts > 1 && tensor.extents[to] != dyn &&
        tensor.extents[to] / parts > grain::largest)
      return {.rule = violation::tensor_is_too_large,
              .dim = to,
              .have = tensor.extents[to] / parts,
              .want = grain::largest + 1};
    // A reduction over devices and a pending one commute only if they are of the same kind.
    const unsigned others = layout.pending & ~unsigned{bits()};
    if ((reduces() || as_terms) && others != 0 && layout.kind != reduce)
      return {.rule = violation::partial_value_is_read,
              .operand = 0,
              .axis = mesh.axes[std::countr_zero(others)].label};
    if (parts != dyn && !moves.fit(parts))
      return {.rule = violation::positions_are_malformed, .axis = mesh.axes[axes.back()].label};
    return {};
  }
};

/// Returns the reshard to suggest when a collective is invalid: of a dimension that is split to a
/// whole one, or of a pending value to its sum; `operand` is -1 if no reshard helps.
[[nodiscard]] constexpr suggested_reshard propose(const tensor_desc& tensor,
                                                  const diagnosis& verdict) noexcept {
  suggested_reshard out{-1, tensor.layout};
  if (verdict.rule == violation::dimension_is_split) {
    out.layout.unsplit(verdict.dim);
    out.operand = 0;
  } else if (verdict.rule == violation::partial_value_is_read && tensor.layout.manual == 0) {
    out.layout.pending = 0;
    out.layout.kind = reduction::sum;
    out.operand = 0;
  }
  return out;
}

}  // namespace shardwise
