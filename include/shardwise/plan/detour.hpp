// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/plan/direct_way.hpp"
#include "shardwise/plan/shard_permutation.hpp"

namespace shardwise::detail {

// The direct way brings a dimension closer to its target with every collective, and gathers what
// stands in the way. Often a collective that leads elsewhere costs less: a permutation of the
// shards, a slice before it, or an exchange with a third dimension. These are the detours.

/// Returns true if what follows the first `kept` moves may have a cheaper alternative: it gathers
/// before anything else, or exchanges axes, and moves data again or slices afterwards.
[[nodiscard]] constexpr bool may_be_shortened(const redistribution& way, int kept) noexcept {
  int moving = 0;
  bool gathers = false, exchanges = false;
  for (int i = kept; i < way.moves.ssize(); ++i) {
    const transfer& step = way.moves[i];
    if (gathers && step.kind != collective::all_gather) return true;
    if (exchanges && step.kind == collective::slice) return true;
    gathers = gathers || step.kind == collective::all_gather;
    exchanges = exchanges || step.kind == collective::all_to_all;
    moving += step.total_bytes() > 0 ? 1 : 0;
  }
  return exchanges && moving > 1;
}

/// Returns true if the first way moves fewer bytes, or as many in fewer collectives. Since each
/// collective also takes time to start, more of them have to save an eighth of the bytes.
[[nodiscard]] constexpr bool is_shorter(const redistribution& a, const redistribution& b) noexcept {
  const index_t x = a.total_bytes(), y = b.total_bytes();
  if (a.moves.size() > b.moves.size()) return x <= y - ceil_div(y, 8);
  return x < y || (x == y && a.moves.size() < b.moves.size());
}

/// Returns the permutation of shards after which as many dimensions as possible begin with their
/// target's axes, or a transfer without axes if there is none.
[[nodiscard]] constexpr transfer permute_towards(const mesh_desc& mesh, const extents_desc& extents,
                                                 const layout_desc& now,
                                                 const layout_desc& target) noexcept {
  layout_desc after = now;
  unsigned taken = now.pending | now.manual;
  index_t rest[max_rank] = {};
  // A dimension whose parts are not contiguous gets all its axes, or keeps them.
  for (int d = 0; d < now.rank(); ++d) {
    if (now.grains[d].is_contiguous()) continue;
    if (target.grains[d] == now.grains[d] &&
        have_same_parts(mesh, now.dims[d], target.dims[d], now.grains[d], extents[d]))
      after.dims[d] = target.dims[d];
    if ((taken & bits_of(after.dims[d])) != 0) return {};
    taken |= bits_of(after.dims[d]);
  }
  const auto take = [&](int d, std::uint8_t a) {
    if ((taken >> a & 1U) != 0 || rest[d] % mesh.size(a) != 0) return false;
    taken |= 1U << a;
    rest[d] /= mesh.size(a);
    after.dims[d].push_back(a);
    return true;
  };
  for (int d = 0; d < now.rank(); ++d) {
    if (!now.grains[d].is_contiguous()) continue;
    rest[d] = mesh.parts(now.dims[d]);
    after.dims[d].clear();
    for (std::uint8_t a : target.dims[d])
      if (!take(d, a)) break;
  }
  // The remaining parts are split by axes that are gathered later, then by those that other
  // dimensions get, then by unused ones.
  const unsigned used = bits_of(now.splitting_axes());
  const unsigned wanted = bits_of(target.splitting_axes());
  for (int d = 0; d < now.rank(); ++d) {
    for (const unsigned pool : {used & ~wanted, used & wanted, ~used})
      for (std::uint8_t a = 0; a < mesh.axes.size() && rest[d] > 1; ++a)
        if ((pool >> a & 1U) != 0 && mesh.size(a) > 1) take(d, a);
    if (rest[d] > 1) return {};
  }
  if (!is_shard_permutation(mesh, extents, now, after)) return {};
  return {.kind = collective::collective_permute,
          .axes = shard_permutation(mesh, now, after).axes(),
          .after = after};
}

/// Appends slices by the unused axes that the target has, and reduce-scatters over those that are
/// pending, which divide the parts of a dimension evenly: of a dimension that gets no more parts
/// than in the target, if there is one, and of its own, if possible.
constexpr void append_splits_towards(const mesh_desc& mesh, const tensor_desc& tensor,
                                     redistribution& way, const layout_desc& target) noexcept {
  layout_desc now = way.moves.empty() ? tensor.layout : way.moves.back().after;
  for (int d = 0; d < now.rank(); ++d)
    for (std::uint8_t a : target.dims[d])
      for (int k = 0; k < 2 * now.rank(); ++k) {
        const int n = k % now.rank(), to = n == 0 ? d : n <= d ? n - 1 : n;
        const bool fits = mesh.parts(now.dims[to]) * mesh.size(a) <= mesh.parts(target.dims[to]);
        layout_desc after = now;
        after.pending = static_cast<std::uint8_t>(after.pending & ~(1U << a));
        if ((k < now.rank() && !fits) || !divides_parts(mesh, tensor.extents, after, to, a))
          continue;
        after.dims[to].push_back(a);
        const collective kind = now.is_pending(a) ? collective::reduce_scatter : collective::slice;
        append_move(mesh, tensor, way,
                    {.kind = kind, .axes = axis_list{a}, .to = to, .after = after});
        now = after;
      }
}

/// Returns the all-to-all that moves the `count` minor axes of a dimension to another, whose parts
/// they divide evenly, or a transfer without axes.
[[nodiscard]] constexpr transfer exchange(const mesh_desc& mesh, const extents_desc& extents,
                                          const layout_desc& now, int from, int to,
                                          int count) noexcept {
  transfer out{.kind = collective::all_to_all, .from = from, .to = to, .after = now};
  if (from == to || !now.grains[from].is_contiguous() || !now.grains[to].is_contiguous()) return {};
  for (int i = now.dims[from].ssize() - count; i < now.dims[from].ssize(); ++i)
    out.axes.push_back(now.dims[from][i]);
  take_axes(out.after, from, out.axes);
  for (std::uint8_t a : out.axes) {
    if (!divides_parts(mesh, extents, out.after, to, a)) return {};
    out.after.dims[to].push_back(a);
  }
  return out;
}

/// Finds the cheapest way that begins with the first moves of another one, takes a detour, and then
/// goes directly to the target. `kept` is the number of moves that are kept, and becomes that of
/// the moves to the end of the detour.
class detour_search {
 public:
  constexpr detour_search(const mesh_desc& mesh, const tensor_desc& tensor,
                          const layout_desc& target) noexcept
      : mesh_(mesh), tensor_(tensor), target_(target) {}

