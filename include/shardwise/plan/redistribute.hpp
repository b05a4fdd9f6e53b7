// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/layout/layout_rules.hpp"
#include "shardwise/layout/single_cut.hpp"
#include "shardwise/layout/tensor_desc.hpp"
#include "shardwise/rule/collective.hpp"
#include "shardwise/rule/propagate.hpp"

namespace shardwise {

/// One collective of a redistribution.
struct transfer {
  collective kind = collective::slice;
  /// The axes over which it runs, major to minor.
  axis_list axes{};
  /// The dimension that loses the axes, and the one that gets them; -1 if there is none. Both are
  /// the same dimension if its devices only exchange elements, because its grain changes.
  int from = -1;
  int to = -1;
  /// The layout after it.
  layout_desc after{};
  /// The bytes that a device receives over each of `axes`; 0 for a slice.
  inplace_vector<index_t, max_axes> bytes{};

  /// The bytes that a device receives.
  [[nodiscard]] constexpr index_t total_bytes() const noexcept {
    index_t sum = 0;
    for (index_t b : bytes) sum += b;
    return sum;
  }
  friend constexpr bool operator==(const transfer&, const transfer&) = default;
};

/// A redistribution: collectives in order, from one layout to another.
struct redistribution {
  inplace_vector<transfer, 16> moves{};
  diagnosis verdict{};

