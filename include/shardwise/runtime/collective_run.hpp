// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/reduce_terms.hpp"
#include "shardwise/kernel/scratch_memory.hpp"
#include "shardwise/plan/manual_operation.hpp"
#include "shardwise/plan/pieces.hpp"
#include "shardwise/runtime/device_pool.hpp"
#include "shardwise/runtime/shard_rows.hpp"
#include "shardwise/tensor/node.hpp"
#include "shardwise/tensor/shared_blocks.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <utility>
#include <vector>

namespace shardwise::internal {

/// Runs one collective, or one operation of manual sharding, of a node: computes the distinct
/// shards of `result`, whose memory is allocated, from the pieces that each device gets.
///
/// Within one process a piece is copied or reduced directly from its shard. Pieces of other owners
/// are first received by `exchange`.
class collective_run {
 public:
  collective_run(const applied_operation& does, const tensor_node& source, tensor_node& result)
      : source_(source),
        result_(result),
        how_(does.how),
        seen_(seen_as(result.where().mesh(), does, source.tensor(), result.tensor())),
        // A tensor that becomes manual, or ceases to be, has other indices but the same elements.
        keeps_(does.what->id == operation_of<manual_operation>.id),
        is_of_one_(does.what->id == operation_of<manual_collective_operation>.id &&
                   manual_collective::read(does.how).of_one) {}

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
    const collective_peers peers = peers_of();
    if (seen_.step.kind == collective::all_reduce) return reduce(peers, shard, {0, block.size()});
    const index_t group = peers.group_of(device);
    const held_box part = part_after(device);
    if (peers.reduces()) return reduce_parts(peers, shard, part, block);
    for (index_t p = 0; p < peers.count(); ++p) {
      const index_t from = peers.member(group, p);
      if (from >= 0 && !lacks_term(device))
        pull(shard, from, part, block);
      else
        std::memset(block.data, 0, static_cast<std::size_t>(block.size() * element_size()));
    }
  }

  /// Returns true for a reduction of a tensor that has rows: the rows of a shard may be computed
  /// apart.
  [[nodiscard]] bool is_divisible() const noexcept {
    return seen_.step.kind == collective::all_reduce && !keeps_ && result_.tensor().rank() > 0;
  }
  /// Computes some rows of one distinct shard.
  void run_rows(index_t shard, const shard_rows& part) const {
    const any_block block = result_.writable_block(shard);
    const index_range rows = part.of(block.extents[0]);
    if (!is_complete_)
      reduce(peers_of(), shard, {rows.begin * block.strides[0], rows.end * block.strides[0]});
  }

  /// Exchanges pieces with the other owners of the mesh, before the shards of each run; an
  /// all_reduce is complete afterwards. The messages are read until the shards are computed. A
  /// further run exchanges as much, so that it need not allocate.
  void exchange(pool_state& home, owner_link::messages& memory) {
    if (keeps_ || rounds_of(seen_.step) == 0) return;
    memory_ = &memory;
    is_complete_ = false;
    carry(home, 0, source_);
    if (seen_.step.kind != collective::all_reduce) return;
    const collective_peers peers = peers_of();
    const index_t work =
        result_.where().count() * result_.where().bytes_per_device() * (peers.count() + 1);
    home.run_shards(
        result_.where(), [&](index_t shard) { reduce_own(peers, shard, home); }, work);
    carry(home, 1, result_);
    for (const arrival& a : rounds_[1].arrivals)
      std::memcpy(result_.writable_data<std::byte>(a.shard) + a.first * element_size(), data_of(a),
                  static_cast<std::size_t>(a.count * element_size()));
    is_complete_ = true;
  }

 private:
  /// Packed elements from another owner that a shard of the result needs from a device.
  struct arrival {
    index_t shard = 0;
    index_t from = 0;
    index_t first = 0;
    index_t count = 0;
    std::size_t sender = 0;
    index_t offset = 0;
    index_t terms = 1;
  };
  /// A piece for another owner, and its offset in the message.
  struct departure {
    crossing piece;
    index_t offset = 0;
  };
  /// The pieces of a round, and the bytes to and from each owner.
  struct round {
    std::vector<departure> departures;
    std::vector<arrival> arrivals;
    std::vector<index_t> sent;
    std::vector<index_t> wanted;
  };