  /// Returns the way that was found, or `way` itself.
  [[nodiscard]] constexpr redistribution shorten(const redistribution& way, int& kept) noexcept {
    best_ = way;
    end_ = kept;
    redistribution begin;
    for (int i = 0; i < kept; ++i) begin.moves.push_back(way.moves[i]);
    permute(begin);
    // After the slices and reductions of the way less is left to move.
    for (int i = kept; i < way.moves.ssize(); ++i) {
      const collective kind = way.moves[i].kind;
      if (kind == collective::all_to_all || kind == collective::all_gather) break;
      begin.moves.push_back(way.moves[i]);
    }
    permute(begin);
    if (end_ == kept) exchange_and_permute(begin);
    // If shards are not split before it, an exchange may leave larger ones than both ends have.
    append_splits_towards(mesh_, tensor_, begin, target_);
    if (end_ == kept) exchange_and_permute(begin);
    kept = end_;
    return best_;
  }

 private:
  [[nodiscard]] constexpr const layout_desc& layout(const redistribution& way) const noexcept {
    return way.moves.empty() ? tensor_.layout : way.moves.back().after;
  }
  /// Continues directly, and keeps the way if it is the best so far.
  constexpr void compare(redistribution way) noexcept {
    const int end = way.moves.ssize();
    if (!append_direct_way(mesh_, tensor_, way, target_) || !is_shorter(way, best_)) return;
    best_ = way;
    end_ = end;
  }
  /// Tries a permutation, at once and after the shards have become smaller.
  constexpr void permute(redistribution begin) noexcept {
    for (int round = 0; round < 2; ++round) {
      if (round == 1) append_splits_towards(mesh_, tensor_, begin, target_);
      const transfer step = permute_towards(mesh_, tensor_.extents, layout(begin), target_);
      if (step.axes.empty()) continue;
      redistribution way = begin;
      append_move(mesh_, tensor_, way, step);
      compare(way);
    }
  }
  /// Tries to move axes of a dimension to another, alone, before a permutation, and before all axes
  /// of that dimension move back with them.
  constexpr void exchange_and_permute(const redistribution& begin) noexcept {
    const layout_desc& now = layout(begin);
    for (int from = 0; from < now.rank(); ++from)
      for (int to = 0; to < now.rank(); ++to)
        for (int count = now.dims[from].ssize(); count > 0; --count) {
          const transfer out = exchange(mesh_, tensor_.extents, now, from, to, count);
          if (out.axes.empty()) continue;
          redistribution way = begin;
          append_move(mesh_, tensor_, way, out);
          compare(way);
          const transfer back =
              exchange(mesh_, tensor_.extents, out.after, to, from, out.after.dims[to].ssize());
          const transfer turn = permute_towards(mesh_, tensor_.extents, out.after, target_);
          for (const transfer& next : {back, turn}) {
            if (next.axes.empty()) continue;
            redistribution longer = way;
            append_move(mesh_, tensor_, longer, next);
            compare(longer);
          }
        }
  }

  const mesh_desc& mesh_;
  const tensor_desc& tensor_;
  const layout_desc& target_;
  redistribution best_{};
  int end_ = 0;
};

}  // namespace shardwise::detail
