// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/layout/shard_owners.hpp"
#include "shardwise/layout/shared_run.hpp"
#include "shardwise/plan/redistribute.hpp"
#include "shardwise/plan/shard_permutation.hpp"
#include "shardwise/rule/position_moves.hpp"

namespace shardwise {

/// The elements that one device gets from another in a collective, or from itself.
struct shard_piece {
  index_t from = 0;
  index_t to = 0;
  index_t elements = 0;
  /// An all_reduce has two rounds: in the first, every device gets the elements that it reduces; in
  /// the second, those that the others have reduced. All other collectives have one round.
  int round = 0;

  friend constexpr bool operator==(const shard_piece&, const shard_piece&) = default;
};

/// Returns the elements that the device at a position of an all_reduce reduces for its group: as
/// equal parts as possible, in the row-major order of the shard.
[[nodiscard]] constexpr index_range reduced_at(index_t position, index_t parts,
                                               index_t elements) noexcept {
  const index_t most = ceil_div(elements, parts);
  const index_t begin = position * most < elements ? position * most : elements;
  return {begin, begin + most < elements ? begin + most : elements};
}

/// The devices from which a device receives in a collective, including itself: the group, in the
/// order of its positions, which is also the order of reductions.
///
/// If a device receives from at most one other, `moves` states from which; in a permutation of
/// shards the layouts before and after do.
class collective_peers {
 public:
  constexpr collective_peers(const mesh_desc& mesh, const layout_desc& before,
                             const planned_transfer& step,
                             const position_moves& moves = {}) noexcept
      : groups_(mesh, step.axes),
        moves_(moves),
        shards_(mesh, before, step.after),
        permutes_shards_(permutes_shards(before, step)),
        hears_one_(step.kind == collective::collective_permute ||
                   step.kind == collective::broadcast),
        hears_group_(step.kind != collective::slice && !hears_one_),
        reduces_(step.kind == collective::all_reduce || step.kind == collective::reduce_scatter) {}

  /// Returns the number of these devices.
  [[nodiscard]] constexpr index_t count() const noexcept {
    return hears_group_ ? groups_.size() : 1;
  }
  /// Returns true if their values are reduced, not concatenated.
  [[nodiscard]] constexpr bool reduces() const noexcept { return reduces_; }
  /// Returns the group of a device, and its position in it.
  [[nodiscard]] constexpr index_t group_of(index_t device) const noexcept {
    return hears_group_ ? groups_.group_of(device) : device;
  }
  [[nodiscard]] constexpr index_t position_of(index_t device) const noexcept {
    return hears_group_ ? groups_.position_of(device) : 0;
  }
  /// Returns the device at a position of a group; -1 if nothing is received.
  [[nodiscard]] constexpr index_t member(index_t group, index_t position) const noexcept {
    if (permutes_shards_) return shards_.source_of(group);
    if (hears_one_) {
      const index_t heard = moves_.heard_by(groups_.position_of(group), groups_.size());
      return heard < 0 ? -1 : groups_.member(groups_.group_of(group), heard);
    }
    return hears_group_ ? groups_.member(group, position) : group;
  }