  /// Returns true if another device holds the one term of a sum.
  [[nodiscard]] bool lacks_term(index_t device) const noexcept {
    const mesh_desc& mesh = result_.where().mesh();
    return is_of_one_ && position_along(mesh, seen_.step.axes, mesh.at(device)) != 0;
  }
  [[nodiscard]] collective_peers peers_of() const noexcept {
    return {result_.where().mesh(), seen_.before.layout, seen_.step, seen_.moves};
  }
  /// Returns the part of a device before and after, as the collective describes it.
  [[nodiscard]] held_box part_before(index_t device) const noexcept {
    return held_of(result_.where().mesh(), seen_.before.layout, seen_.before.extents, device);
  }
  [[nodiscard]] held_box part_after(index_t device) const noexcept {
    return held_of(result_.where().mesh(), seen_.step.after, seen_.before.extents, device);
  }
  [[nodiscard]] index_t element_size() const noexcept { return size_of(result_.tensor().type); }
  [[nodiscard]] const std::byte* data_of(const arrival& a) const noexcept {
    return memory_->in[a.sender].data() + a.offset;
  }
  /// Calls `f(arrival)` for everything received for a shard.
  template <class F>
  void for_each_arrival(index_t shard, const F& f) const {
    const std::vector<arrival>& all = rounds_[0].arrivals;
    auto low = std::lower_bound(all.begin(), all.end(), shard,
                                [](const arrival& a, index_t wanted) { return a.shard < wanted; });
    for (; low != all.end() && low->shard == shard; ++low) f(*low);
  }
  /// Returns what was received from a device for a shard; null if its shard is in this process.
  [[nodiscard]] const std::byte* arrived(index_t shard, index_t from) const {
    const std::byte* found = nullptr;
    for_each_arrival(shard, [&](const arrival& a) {
      if (a.from == from) found = data_of(a);
    });
    return found;
  }
  /// Returns the position of a block among packed ones.
  [[nodiscard]] static block_place packed_at(const block_place& place, index_t done) noexcept {
    return {done, place.extents, row_major(place.extents)};
  }

  /// Copies what a shard, which holds `part`, gets from a device: from that device's shard, or from
  /// what was received.
  void pull(index_t shard, index_t from, const held_box& part, const any_block& block) const {
    const held_box theirs = part_before(from);
    const std::byte* const packed = rounds_[0].arrivals.empty() ? nullptr : arrived(shard, from);
    if (packed == nullptr)
      return copy_shared(result_.elements(), theirs, source_.held_by(from), part, block);
    index_t done = 0;
    for_each_shared_block(theirs, place_of(theirs), part, {0, block.extents, block.strides},
                          [&](const block_place& place, const block_place& to) {
                            const const_any_block sent = block_at(
                                const_any_block{packed, block.type}, packed_at(place, done));
                            result_.elements().copy(sent, block_at(block, to));
                            done += sent.size();
                          });
  }

  /// Returns, by position in a group, the sums of terms received for a shard, from element `first`
  /// on; empty if there are none.
  [[nodiscard]] scratch_vector<const arrival*> sums_for(const collective_peers& peers,
                                                        index_t shard, index_t first) const {
    scratch_vector<const arrival*> sums;
    for_each_arrival(shard, [&](const arrival& a) {
      if (a.first != first) return;
      if (sums.empty()) sums.resize(static_cast<std::size_t>(peers.count()), nullptr);
      sums[static_cast<std::size_t>(peers.position_of(a.from))] = &a;
    });
    return sums;
  }
  /// Reduces some elements, in row-major order, of the shards of a group.
  void reduce(const collective_peers& peers, index_t shard, const index_range& range) const {
    if (range.empty()) return;
    const index_t group = peers.group_of(result_.where().first_device_of(shard));
    const index_t first = range.begin * element_size();
    const any_block to{result_.writable_data<std::byte>(shard) + first,
                       result_.tensor().type,
                       {range.size()},
                       {1}};
    const auto own = [&](index_t p) -> const_any_block {
      const std::byte* const data =
          source_.shard(source_.where().shard_of(peers.member(group, p))).data();
      return {data + first, to.type, to.extents, to.strides};
    };
    const auto sent = [&](const arrival& a) -> const_any_block {
      return {data_of(a), to.type, to.extents, to.strides};
    };
    reduce(0, peers.count(), sums_for(peers, shard, range.begin), own, sent, to);
  }
  /// Reduces the part of a shard that every device of a group holds.
  void reduce_parts(const collective_peers& peers, index_t shard, const held_box& part,
                    const any_block& block) const {
    const index_t group = peers.group_of(result_.where().device_of(shard));
    const held_box terms = part_before(peers.member(group, 0));
    const scratch_vector<const arrival*> sums = sums_for(peers, shard, 0);
    index_t done = 0;
    for_each_shared_block(
        terms, place_of(terms), part, {0, block.extents, block.strides},
        [&](const block_place& place, const block_place& in_block) {
          const any_block to = block_at(block, in_block);
          const auto own = [&](index_t p) {
            return block_at(source_.held_by(peers.member(group, p)), place);
          };
          const auto sent = [&](const arrival& a) {
            return block_at(const_any_block{data_of(a), to.type}, packed_at(place, done));
          };
          reduce(0, peers.count(), sums, own, sent, to);
          done += to.size();
        });
  }
  /// Reduces `count` terms of a group, from `first` on: local terms, `own(p)`, and sums received
  /// from others, `sent(arrival)`, which are subtrees of the same tree.
  void reduce(index_t first, index_t count, const scratch_vector<const arrival*>& sums,
              const function_view<const_any_block(index_t)>& own,
              const function_view<const_any_block(const arrival&)>& sent,
              const any_block& to) const {
    const element_kernels& elements = result_.elements();
    const auto begin = sums.begin() + (sums.empty() ? 0 : first);
    const auto end = sums.begin() + (sums.empty() ? 0 : first + count);
    if (std::all_of(begin, end, [](const arrival* a) { return a == nullptr; })) {
      scratch_vector<const_any_block> terms;
      terms.reserve(static_cast<std::size_t>(count));
      for (index_t p = 0; p < count; ++p) terms.push_back(own(first + p));
      return reduce_terms(
          elements, how_.kind, count, [&](index_t p) { return terms[static_cast<std::size_t>(p)]; },
          to);
    }
    if (*begin != nullptr && (*begin)->terms == count) return elements.copy(sent(**begin), to);
    const index_t left = terms_on_the_left(count);
    scratch_vector<std::byte> memory(static_cast<std::size_t>(to.size() * element_size()));
    const any_block right{memory.data(), to.type, to.extents, row_major(to.extents)};
    reduce(first, left, sums, own, sent, to);
    reduce(first + left, count - left, sums, own, sent, right);
    elements.reduce(how_.kind, {to.data, to.type, to.extents, to.strides},
                    {right.data, right.type, right.extents, right.strides}, to);
  }
  /// Reduces the parts of a shard that this owner's devices reduce; adjacent devices of the group
  /// together.
  void reduce_own(const collective_peers& peers, index_t shard, const pool_state& home) const {
    const index_t size = result_.where().size_of_shard(shard);
    for_each_reduced_range(peers, result_.where().first_device_of(shard), home.link()->owners(),
                           size, [&](index_t owner, index_t, const index_range& range) {
                             if (owner == home.link()->self()) reduce(peers, shard, range);
                           });
  }

