// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/fold_terms.hpp"
#include "shardwise/plan/collective_operation.hpp"
#include "shardwise/plan/pieces.hpp"
#include "shardwise/runtime/device_pool.hpp"
#include "shardwise/tensor/node.hpp"
#include "shardwise/tensor/shared_blocks.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>
#include <vector>

namespace shardwise::detail {

/// A block without memory: where the elements of a part are, from its first element on.
struct block_place {
  index_t offset = 0;
  inplace_vector<index_t, max_rank> extents{};
  inplace_vector<index_t, max_rank> strides{};
};
inline void advance(block_place& block, index_t elements) noexcept { block.offset += elements; }

[[nodiscard]] inline block_place place_of(const held_box& part) noexcept {
  const extents_desc extents = extents_of(part);
  return {0, extents, row_major(extents)};
}

/// The block at a place of a shard that begins at `data`.
[[nodiscard]] inline const_any_block block_at(const void* data, element type,
                                              const block_place& place) noexcept {
  const_any_block block{data, type, place.extents, place.strides};
  if (block.size() > 0) advance(block, place.offset);
  return block;
}

/// Runs one collective, or what manual sharding does, of a node: it computes distinct shards of
/// `result`, which has its memory, from the pieces that its device gets.
///
/// In one process a piece is copied, or folded, from the shard that it is in. What other owners
/// have is brought by `exchange` first.
class collective_run {
 public:
  collective_run(const applied_operation& does, const node& source, node& result)
      : source_(source), result_(result), how_(does.how) {
    // A tensor that becomes manual, or ceases to be, has other indices and the same elements.
    keeps_ = does.what->id == operation_of<manual_operation>.id;
    if (!keeps_) step_ = collective_operation::moved(does.how, result.tensor().layout);
  }

  /// Computes one distinct shard.
  void run_shard(index_t shard) const {
    if (is_complete_) return;
    const any_block block = result_.writable_block(shard);
    const index_t device = result_.where().device_of(shard);
    if (keeps_) {
      const_any_block same = source_.held_by(device);
      same.extents = block.extents;
      same.strides = row_major(block.extents);
      return result_.elements().copy(same, block);
    }
    const collective_peers peers(result_.where().mesh(), step_);
    if (step_.kind == collective::all_reduce) return reduce(peers, shard, {0, block.size()});
    const index_t group = peers.group_of(device);
    const held_box part = result_.where().held_by(device);
    if (peers.reduces()) return reduce_parts(peers, shard, part, block);
    for (index_t p = 0; p < peers.count(); ++p) {
      const index_t from = peers.member(group, p);
      const std::byte* const packed = arrived(shard, from, 0);
      const void* const data = packed != nullptr ? packed : source_.held_by(from).data;
      index_t done = 0;
      for_each_shared_block(source_.where().held_by(from), place_of(source_.where().held_by(from)),
                            part, block, [&](block_place place, const any_block& to) {
                              if (packed != nullptr) place = packed_at(place, done);
                              done += to.size();
                              result_.elements().copy(block_at(data, to.type, place), to);
                            });
    }
  }

  /// Brings what the other owners of the mesh have, and gives them what they get from here; an
  /// all_reduce is complete then.
  void exchange(machine& home) {
    if (keeps_ || rounds_of(step_) == 0) return;
    carry(home, 0, source_);
    if (step_.kind != collective::all_reduce) return;
    const collective_peers peers(result_.where().mesh(), step_);
    home.run_shards(result_.where(), [&](index_t shard) { reduce_own(peers, shard, home); });
    arrived_.clear();
    carry(home, 1, result_);
    for (const arrival& a : arrived_)
      std::memcpy(result_.writable_data<std::byte>(a.shard) + a.first * element_size(), data_of(a),
                  static_cast<std::size_t>(a.count * element_size()));
    arrived_.clear();
    is_complete_ = true;
  }

 private:
  /// Elements of another owner's, packed, that a shard of the result needs of a device.
  struct arrival {
    index_t shard = 0;
    index_t from = 0;
    index_t first = 0;
    index_t count = 0;
    std::size_t sender = 0;
    index_t offset = 0;
  };

  [[nodiscard]] index_t element_size() const noexcept { return size_of(result_.tensor().type); }
  [[nodiscard]] const std::byte* data_of(const arrival& a) const noexcept {
    return received_[a.sender].data() + a.offset;
  }
  /// What has arrived of a device for a shard, from element `first` on; null if its shard is here.
  [[nodiscard]] const std::byte* arrived(index_t shard, index_t from,
                                         index_t first) const noexcept {
    auto low = std::lower_bound(arrived_.begin(), arrived_.end(), shard,
                                [](const arrival& a, index_t wanted) { return a.shard < wanted; });
    for (; low != arrived_.end() && low->shard == shard; ++low)
      if (low->from == from && low->first == first) return data_of(*low);
    return nullptr;
  }
  /// The place of a block among packed ones.
  [[nodiscard]] static block_place packed_at(const block_place& place, index_t done) noexcept {
    return {done, place.extents, row_major(place.extents)};
  }