 private:
  device_groups groups_;
  position_moves moves_;
  shard_permutation shards_;
  bool permutes_shards_;
  bool hears_one_;
  bool hears_group_;
  bool reduces_;
};

/// Calls `f(piece)` for everything that device `to` gets in one collective of a tensor described by
/// `before`: round by round, in the order of the group, including what it gets from itself, except
/// for empty pieces. All statements about data movement are derived from this list.
///
///     // rows of 4 devices become columns: each gets a quarter of its columns from every device
///     for_each_piece(mesh, x, way.moves[0], 0, [&](const shard_piece& p) { bytes += p.elements *
///     4; });
template <class F>
constexpr void for_each_piece(const mesh_desc& mesh, const tensor_desc& before,
                              const planned_transfer& step, index_t to, const F& f,
                              const position_moves& moves = {}) {
  const collective_peers peers(mesh, before.layout, step, moves);
  const index_t group = peers.group_of(to);
  const held_box part = held_of(mesh, step.after, before.extents, to);
  const auto say = [&](const shard_piece& p) {
    if (p.elements > 0) f(p);
  };
  if (step.kind == collective::all_reduce) {
    const index_t all = element_count(extents_of(part));
    for (int round = 0; round < 2; ++round)
      for (index_t p = 0; p < peers.count(); ++p)
        say({peers.member(group, p), to,
             reduced_at(round == 0 ? peers.position_of(to) : p, peers.count(), all).size(), round});
    return;
  }
  for (index_t p = 0; p < peers.count(); ++p) {
    const index_t from = peers.member(group, p);
    if (from < 0) continue;
    say({from, to, shared_elements(held_of(mesh, before.layout, before.extents, from), part), 0});
  }
}

/// Calls `f(owner, device, range)` for the elements that each owner reduces in an all_reduce of
/// shards of `elements` elements, in the group of `member`; `device` is the first device of the
/// owner. Adjacent devices of a group with the same owner reduce together.
template <class F>
constexpr void for_each_reduced_range(const collective_peers& peers, index_t member,
                                      const device_owners& owners, index_t elements, const F& f) {
  const index_t group = peers.group_of(member);
  for (index_t first = 0, next = 0; first < peers.count(); first = next) {
    const index_t device = peers.member(group, first);
    const index_t owner = owners.owner_of(device);
    while (next < peers.count() && owners.owner_of(peers.member(group, next)) == owner) ++next;
    f(owner, device,
      index_range{reduced_at(first, peers.count(), elements).begin,
                  reduced_at(next - 1, peers.count(), elements).end});
  }
}

/// Returns the bytes that a device receives over each axis of a collective, computed from its
/// pieces: data is attributed to the most major axis along which the two devices differ. The
/// `bytes` of a transfer, one charge for all devices, are an upper bound, and equal if every extent
/// is divisible.
[[nodiscard]] constexpr inplace_vector<index_t, max_axes> piece_bytes(const mesh_desc& mesh,
                                                                      const tensor_desc& before,
                                                                      const planned_transfer& step,
                                                                      index_t to) noexcept {
  inplace_vector<index_t, max_axes> bytes;
  bytes.resize(step.axes.size());
  const coordinates here = mesh.at(to);
  for_each_piece(mesh, before, step, to, [&](const shard_piece& p) {
    const coordinates there = mesh.at(p.from);
    for (int i = 0; i < step.axes.ssize(); ++i) {
      if (here[step.axes[i]] == there[step.axes[i]]) continue;
      bytes[i] += p.elements * size_of(before.type);
      return;
    }
  });
  return bytes;
}

/// The data that one owner sends to another in a round of a collective: elements of the distinct
/// shard of device `from` for the distinct shard of device `to`, once for all replicas.
struct crossing {
  index_t sender = 0;
  index_t receiver = 0;
  index_t from = 0;
  index_t to = 0;
  index_t elements = 0;
  /// For an all_reduce, the elements of the shard, in row-major order.
  index_range range{};
  /// If terms are added, the number of devices of the group, beginning at `from`, whose terms the
  /// sender adds, as a subtree of the reduction.
  index_t terms = 1;
};

/// Calls `f(first, count, source)` for the largest subtrees of terms from `first` on whose terms
/// all come from one source, in order; `source_of(i)` is that of term `i`.
template <class SourceOf, class F>
constexpr void for_each_sum_of_one(index_t first, index_t count, const SourceOf& source_of,
                                   const F& f) {
  const index_t source = source_of(first);
  bool is_one = true;
  for (index_t i = 1; i < count && is_one; ++i) is_one = source_of(first + i) == source;
  if (is_one) return f(first, count, source);
  const index_t left = terms_on_the_left(count);
  for_each_sum_of_one(first, left, source_of, f);
  for_each_sum_of_one(first + left, count - left, source_of, f);
}

/// How owners exchange data in collectives.
struct crossing_rules {
  /// True if they read each other's memory, so that a sender adds no terms.
  bool are_read = false;
  /// An all_reduce has one round, in which every owner gets all terms and adds them itself, if an
  /// owner receives at most this number of bytes from all others.
  index_t one_round_bytes = 32_KiB;
};

/// Returns the number of rounds of a collective between devices.
[[nodiscard]] constexpr int rounds_of(const planned_transfer& step) noexcept {
  return step.kind == collective::slice ? 0 : step.kind == collective::all_reduce ? 2 : 1;
}
/// Returns the number of rounds of a collective between owners.
[[nodiscard]] constexpr int rounds_of(const mesh_desc& mesh, const tensor_desc& before,
                                      const planned_transfer& step, const device_owners& owners,
                                      const crossing_rules& rules) noexcept {
  if (step.kind != collective::all_reduce) return rounds_of(step);
  const index_t bytes =
      largest_shard_size(mesh, before.layout, before.extents) * size_of(before.type);
  return size_product(bytes, owners.count() - 1) <= rules.one_round_bytes ? 1 : 2;
}

/// Calls `f(crossing)` for every piece that goes from one owner to another in a round of a
/// collective, by shard of the result and by owner. Data that an owner holds, also as a replica,
/// does not cross; terms that the reduction tree adds together are added before they are sent.
template <class F>
constexpr void for_each_crossing(const mesh_desc& mesh, const tensor_desc& before,
                                 const planned_transfer& step, const device_owners& owners,
                                 int round, const F& f, const position_moves& moves = {},
                                 const crossing_rules& rules = {}) {
  if (owners.count() == 1) return;
  const collective_peers peers(mesh, before.layout, step, moves);
  const shard_owners sources(mesh, before.layout, owners);
  const shard_owners results(mesh, step.after, owners);
  const auto held = [&](const layout_desc& layout, index_t device) {
    return held_of(mesh, layout, before.extents, device);
  };
  const auto say = [&](const crossing& c) {
    if (c.elements > 0) f(c);
  };
  // Returns the owner that sends a device's data to another owner: that owner itself if it holds
  // the same data.
  const auto source_for = [&](index_t owner, index_t device) {
    const index_t source = sources.shard_of(device);
    return sources.holder(source, owner) >= 0 ? owner : sources.keeper(source);
  };
  // The terms of a group for one owner; those of another owner are added as far as the tree
  // permits.
  const auto say_terms = [&](index_t group, index_t owner, const crossing& what) {
    const auto sender_of = [&](index_t p) { return source_for(owner, peers.member(group, p)); };
    const auto say_sum = [&](index_t first, index_t count, index_t sender) {
      if (sender == owner) return;
      crossing c = what;
      c.sender = sender;
      c.receiver = owner;
      c.from = peers.member(group, first);
      c.terms = count;
      say(c);
    };
    if (!rules.are_read) return for_each_sum_of_one(0, peers.count(), sender_of, say_sum);
    for (index_t p = 0; p < peers.count(); ++p) say_sum(p, 1, sender_of(p));
  };
  const bool is_one_round = rounds_of(mesh, before, step, owners, rules) == 1;
  for (index_t shard = 0; shard < results.count(); ++shard) {
    if (step.kind != collective::all_reduce) {
      for (index_t owner = 0; owner < owners.count(); ++owner) {
        const index_t to = results.holder(shard, owner);
        if (to < 0) continue;
        const index_t group = peers.group_of(to);
        const held_box part = held(step.after, to);
        const auto shared = [&](index_t from) {
          return shared_elements(held(before.layout, from), part);
        };
        if (peers.reduces()) {
          say_terms(group, owner, {.to = to, .elements = shared(peers.member(group, 0))});
          continue;
        }
        for (index_t p = 0; p < peers.count(); ++p) {
          const index_t from = peers.member(group, p);
          if (from < 0) continue;
          if (const index_t sender = source_for(owner, from); sender != owner)
            say({sender, owner, from, to, shared(from)});
        }
      }
      continue;
    }
    const index_t group = peers.group_of(results.device_of(shard));
    const index_t all = element_count(extents_of(held(step.after, results.device_of(shard))));
    if (is_one_round) {
      for (index_t owner = 0; owner < owners.count(); ++owner)
        if (const index_t to = results.holder(shard, owner); to >= 0)
          say_terms(peers.group_of(to), owner, {.to = to, .elements = all, .range = {0, all}});
      continue;
    }
    for_each_reduced_range(
        peers, results.device_of(shard), owners, all,
        [&](index_t owner, index_t to, const index_range& reduced_range) {
          if (round == 0)
            return say_terms(group, owner,
                             {.to = to, .elements = reduced_range.size(), .range = reduced_range});
          for (index_t other = 0; other < owners.count(); ++other)
            if (const index_t taker = results.holder(shard, other); other != owner && taker >= 0)
              say({owner, other, to, taker, reduced_range.size(), reduced_range});
        });
  }
}

/// Returns the bytes that one owner receives from the others in a collective, or reads of theirs.
/// With a list of the host of each owner, only those that come from other hosts.
///
///     const index_t hosts[] = {0, 0, 1, 1};
///     crossing_bytes(mesh, x, way.moves[0], owners, 0, {}, list_view<const index_t>(hosts));
[[nodiscard]] constexpr index_t crossing_bytes(const mesh_desc& mesh, const tensor_desc& before,
                                               const planned_transfer& step,
                                               const device_owners& owners, index_t receiver,
                                               const crossing_rules& rules = {},
                                               list_view<const index_t> hosts = {}) noexcept {
  index_t elements = 0;
  for (int round = 0; round < rounds_of(mesh, before, step, owners, rules); ++round)
    for_each_crossing(
        mesh, before, step, owners, round,
        [&](const crossing& c) {
          if (c.receiver != receiver) return;
          if (hosts.empty() || hosts[c.sender] != hosts[receiver]) elements += c.elements;
        },
        {}, rules);
  return elements * size_of(before.type);
}

}  // namespace shardwise