  /// Finds the pieces of a round.
  void plan(const pool_state& home, std::size_t number) {
    const owner_link& link = *home.link();
    round& to = rounds_[number];
    const auto at = [](index_t owner) { return static_cast<std::size_t>(owner); };
    to.sent.resize(at(link.owners().count()), 0);
    to.wanted.resize(to.sent.size(), 0);
    for_each_crossing(
        result_.where().mesh(), seen_.before, seen_.step, link.owners(), static_cast<int>(number),
        [&](const crossing& c) {
          const index_t bytes = c.elements * element_size();
          if (c.sender == link.self()) {
            index_t& sent = to.sent[at(c.receiver)];
            to.departures.push_back({c, sent});
            sent += bytes;
          }
          if (c.receiver != link.self()) return;
          index_t& wanted = to.wanted[at(c.sender)];
          to.arrivals.push_back({result_.where().shard_of(c.to), c.from, c.range.begin, c.elements,
                                 at(c.sender), wanted, c.terms});
          wanted += bytes;
        },
        seen_.moves);
    // The order of the shards may differ between a split tensor and a manual one.
    std::stable_sort(to.arrivals.begin(), to.arrivals.end(),
                     [](const arrival& a, const arrival& b) { return a.shard < b.shard; });
  }
  /// Exchanges the pieces of a round, which are in the shards of `from`.
  void carry(pool_state& home, std::size_t number, const tensor_node& from) {
    const round& now = rounds_[number];
    if (now.sent.empty()) plan(home, number);
    memory_->resize(now.sent, now.wanted);
    for (const departure& each : now.departures)
      pack(each.piece, from,
           memory_->out[static_cast<std::size_t>(each.piece.receiver)].data() + each.offset);
    home.link()->exchange(memory_->out, memory_->in, home.team());
  }
  /// Writes the elements of a piece, with its terms reduced.
  void pack(const crossing& c, const tensor_node& from, std::byte* to) const {
    const collective_peers peers = peers_of();
    const element type = from.tensor().type;
    const auto put = [&](const block_place& place) {
      const any_block packed{to, type, place.extents, row_major(place.extents)};
      to += packed.size() * element_size();
      const auto term = [&](index_t i) {
        const index_t device =
            i == 0 ? c.from : peers.member(peers.group_of(c.from), peers.position_of(c.from) + i);
        return block_at(const_any_block{from.shard(from.where().shard_of(device)).data(), type},
                        place);
      };
      reduce_terms(from.elements(), how_.kind, c.terms, term, packed);
    };
    if (seen_.step.kind == collective::all_reduce)
      return put({c.range.begin, {c.range.size()}, {1}});
    const held_box part = part_before(c.from);
    const held_box wanted = part_after(c.to);
    for_each_shared_block(part, place_of(part), wanted, place_of(wanted),
                          [&](const block_place& place, const block_place&) { put(place); });
  }

  const tensor_node& source_;
  tensor_node& result_;
  attributes how_;
  seen_collective seen_;
  bool keeps_;
  bool is_of_one_;
  bool is_complete_ = false;
  /// An all_reduce has two; they are planned when they first take place.
  std::array<round, 2> rounds_{};
  owner_link::messages* memory_ = nullptr;
};

}  // namespace shardwise::internal
