// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/plan/direct_way.hpp"
#include "shardwise/plan/shard_permutation.hpp"

namespace shardwise::detail {

// The direct way brings a dimension closer to its target with every collective, and gathers what
// stands in the way. Often a collective that leads elsewhere costs less: a permutation of the
// shards, a slice before it, or an exchange with a third dimension. These are the detours.

/// What the collectives of a redistribution cost together.
struct way_cost {
  index_t bytes = 0;
  int moves = 0;

  /// Returns true if this is less than another cost. Since each collective also takes time to
  /// start, more of them have to save an eighth of the bytes.
  [[nodiscard]] constexpr bool is_below(const way_cost& other) const noexcept {
    if (moves > other.moves) return bytes <= other.bytes - ceil_div(other.bytes, 8);
    return bytes < other.bytes || (bytes == other.bytes && moves < other.moves);
  }
};

/// Adds up what collectives cost; those that are merged count as one.
class way_counter {
 public:
  constexpr way_counter(const mesh_desc& mesh, const tensor_desc& tensor,
                        const redistribution& begin, int count) noexcept
      : mesh_(mesh), before_(tensor) {
    for (int i = 0; i < count; ++i)
      cost_.bytes = size_sum(cost_.bytes, begin.moves[i].total_bytes());
    cost_.moves = count;
    if (count > 0) remember(begin.moves[count - 1]);
  }
  constexpr void operator()(const layout_desc& before, const planned_transfer& next) noexcept {
    before_.layout = before;
    for (index_t bytes : received_bytes(mesh_, before_, next))
      cost_.bytes = size_sum(cost_.bytes, bytes);
    if (cost_.moves == 0 || !joins(last_, next)) ++cost_.moves;
    remember(next);
  }
  [[nodiscard]] constexpr const way_cost& cost() const noexcept { return cost_; }

 private:
  constexpr void remember(const planned_transfer& last) noexcept {
    last_.kind = last.kind;
    last_.from = last.from;
    last_.to = last.to;
  }

