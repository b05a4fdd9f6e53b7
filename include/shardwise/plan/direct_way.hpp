// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/plan/transfer.hpp"

namespace shardwise {

/// A redistribution: collectives in order, from one layout to another.
struct redistribution {
  inplace_vector<planned_transfer, 16> moves{};
  diagnosis verdict{};

  /// Returns the bytes that a device receives in all of them.
  [[nodiscard]] constexpr index_t total_bytes() const noexcept {
    index_t sum = 0;
    for (const planned_transfer& step : moves) sum = size_sum(sum, step.total_bytes());
    return sum;
  }
};

namespace detail {

/// Removes `axes`, which are all axes of a dimension or its minor ones, from the dimension.
constexpr void take_axes(layout_desc& layout, int d, const axis_list& axes) noexcept {
  for (int i = 0; i < axes.ssize(); ++i) layout.dims[d].pop_back();
  if (layout.dims[d].empty()) layout.unsplit(d);
}

/// Returns true if `axes` can be removed from the dimension: they are its minor ones in this order,
/// and all of them if its grain is not contiguous.
[[nodiscard]] constexpr bool ends_with(const layout_desc& layout, int d,
                                       const axis_list& axes) noexcept {
  const axis_list& have = layout.dims[d];
  const int skipped = have.ssize() - axes.ssize();
  if (skipped < 0 || (skipped > 0 && !layout.grains[d].is_contiguous())) return false;
  for (int i = 0; i < axes.ssize(); ++i)
    if (have[skipped + i] != axes[i]) return false;
  return true;
}

/// Makes `next` split dimension `d` by `axes`, which are unused or come from a reduction or another
/// dimension, if one collective can do that; only a slice if nothing is to be moved.
[[nodiscard]] constexpr bool split_by(planned_transfer& next, const layout_desc& now,
                                      unsigned leaving, bool is_free, int d, const axis_list& axes,
                                      grain how) noexcept {
  unsigned bits = 0;
  for (std::uint8_t a : axes) bits |= 1U << a;
  const int holder = now.dim_of(axes[0]);
  bool free = (now.pending & bits) == 0;
  for (std::uint8_t a : axes) free = free && now.dim_of(a) < 0;
  if (is_free && !free) return false;
  if ((leaving & bits) == bits) {
    next.kind = collective::reduce_scatter;
    next.after.pending = static_cast<std::uint8_t>(next.after.pending & ~bits);
  } else if (free) {
    next.kind = collective::slice;
  } else if (holder >= 0 && ends_with(now, holder, axes)) {
    next.kind = collective::all_to_all;
    next.from = holder;
    take_axes(next.after, holder, axes);
  } else {
    return false;
  }
  next.to = d;
  next.axes = axes;
  for (std::uint8_t a : axes) next.after.dims[d].push_back(a);
  if (!how.is_contiguous()) next.after.grains[d] = how;
  return true;
}

/// Returns true if the axis is unused, and further splits the parts of a dimension evenly, so that
/// the parts of all devices become smaller.
[[nodiscard]] constexpr bool divides_parts(const mesh_desc& mesh, const extents_desc& extents,
                                           const layout_desc& now, int d,
                                           std::uint8_t axis) noexcept {
  const index_t size = extents[d], parts = mesh.parts(now.dims[d]) * mesh.size(axis);
  return now.dim_of(axis) < 0 && !now.is_pending(axis) && now.grains[d].is_contiguous() &&
         size != dyn && size % parts == 0;
}

/// Makes `next` split another dimension by an unused axis that dimension `d` lacks, if the axes
/// that it lacks before that one can move there as they are, and the last of them is the minor axis
/// of that other dimension: both then move together, when less is left to move.
[[nodiscard]] constexpr bool split_before_move(const mesh_desc& mesh, const extents_desc& extents,
                                               planned_transfer& next, const layout_desc& now,
                                               int d, const axis_list& lacking) noexcept {
  // The axes that come from the same dimension.
  int from = -1;
  axis_list moving;
  for (std::uint8_t a : lacking) {
    const int holder = now.dim_of(a);
    if (holder == d || now.is_pending(a)) return false;
    if (from >= 0 && holder != from && !ends_with(now, from, moving)) return false;
    if (holder < 0) {
      // Axes of size 1 move nothing as they are.
      if (from < 0 || mesh.parts(moving) == 1 || !divides_parts(mesh, extents, now, from, a))
        return false;
      next.kind = collective::slice;
      next.axes = axis_list{a};
      next.to = from;
      next.after.dims[from].push_back(a);
      return true;
    }
    if (holder != from) moving.clear();
    from = holder;
    moving.push_back(a);
  }
  return false;
}

/// Returns the next collective of a redistribution between layouts without halos, or one without
/// axes if they are equal.
[[nodiscard]] constexpr planned_transfer next_of_parts(const mesh_desc& mesh,
                                                       const extents_desc& extents,
                                                       const layout_desc& now,
                                                       const layout_desc& target) noexcept {
  planned_transfer next;
  next.after = now;
  const unsigned leaving = now.pending & ~unsigned{target.pending};
  // Collectives that shrink shards come first, so that all later ones move less; slices before all
  // others.
  for (const bool is_free : {true, false})
    for (int d = 0; d < now.rank(); ++d) {
      const axis_list& have = now.dims[d];
      const axis_list& want = target.dims[d];
      if (have.size() == want.size() || !have.is_prefix_of(want)) continue;
      if (have.empty() && !target.grains[d].is_contiguous() &&
          split_by(next, now, leaving, is_free, d, want, target.grains[d]))
        return next;
      // Contiguous parts are cut by as many axes as one collective can bring; the grain is changed
      // when all axes are present.
      if (!now.grains[d].is_contiguous()) continue;
      axis_list lacking;
      for (int i = have.ssize(); i < want.ssize(); ++i) lacking.push_back(want[i]);
      if (split_before_move(mesh, extents, next, now, d, lacking)) return next;
      for (; !lacking.empty(); lacking.pop_back())
        if (split_by(next, now, leaving, is_free, d, lacking, {})) return next;
    }
  if (leaving != 0) {
    next.kind = collective::all_reduce;
    for (std::uint8_t a = 0; a < max_axes; ++a)
      if ((leaving >> a & 1U) != 0) next.axes.push_back(a);
    next.after.pending = static_cast<std::uint8_t>(next.after.pending & ~leaving);
    return next;
  }
  for (int d = 0; d < now.rank(); ++d) {
    const axis_list& have = now.dims[d];
    const axis_list& want = target.dims[d];
    if (have.empty() || want.empty()) continue;
    // If the dimension becomes contiguous again, it may keep its major axes.
    const grain how = have == want         ? target.grains[d]
                      : have[0] == want[0] ? grain{}
                                           : now.grains[d];
    if (how == now.grains[d]) continue;
    next.kind = collective::all_to_all;
    next.from = next.to = d;
    next.axes = have;
    next.after.grains[d] = how;
    return next;
  }
  for (int d = 0; d < now.rank(); ++d)
    if (!now.dims[d].is_prefix_of(target.dims[d])) {
      next.kind = collective::all_gather;
      next.from = d;
      next.axes = now.dims[d];
      if (now.grains[d].is_contiguous()) next.axes = axis_list{now.dims[d].back()};
      take_axes(next.after, d, next.axes);
      return next;
    }
  return next;
}

/// Returns the next collective of a redistribution, or one without axes if the layouts are equal:
/// halos are dropped first, and fetched last.
[[nodiscard]] constexpr planned_transfer next_move(const mesh_desc& mesh,
                                                   const extents_desc& extents,
                                                   const layout_desc& now,
                                                   const layout_desc& target) noexcept {
  const bool is_plain = !now.has_halo() && !target.has_halo();
  if (is_plain) return next_of_parts(mesh, extents, now, target);
  planned_transfer next = next_of_parts(mesh, extents, now.without_halos(), target.without_halos());
  const bool moves_parts = !next.axes.empty();
  for (int d = 0; d < now.rank(); ++d) {
    const grain have = now.grains[d];
    const grain want = moves_parts ? have.without_halo() : target.grains[d];
    if (have == want) continue;
    next = {};
    next.kind = have.is_halo() ? collective::slice : collective::halo_exchange;
    next.axes = now.dims[d];
    next.from = next.to = d;
    next.after = now;
    next.after.grains[d] = have.is_halo() ? grain{} : want;
    return next;
  }
  return next;
}

/// Returns true if `next` can be merged with `last` into one collective: the same kind between the
/// same dimensions.
[[nodiscard]] constexpr bool joins(const planned_transfer& last,
                                   const planned_transfer& next) noexcept {
  return last.kind == next.kind && last.from == next.from && last.to == next.to &&
         (last.kind == collective::all_gather || last.kind == collective::reduce_scatter ||
          last.kind == collective::slice);
}

/// Appends a collective to a redistribution of `tensor`, whose layout is that before the first, and
/// merges it with the last one if they are one collective. Does nothing if the way is full.
constexpr void append_move(const mesh_desc& mesh, const tensor_desc& tensor, redistribution& way,
                           planned_transfer next) noexcept {
  if (next.after.pending == 0) next.after.kind = reduction::sum;
  if (!way.moves.empty() && joins(way.moves.back(), next)) {
    planned_transfer& last = way.moves[way.moves.size() - 1];
    // A gather removes the minor axis first, so each further axis is major to the previous ones.
    axis_list joined = last.kind == collective::all_gather ? next.axes : last.axes;
    for (std::uint8_t a : last.kind == collective::all_gather ? last.axes : next.axes)
      joined.push_back(a);
    next.axes = joined;
    way.moves.pop_back();
  }
  if (way.moves.full()) return;
  tensor_desc before = tensor;
  if (!way.moves.empty()) before.layout = way.moves.back().after;
  next.bytes = received_bytes(mesh, before, next);
  way.moves.push_back(next);
}

/// Calls `f(before, move)` for the collectives that lead directly from a layout to another, while
/// it returns true. Each brings at least one dimension closer to the target, and none is merged
/// with others.
template <class F>
constexpr void for_each_direct_move(const mesh_desc& mesh, const extents_desc& extents,
                                    layout_desc now, const layout_desc& to, const F& f) noexcept {
  for (;;) {
    const planned_transfer next = next_move(mesh, extents, now, to);
    if (next.axes.empty() || !f(now, next)) return;
    now = next.after;
  }
}

/// Appends the collectives that lead directly to a layout.
constexpr void append_direct_way(const mesh_desc& mesh, const tensor_desc& tensor,
                                 redistribution& way, const layout_desc& to) noexcept {
  const layout_desc now = way.moves.empty() ? tensor.layout : way.moves.back().after;
  for_each_direct_move(mesh, tensor.extents, now, to,
                       [&](const layout_desc&, const planned_transfer& next) {
                         append_move(mesh, tensor, way, next);
                         return true;
                       });
}

}  // namespace detail

}  // namespace shardwise