  /// Returns the bytes that a device receives in all of them.
  [[nodiscard]] constexpr index_t total_bytes() const noexcept {
    index_t sum = 0;
    for (const transfer& step : moves) sum += step.total_bytes();
    return sum;
  }
};

namespace detail {

/// Returns true if a collective converts a dimension from or to the portions of a grain.
[[nodiscard]] constexpr bool is_grained(const layout_desc& before, const transfer& step) noexcept {
  return (step.from >= 0 && !before.grains[step.from].is_contiguous()) ||
         (step.to >= 0 && !step.after.grains[step.to].is_contiguous());
}

/// Returns how many elements of a dimension every device is certain to keep when its grain changes:
/// if parts are contiguous before or after, each device has its piece of every whole round in its
/// part.
[[nodiscard]] constexpr index_t surely_kept(grain a, grain b, index_t size,
                                            index_t parts) noexcept {
  if (!(a.is_contiguous() || b.is_contiguous()) || size % parts != 0) return 0;
  const grained_split split{a.is_contiguous() ? b : a, size, parts};
  if (split.how.is_strided() && size % split.how.unit(parts) != 0) return 0;
  return size / parts / split.round() * split.piece();
}

/// The same as `received_bytes` if a grain is involved: its dimension is moved as a whole, and a
/// part that only changes its grain is charged without the elements that are certainly kept.
[[nodiscard]] constexpr inplace_vector<index_t, max_axes> grained_bytes(
    const mesh_desc& mesh, const tensor_desc& before, const transfer& step) noexcept {
  inplace_vector<index_t, max_axes> bytes;
  bytes.resize(step.axes.size());
  const index_t parts = mesh.parts(step.axes);
  if (parts == 1) return bytes;
  // The data that a device gets from each of the others: their parts in a gather, its own part in a
  // scatter, and otherwise the intersection of their old parts with its new one.
  const int along = step.from >= 0 ? step.from : step.to;
  const bool turns = step.from == step.to;
  extents_desc part;
  for (int d = 0; d < before.rank(); ++d) {
    const layout_desc& layout = d == step.from && !turns ? before.layout : step.after;
    part.push_back(largest_part(mesh, layout.dims[d], layout.grains[d], before.extents[d]));
  }
  index_t share = element_count(part);
  part[along] = before.extents[along];
  const index_t most = element_count(part);
  if (turns && before.extents[along] > 0) {
    const index_t kept = surely_kept(before.layout.grains[along], step.after.grains[along],
                                     before.extents[along], parts);
    share = ceil_div(share - most / before.extents[along] * kept, parts - 1);
  }
  for (int i = step.axes.ssize() - 1; i >= 0; --i) {
    const index_t n = mesh.size(step.axes[i]);
    bytes[i] = share * (n - 1) * size_of(before.type);
    // Along a major axis, data comes from whole groups.
    share = share * n < most ? share * n : most;
  }
  return bytes;
}

/// The same for an exchange of halos: the most that a device gets over each axis. Data is
/// attributed to the most major axis along which the two devices differ.
[[nodiscard]] constexpr inplace_vector<index_t, max_axes> halo_bytes(
    const mesh_desc& mesh, const tensor_desc& before, const transfer& step) noexcept {
  inplace_vector<index_t, max_axes> bytes;
  bytes.resize(step.axes.size());
  const int d = step.to;
  const index_t size = before.extents[d], parts = mesh.parts(step.axes);
  index_t across = size_of(before.type);
  for (int k = 0; k < before.rank(); ++k)
    if (k != d)
      across *=
          largest_part(mesh, before.layout.dims[k], before.layout.grains[k], before.extents[k]);
  const auto own = [&](index_t p) { return range_at(mesh, step.axes, size, p); };
  for (index_t p = 0; p < parts; ++p) {
    const index_range has = own(p), gets = with_halo(has, step.after.grains[d], size);
    inplace_vector<index_t, max_axes> elements;
    elements.resize(step.axes.size());
    const auto take = [&](index_t from) {
      const index_range theirs = own(from);
      const index_t begin = theirs.begin > gets.begin ? theirs.begin : gets.begin;
      const index_t end = theirs.end < gets.end ? theirs.end : gets.end;
      int axis = step.axes.ssize() - 1;
      for (index_t a = p, b = from;
           axis > 0 && a / mesh.size(step.axes[axis]) != b / mesh.size(step.axes[axis]); --axis) {
        a /= mesh.size(step.axes[axis]);
        b /= mesh.size(step.axes[axis]);
      }
      if (end > begin) elements[axis] += end - begin;
    };
    for (index_t q = p; q-- > 0 && own(q).end > gets.begin;) take(q);
    for (index_t q = p + 1; q < parts && own(q).begin < gets.end; ++q) take(q);
    for (int i = 0; i < step.axes.ssize(); ++i)
      if (elements[i] * across > bytes[i]) bytes[i] = elements[i] * across;
  }
  return bytes;
}

/// Returns the bytes that a device receives over each axis of a collective, as counted by
/// `piece_bytes`: an upper bound for all devices. Several axes are charged as in a hierarchical
/// algorithm: gathering from the minor axis outwards, reducing from the major axis inwards. A
/// single cut that equals a cut axis by axis is charged as that.
[[nodiscard]] constexpr inplace_vector<index_t, max_axes> received_bytes(const mesh_desc& mesh,
                                                                         tensor_desc before,
                                                                         transfer step) noexcept {
  before.layout = said_by_axis(mesh, before.layout, before.extents);
  step.after = said_by_axis(mesh, step.after, before.extents);
  if (step.kind == collective::halo_exchange) return halo_bytes(mesh, before, step);
  if (is_grained(before.layout, step) && step.kind != collective::slice)
    return grained_bytes(mesh, before, step);
  inplace_vector<index_t, max_axes> bytes;
  bytes.resize(step.axes.size());
  const index_t size = size_of(before.type);
  if (step.kind == collective::all_reduce) {
    index_t chunk = largest_shard_size(mesh, before.layout, before.extents);
    for (int i = 0; i < step.axes.ssize(); ++i) {
      const index_t n = mesh.size(step.axes[i]);
      chunk = ceil_div(chunk, n);
      bytes[i] = 2 * chunk * (n - 1) * size;
    }
    return bytes;
  }
  tensor_desc now = before;
  const auto elements = [&] { return largest_shard_size(mesh, now.layout, now.extents); };
  if (step.kind == collective::all_gather) {
    for (int i = step.axes.ssize() - 1; i >= 0; --i) {
      bytes[i] = elements() * (mesh.size(step.axes[i]) - 1) * size;
      now.layout.dims[step.from].pop_back();
    }
  } else if (step.kind != collective::slice) {
    // Every device gets its part from each of the others: of the sum, or of the dimension that
    // loses the axes.
    if (step.kind == collective::reduce_scatter)
      now.layout = step.after;
    else
      for (std::uint8_t a : step.axes) now.layout.dims[step.to].push_back(a);
    index_t share = elements();
    for (int i = step.axes.ssize() - 1; i >= 0; --i) {
      const index_t n = mesh.size(step.axes[i]);
      bytes[i] = share * (n - 1) * size;
      share *= n;
    }
  }
  return bytes;
}

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
/// dimension, if one collective can do that.
[[nodiscard]] constexpr bool split_by(transfer& next, const layout_desc& now, unsigned leaving,
                                      int d, const axis_list& axes, grain how) noexcept {
  unsigned bits = 0;
  for (std::uint8_t a : axes) bits |= 1U << a;
  const int holder = now.dim_of(axes[0]);
  bool free = (now.pending & bits) == 0;
  for (std::uint8_t a : axes) free = free && now.dim_of(a) < 0;
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

/// Makes `next` split another dimension by an unused axis that dimension `d` lacks, if all axes
/// that it lacks before that one come from there: they then move together at once, when less is
/// left to move.
[[nodiscard]] constexpr bool split_before_move(const mesh_desc& mesh, const extents_desc& extents,
                                               transfer& next, const layout_desc& now, int d,
                                               const axis_list& lacking) noexcept {
  const int from = now.dim_of(lacking[0]);
  if (from < 0 || from == d) return false;
  axis_list moving;
  for (std::uint8_t a : lacking) {
    if (now.dim_of(a) != from) {
      if (!ends_with(now, from, moving) || !divides_parts(mesh, extents, now, from, a))
        return false;
      next.kind = collective::slice;
      next.axes = axis_list{a};
      next.to = from;
      next.after.dims[from].push_back(a);
      return true;
    }
    moving.push_back(a);
  }
  return false;
}

/// Returns the next collective of a redistribution between layouts without halos, or one without
/// axes if they are equal.
[[nodiscard]] constexpr transfer next_of_parts(const mesh_desc& mesh, const extents_desc& extents,
                                               const layout_desc& now,
                                               const layout_desc& target) noexcept {
  transfer next;
  next.after = now;
  const unsigned leaving = now.pending & ~unsigned{target.pending};
  // Collectives that shrink shards come first, so that all later ones move less.
  for (int d = 0; d < now.rank(); ++d) {
    const axis_list& have = now.dims[d];
    const axis_list& want = target.dims[d];
    if (have.size() == want.size() || !have.is_prefix_of(want)) continue;
    if (have.empty() && !target.grains[d].is_contiguous() &&
        split_by(next, now, leaving, d, want, target.grains[d]))
      return next;
    // Contiguous parts are cut by as many axes as one collective can bring; the grain is changed
    // when all axes are present.
    if (!now.grains[d].is_contiguous()) continue;
    axis_list lacking;
    for (int i = have.ssize(); i < want.ssize(); ++i) lacking.push_back(want[i]);
    if (split_before_move(mesh, extents, next, now, d, lacking)) return next;
    for (; !lacking.empty(); lacking.pop_back())
      if (split_by(next, now, leaving, d, lacking, {})) return next;
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
[[nodiscard]] constexpr transfer next_move(const mesh_desc& mesh, const extents_desc& extents,
                                           const layout_desc& now,
                                           const layout_desc& target) noexcept {
  const bool is_plain = !now.has_halo() && !target.has_halo();
  if (is_plain) return next_of_parts(mesh, extents, now, target);
  transfer next = next_of_parts(mesh, extents, now.without_halos(), target.without_halos());
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
[[nodiscard]] constexpr bool joins(const transfer& last, const transfer& next) noexcept {
  return last.kind == next.kind && last.from == next.from && last.to == next.to &&
         (last.kind == collective::all_gather || last.kind == collective::reduce_scatter ||
          last.kind == collective::slice);
}

/// Plans the redistribution from one layout to another of a tensor for which both are valid; single
/// cuts are treated as cuts axis by axis if these extents are cut alike.
[[nodiscard]] constexpr redistribution plan_way(const mesh_desc& mesh, const tensor_desc& tensor,
                                                const layout_desc& from,
                                                const layout_desc& to) noexcept {
  redistribution way;
  layout_desc now = from;
  // If source or target may be uneven, so may the layouts in between.
  now.uneven = from.uneven || to.uneven;
  for (;;) {
    transfer next = next_move(mesh, tensor.extents, now, to);
    if (next.axes.empty()) return way;
    if (next.after.pending == 0) next.after.kind = reduction::sum;
    now = next.after;
    if (!way.moves.empty() && joins(way.moves.back(), next)) {
      transfer& last = way.moves[way.moves.size() - 1];
      // A gather removes the minor axis first, so each further axis is major to the previous ones.
      axis_list joined = last.kind == collective::all_gather ? next.axes : last.axes;
      for (std::uint8_t a : last.kind == collective::all_gather ? last.axes : next.axes)
        joined.push_back(a);
      next.axes = joined;
      way.moves.pop_back();
    }
    tensor_desc before = tensor;
    before.layout = way.moves.empty() ? from : way.moves.back().after;
    next.bytes = received_bytes(mesh, before, next);
    way.moves.push_back(next);
  }
}

}  // namespace detail

/// Returns the axes over which a transfer moves data: those with several devices, and none for a
/// slice.
[[nodiscard]] constexpr axis_list moving_axes(const mesh_desc& mesh,
                                              const transfer& step) noexcept {
  return step.kind == collective::slice ? axis_list{} : detail::real_axes(mesh, step.axes);
}

/// Plans the redistribution of a tensor from its layout to another: slices, reduce-scatters and
/// all-to-alls first, each over as many axes as it can; then remaining pending reductions, while
/// shards are small; gathers last. No device ever holds more than the larger of source and target,
/// except for a gather before another split. Between a single cut and a cut axis by axis, nothing
/// moves if these extents are cut alike.
///
///     constexpr auto way = redistribute(pod::value, y, target);
///     static_assert(way.moves.size() == 1 && way.moves[0].kind == collective::all_reduce);
[[nodiscard]] constexpr redistribution redistribute(const mesh_desc& mesh,
                                                    const tensor_desc& tensor,
                                                    const layout_desc& target) noexcept {
  redistribution way;
  way.verdict = validate(mesh, target, tensor.extents);
  if (way.verdict.ok()) way.verdict = check_reshard(mesh, tensor.layout, target);
  if (!way.verdict.ok()) return way;

  way = detail::plan_way(mesh, tensor, said_by_axis(mesh, tensor.layout, tensor.extents),
                         said_by_axis(mesh, target, tensor.extents));
  if (!way.moves.empty()) {
    layout_desc& after = way.moves[way.moves.size() - 1].after;
    after.uneven = target.uneven;
    for (int d = 0; d < target.rank(); ++d)
      if (!(after.grains[d] == target.grains[d])) after.grains[d] = target.grains[d];
  }
  return way;
}

}  // namespace shardwise