  /// Folds some elements, in row-major order, of the shards of a group.
  void reduce(const collective_peers& peers, index_t shard, const index_range& range) const {
    const index_t group = peers.group_of(result_.where().first_device_of(shard));
    const index_t size = element_size();
    const element type = result_.tensor().type;
    const auto term = [&](index_t p) -> const_any_block {
      const index_t from = peers.member(group, p);
      const std::byte* const packed = arrived(shard, from, range.begin);
      const auto* const own = source_.shard(source_.where().shard_of(from)).data();
      return {packed != nullptr || own == nullptr ? packed : own + range.begin * size,
              type,
              {range.size()},
              {1}};
    };
    std::byte* const data = result_.writable_data<std::byte>(shard);
    if (range.empty()) return;
    fold(peers, term, {data + range.begin * size, type, {range.size()}, {1}});
  }
  /// Folds the part of a shard that every device of a group has.
  void reduce_parts(const collective_peers& peers, index_t shard, const held_box& part,
                    const any_block& block) const {
    const index_t group = peers.group_of(result_.where().device_of(shard));
    const held_box terms = source_.where().held_by(peers.member(group, 0));
    index_t done = 0;
    for_each_shared_block(terms, place_of(terms), part, block,
                          [&](const block_place& place, const any_block& to) {
                            const auto term = [&](index_t p) {
                              const index_t from = peers.member(group, p);
                              if (const std::byte* const packed = arrived(shard, from, 0))
                                return block_at(packed, to.type, packed_at(place, done));
                              return block_at(source_.held_by(from).data, to.type, place);
                            };
                            fold(peers, term, to);
                            done += to.size();
                          });
  }
  template <class Term>
  void fold(const collective_peers& peers, const Term& term, const any_block& to) const {
    std::vector<const_any_block> terms;
    terms.reserve(static_cast<std::size_t>(peers.count()));
    for (index_t p = 0; p < peers.count(); ++p) terms.push_back(term(p));
    fold_terms(
        result_.elements(), how_.kind, peers.count(),
        [&](index_t p) { return terms[static_cast<std::size_t>(p)]; }, to);
  }
  /// Reduces what this owner's devices do of a shard: neighbours in the group together.
  void reduce_own(const collective_peers& peers, index_t shard, const machine& home) const {
    const index_t size = result_.where().size_of_shard(shard);
    for_each_reduced_range(peers, result_.where().first_device_of(shard), home.link()->owners(),
                           size, [&](index_t owner, index_t, const index_range& range) {
                             if (owner == home.link()->self()) reduce(peers, shard, range);
                           });
  }

  /// Exchanges the pieces of a round, which are in the shards of `from`.
  void carry(machine& home, int round, const node& from) {
    owner_link& link = *home.link();
    const index_t self = link.self();
    const auto at = [](index_t owner) { return static_cast<std::size_t>(owner); };
    std::vector<crossing> sends;
    owner_link::bytes_by_owner out = link.nothing();
    std::vector<index_t> sent(out.size(), 0);
    std::vector<index_t> wanted(out.size(), 0);
    for_each_crossing(result_.where().mesh(), source_.tensor(), step_, link.owners(), round,
                      [&](const crossing& c) {
                        const index_t bytes = c.elements * element_size();
                        if (c.sender == self) {
                          sends.push_back(c);
                          sent[at(c.receiver)] += bytes;
                        }
                        if (c.receiver != self) return;
                        arrived_.push_back({result_.where().shard_of(c.to), c.from, c.range.begin,
                                            c.elements, at(c.sender), wanted[at(c.sender)]});
                        wanted[at(c.sender)] += bytes;
                      });
    received_ = link.nothing();
    for (std::size_t owner = 0; owner < out.size(); ++owner) {
      out[owner].reserve(static_cast<std::size_t>(sent[owner]));
      received_[owner].resize(static_cast<std::size_t>(wanted[owner]));
    }
    for (const crossing& c : sends) pack(c, from, out[at(c.receiver)]);
    link.exchange(out, received_, home.team());
  }
  /// Puts the elements of a piece at the end of what goes to an owner.
  void pack(const crossing& c, const node& from, std::vector<std::byte>& to) const {
    const const_any_block own = from.block_of(from.where().shard_of(c.from));
    const auto* const data = static_cast<const std::byte*>(own.data);
    if (step_.kind == collective::all_reduce) {
      to.insert(to.end(), data + c.range.begin * element_size(),
                data + c.range.end * element_size());
      return;
    }
    const held_box part = source_.where().held_by(c.from);
    const held_box wanted = result_.where().held_by(c.to);
    for_each_shared_block(
        part, place_of(part), wanted, place_of(wanted),
        [&](const block_place& place, const block_place&) {
          const const_any_block piece = block_at(data, own.type, place);
          const auto begin = static_cast<index_t>(to.size());
          to.resize(static_cast<std::size_t>(begin + piece.size() * size_of(own.type)));
          from.elements().copy(
              piece, {to.data() + begin, own.type, piece.extents, row_major(piece.extents)});
        });
  }

  const node& source_;
  node& result_;
  attributes how_;
  transfer step_{};
  bool keeps_ = false;
  bool is_complete_ = false;
  std::vector<arrival> arrived_;
  owner_link::bytes_by_owner received_;
};

}  // namespace shardwise::detail
