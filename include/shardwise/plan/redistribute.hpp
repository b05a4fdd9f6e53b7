// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/layout/tensor_desc.hpp"
#include "shardwise/plan/collective.hpp"
#include "shardwise/rule/propagate.hpp"

namespace shardwise {

/// One collective of a redistribution.
struct transfer {
  collective kind = collective::slice;
  /// The axes it runs over, major to minor.
  axis_list axes{};
  /// The dimension that loses the axes, and the one that gets them; -1 where there is none.
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

  /// The bytes that a device receives in all of them.
  [[nodiscard]] constexpr index_t total_bytes() const noexcept {
    index_t sum = 0;
    for (const transfer& step : moves) sum += step.total_bytes();
    return sum;
  }
};

namespace detail {

/// What a device receives over each axis of a collective. Several axes are charged as the
/// hierarchy that does the same: gathering from the minor axis out, reducing from the major axis
/// in.
[[nodiscard]] constexpr inplace_vector<index_t, max_axes> received_bytes(
    const mesh_desc& mesh, const tensor_desc& before, const transfer& step) noexcept {
  inplace_vector<index_t, max_axes> bytes;
  bytes.resize(step.axes.size());
  tensor_desc now = before;
  const auto elements = [&] { return largest_shard_size(mesh, now.layout, now.extents); };
  const index_t size = size_of(before.type);
  if (step.kind == collective::all_gather) {
    for (int i = step.axes.ssize() - 1; i >= 0; --i) {
      bytes[i] = elements() * (mesh.size(step.axes[i]) - 1) * size;
      now.layout.dims[step.from].pop_back();
    }
  } else if (step.kind == collective::all_reduce) {
    index_t chunk = elements();
    for (int i = 0; i < step.axes.ssize(); ++i) {
      const index_t n = mesh.size(step.axes[i]);
      chunk = ceil_div(chunk, n);
      bytes[i] = 2 * chunk * (n - 1) * size;
    }
  } else if (step.kind != collective::slice) {
    for (int i = 0; i < step.axes.ssize(); ++i) {
      now.layout.dims[step.to].push_back(step.axes[i]);
      bytes[i] = elements() * (mesh.size(step.axes[i]) - 1) * size;
    }
  }
  return bytes;
}

/// The next collective on the way, or one without axes when the layouts agree.
[[nodiscard]] constexpr transfer next_move(const layout_desc& now,
                                           const layout_desc& target) noexcept {
  transfer next;
  next.after = now;
  const unsigned leaving = now.pending & ~unsigned{target.pending};
  // What shrinks shards comes first, so that everything after it moves less.
  for (int d = 0; d < now.rank(); ++d) {
    const axis_list& have = now.dims[d];
    const axis_list& want = target.dims[d];
    if (have.size() == want.size() || !have.is_prefix_of(want)) continue;
    const std::uint8_t a = want[have.size()];
    const int holder = now.dim_of(a);
    next.to = d;
    if ((leaving >> a & 1U) != 0) {
      next.kind = collective::reduce_scatter;
      next.after.pending = static_cast<std::uint8_t>(next.after.pending & ~(1U << a));
    } else if (holder < 0 && !now.is_pending(a)) {
      next.kind = collective::slice;
    } else if (holder >= 0 && now.dims[holder].back() == a) {
      next.kind = collective::all_to_all;
      next.from = holder;
      next.after.dims[holder].pop_back();
    } else {
      continue;
    }
    next.axes.push_back(a);
    next.after.dims[d].push_back(a);
    return next;
  }
  next.to = -1;
  if (leaving != 0) {
    next.kind = collective::all_reduce;
    for (std::uint8_t a = 0; a < max_axes; ++a)
      if ((leaving >> a & 1U) != 0) next.axes.push_back(a);
    next.after.pending = static_cast<std::uint8_t>(next.after.pending & ~leaving);
    return next;
  }
  for (int d = 0; d < now.rank(); ++d)
    if (!now.dims[d].is_prefix_of(target.dims[d])) {
      next.kind = collective::all_gather;
      next.from = d;
      next.axes.push_back(now.dims[d].back());
      next.after.dims[d].pop_back();
      return next;
    }
  return next;
}

/// True if `next` can be one collective with `last`: the same kind between the same dimensions.
[[nodiscard]] constexpr bool joins(const transfer& last, const transfer& next) noexcept {
  return last.kind == next.kind && last.from == next.from && last.to == next.to &&
         (last.kind == collective::all_gather || last.kind == collective::reduce_scatter ||
          last.kind == collective::slice);
}

}  // namespace detail

/// Plans the way from a tensor's layout to another: slices, reduce-scatters and all-to-alls first,
/// what is left pending reduced while it is small, gathers last. No device ever holds more than the
/// larger of source and target needs, but for a gather on the way to another split.
///
///     constexpr auto way = redistribute(pod::value, y, target);
///     static_assert(way.moves.size() == 1 && way.moves[0].kind == collective::all_reduce);
[[nodiscard]] constexpr redistribution redistribute(const mesh_desc& mesh,
                                                    const tensor_desc& tensor,
                                                    const layout_desc& target) noexcept {
  redistribution way;
  way.verdict = check(mesh, target, tensor.extents);
  const unsigned created = created_pending(tensor.layout, target);
  if (way.verdict.ok() && created != 0)
    for (int a = mesh.rank() - 1; a >= 0; --a)
      if ((created >> a & 1U) != 0)
        way.verdict = {.rule = broken::reshard_would_create_partial, .axis = mesh.axes[a].label};
  if (way.verdict.ok() && tensor.layout.manual != target.manual)
    way.verdict = {.rule = broken::manual_axis_is_left,
                   .axis = detail::first_axis(mesh, tensor.layout.manual ^ target.manual)};
  if (!way.verdict.ok()) return way;

  layout_desc now = tensor.layout;
  // Between two ends of which one may be uneven, layouts may be uneven.
  now.uneven = tensor.layout.uneven || target.uneven;
  for (;;) {
    transfer next = detail::next_move(now, target);
    if (next.axes.empty()) {
      if (!way.moves.empty()) way.moves[way.moves.size() - 1].after.uneven = target.uneven;
      return way;
    }
    if (next.after.pending == 0) next.after.kind = reduction::sum;
    now = next.after;
    if (!way.moves.empty() && detail::joins(way.moves.back(), next)) {
      transfer& last = way.moves[way.moves.size() - 1];
      // A gather takes the minor axis first, so each further one is major to those before.
      axis_list joined = last.kind == collective::all_gather ? next.axes : last.axes;
      for (std::uint8_t a : last.kind == collective::all_gather ? last.axes : next.axes)
        joined.push_back(a);
      next.axes = joined;
      way.moves.pop_back();
    }
    tensor_desc before = tensor;
    if (!way.moves.empty()) before.layout = way.moves.back().after;
    next.bytes = detail::received_bytes(mesh, before, next);
    way.moves.push_back(next);
  }
}

}  // namespace shardwise