  const mesh_desc& mesh_;
  tensor_desc before_;
  planned_transfer last_{};
  way_cost cost_{};
};

/// Returns true if what follows the first `kept` moves may have a cheaper alternative: it gathers
/// before anything else, or exchanges axes, and then moves or slices again what has been moved.
[[nodiscard]] constexpr bool may_be_shortened(const redistribution& way, int kept) noexcept {
  bool gathers = false, exchanges = false;
  for (int i = kept; i < way.moves.ssize(); ++i) {
    const collective kind = way.moves[i].kind;
    if (gathers && kind != collective::all_gather) return true;
    if (exchanges && kind != collective::all_reduce && kind != collective::reduce_scatter)
      return true;
    gathers = gathers || kind == collective::all_gather;
    exchanges = exchanges || kind == collective::all_to_all;
  }
  return false;
}

/// Returns the permutation of shards after which as many dimensions as possible begin with their
/// target's axes, or a transfer without axes if there is none.
[[nodiscard]] constexpr planned_transfer permute_towards(const mesh_desc& mesh,
                                                         const extents_desc& extents,
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

/// Returns a slice by an unused axis that the target has, or a reduce-scatter over one that is
/// pending, which divides the parts of a dimension evenly: of a dimension that gets no more parts
/// than in the target, if there is one, and of its own, if possible. Returns a transfer without
/// axes if there is none.
[[nodiscard]] constexpr planned_transfer split_towards(const mesh_desc& mesh,
                                                       const extents_desc& extents,
                                                       const layout_desc& now,
                                                       const layout_desc& target) noexcept {
  for (int d = 0; d < now.rank(); ++d)
    for (std::uint8_t a : target.dims[d]) {
      if (now.dim_of(a) >= 0) continue;
      planned_transfer out{
          .kind = now.is_pending(a) ? collective::reduce_scatter : collective::slice,
          .axes = axis_list{a},
          .after = now};
      out.after.pending = static_cast<std::uint8_t>(now.pending & ~(1U << a));
      for (int k = 0; k < 2 * now.rank(); ++k) {
        const int n = k % now.rank(), to = n == 0 ? d : n <= d ? n - 1 : n;
        const bool fits = mesh.parts(now.dims[to]) * mesh.size(a) <= mesh.parts(target.dims[to]);
        if ((k < now.rank() && !fits) || !divides_parts(mesh, extents, out.after, to, a)) continue;
        out.to = to;
        out.after.dims[to].push_back(a);
        return out;
      }
    }
  return {};
}

/// Returns the all-to-all that moves the `count` minor axes of a dimension to another, whose parts
/// they divide evenly, or a transfer without axes.
[[nodiscard]] constexpr planned_transfer exchange(const mesh_desc& mesh,
                                                  const extents_desc& extents,
                                                  const layout_desc& now, int from, int to,
                                                  int count) noexcept {
  planned_transfer out{.kind = collective::all_to_all, .from = from, .to = to, .after = now};
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

/// A detour: splits that make shards smaller, an exchange of minor axes between two dimensions,
/// after which all axes of the second may move back, and a permutation. Each of them may be left
/// out.
struct detour {
  bool splits = false;
  int from = -1;
  int to = -1;
  int count = 0;
  bool returns = false;
  bool permutes = false;

  /// Calls `f(before, move)` for its collectives. Returns false if one of them is not possible.
  template <class F>
  constexpr bool take(const mesh_desc& mesh, const extents_desc& extents, layout_desc& now,
                      const layout_desc& target, F& f) const noexcept {
    const auto move = [&](const planned_transfer& next) {
      if (next.axes.empty()) return false;
      f(now, next);
      now = next.after;
      return true;
    };
    while (splits && move(split_towards(mesh, extents, now, target))) {
    }
    return (from < 0 || move(exchange(mesh, extents, now, from, to, count))) &&
           (!returns || move(exchange(mesh, extents, now, to, from, now.dims[to].ssize()))) &&
           (!permutes || move(permute_towards(mesh, extents, now, target)));
  }
};

/// Searches for a detour that makes a redistribution cheaper.
class detour_search {
 public:
  constexpr detour_search(const mesh_desc& mesh, const tensor_desc& tensor,
                          const layout_desc& target) noexcept
      : mesh_(mesh), tensor_(tensor), target_(target) {}

  /// Replaces what follows the first `kept` moves by the cheapest detour and the direct way from
  /// there. `kept` becomes the number of moves to the end of the detour. Returns false if there is
  /// no cheaper one.
  constexpr bool shorten(redistribution& way, int& kept) noexcept {
    way_counter known(mesh_, tensor_, way, way.moves.ssize());
    best_cost_ = known.cost();
    found_ = false;
    // After the slices and reductions of the way less is left to move.
    int later = kept;
    for (; later < way.moves.ssize(); ++later) {
      const collective kind = way.moves[later].kind;
      if (kind == collective::all_to_all || kind == collective::all_gather) break;
    }
    for (int begin = kept;; begin = later) {
      compare(way, begin, {.permutes = true});
      if (can_split(way, begin)) compare(way, begin, {.splits = true, .permutes = true});
      if (begin == later) break;
    }
    if (!found_) exchange_axes(way, later, false);
    // If shards are not split before it, an exchange may leave larger ones than both ends have.
    if (!found_ && can_split(way, later)) exchange_axes(way, later, true);
    if (!found_) return false;
    redistribution shorter;
    for (int i = 0; i < begin_; ++i) shorter.moves.push_back(way.moves[i]);
    layout_desc now = layout_after(way, begin_);
    const auto append = [&](const layout_desc&, const planned_transfer& next) {
      append_move(mesh_, tensor_, shorter, next);
    };
    (void)best_.take(mesh_, tensor_.extents, now, target_, append);
    kept = shorter.moves.ssize();
    append_direct_way(mesh_, tensor_, shorter, target_);
    way = shorter;
    return true;
  }

 private:
  [[nodiscard]] constexpr const layout_desc& layout_after(const redistribution& way,
                                                          int count) const noexcept {
    return count == 0 ? tensor_.layout : way.moves[count - 1].after;
  }
  [[nodiscard]] constexpr bool can_split(const redistribution& way, int begin) const noexcept {
    const layout_desc& now = layout_after(way, begin);
    return !split_towards(mesh_, tensor_.extents, now, target_).axes.empty();
  }
  /// Keeps a detour after the first `begin` moves of a way if it is the best so far.
  constexpr void compare(const redistribution& way, int begin, const detour& taken) noexcept {
    way_counter counter(mesh_, tensor_, way, begin);
    layout_desc now = layout_after(way, begin);
    const bool is_possible = taken.take(mesh_, tensor_.extents, now, target_, counter);
    if (!is_possible || counter.cost().bytes > best_cost_.bytes) return;
    for_each_direct_move(mesh_, tensor_.extents, now, target_,
                         [&](const layout_desc& before, const planned_transfer& next) {
                           counter(before, next);
                           return counter.cost().bytes <= best_cost_.bytes;
                         });
    const bool has_room = counter.cost().moves <= static_cast<int>(way.moves.capacity());
    if (!has_room || !counter.cost().is_below(best_cost_)) return;
    best_ = taken;
    best_cost_ = counter.cost();
    begin_ = begin;
    found_ = true;
  }
  constexpr void exchange_axes(const redistribution& way, int begin, bool splits) noexcept {
    const int rank = tensor_.rank();
    for (int from = 0; from < rank; ++from)
      for (int to = 0; to < rank; ++to)
        for (int count = layout_after(way, begin).dims[from].ssize(); from != to && count > 0;
             --count) {
          detour taken{.splits = splits, .from = from, .to = to, .count = count};
          compare(way, begin, taken);
          taken.permutes = true;
          compare(way, begin, taken);
          taken.permutes = false;
          taken.returns = true;
          if (!layout_after(way, begin).dims[to].empty()) compare(way, begin, taken);
        }
  }

  const mesh_desc& mesh_;
  const tensor_desc& tensor_;
  const layout_desc& target_;
  detour best_{};
  way_cost best_cost_{};
  int begin_ = 0;
  bool found_ = false;
};

}  // namespace shardwise::detail
