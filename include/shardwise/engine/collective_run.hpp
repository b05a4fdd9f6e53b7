// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/growable.hpp"
#include "shardwise/engine/collective_pieces.hpp"
#include "shardwise/engine/moving_step.hpp"
#include "shardwise/engine/pool_state.hpp"
#include "shardwise/engine/shard_rows.hpp"
#include "shardwise/kernel/reduce_terms.hpp"
#include "shardwise/kernel/scratch_memory.hpp"
#include "shardwise/plan/manual_operation.hpp"
#include "shardwise/plan/pieces.hpp"
#include "shardwise/tensor/node.hpp"
#include "shardwise/tensor/shared_blocks.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>

namespace shardwise::internal {

/// Runs one collective, or one operation of manual sharding, of a node: computes the distinct
/// shards of `result`, whose memory is allocated, from the pieces that each device gets.
///
/// A piece is copied or reduced directly from its shard, also in the memory of another owner of the
/// host. Pieces of owners elsewhere are first received by `exchange`. If there are other owners, a
/// run is `exchange`, then the shards, then `finish`.
class collective_run final : public moving_step {
 public:
  collective_run(const applied_operation& does, const tensor_node& source, tensor_node& result)
      : source_(source),
        result_(result),
        pieces_(seen_as(result.where().mesh(), does, source.tensor(), result.tensor()),
                does.how.kind, source, result),
        kind_(does.how.kind),
        // A tensor that becomes manual, or ceases to be, has other indices but the same elements.
        keeps_(does.what->id == operation_of<manual_operation>.id),
        is_of_one_(does.what->id == operation_of<manual_collective_operation>.id &&
                   manual_collective::read(does.how).of_one) {}

  /// Finds once, for many runs, which blocks are copied, if nothing else is to be done.
  void prepare() override {
    const collective_peers& peers = pieces_.peers();
    if (keeps_ || is_of_one_ || peers.reduces()) return;
    const shard_table& to = result_.where();
    copies_.resize(static_cast<std::size_t>(to.count()));
    for (index_t i = 0; i < to.count_here(); ++i) {
      const index_t shard = to.shard_here(i);
      const index_t device = to.device_of(shard);
      const held_box part = pieces_.part_after(device);
      for (index_t p = 0; p < peers.count(); ++p) {
        const index_t from = peers.member(peers.group_of(device), p);
        if (from < 0) return copies_.clear();
        const held_box theirs = pieces_.part_before(from);
        for_each_shared_block(theirs, place_of(theirs), part, place_of(part),
                              [&](const block_place& there, const block_place& here) {
                                copies_[static_cast<std::size_t>(shard)].push_back(
                                    {source_.where().shard_of(from), there, here});
                              });
      }
    }
  }

  /// Computes one distinct shard.
  void run_shard(index_t shard) const override {
    if (pieces_.is_complete()) return;
    const any_block block = result_.writable_block(shard);
    if (!copies_.empty() && !pieces_.are_sent()) {
      for (const copied_block& each : copies_[static_cast<std::size_t>(shard)])
        result_.elements().copy(
            block_at(const_any_block{pieces_.source_data(each.from), block.type}, each.there),
            block_at(block, each.here));
      return;
    }
    const index_t device = result_.where().device_of(shard);
    if (keeps_) {
      const_any_block same = source_.held_by(device);
      same.extents = block.extents;
      same.strides = row_major(block.extents);
      return result_.elements().copy(same, block);
    }
    const collective_peers& peers = pieces_.peers();
    if (pieces_.step().kind == collective::all_reduce)
      return reduce(peers, shard, {0, block.size()});
    const index_t group = peers.group_of(device);
    const held_box part = pieces_.part_after(device);
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
  [[nodiscard]] bool is_divisible() const noexcept override {
    return pieces_.step().kind == collective::all_reduce && !keeps_ && result_.tensor().rank() > 0;
  }
  /// Computes some rows of one distinct shard.
  void run_rows(index_t shard, const shard_rows& part) const override {
    const any_block block = result_.writable_block(shard);
    const index_range rows = part.of(block.extents[0]);
    if (!pieces_.is_complete())
      reduce(pieces_.peers(), shard, {rows.begin * block.strides[0], rows.end * block.strides[0]});
  }

  /// Exchanges pieces with the other owners of the mesh, before the shards of each run.
  void exchange(pool_state& home, message_memory& memory) override {
    if (!crosses()) return;
    const collective_peers& peers = pieces_.peers();
    pieces_.exchange(home, memory,
                     [&](index_t shard, const index_range& range) { reduce(peers, shard, range); });
  }
  /// Ends a run after its shards are computed: the other owners may change what this one has read.
  void finish(pool_state& home) const override {
    if (crosses()) pieces_.finish(home);
  }
  /// The same after a failure: no other owner reads memory of this one any more.
  void give_up(pool_state& home) const noexcept override { pieces_.give_up(home); }

 private:
  using arrival = crossing_plan::arrival;

  /// Returns true if owners exchange data, whoever owns which devices.
  [[nodiscard]] bool crosses() const noexcept { return !keeps_ && rounds_of(pieces_.step()) > 0; }
  /// Returns true if another device holds the one term of a sum.
  [[nodiscard]] bool lacks_term(index_t device) const noexcept {
    const mesh_desc& mesh = result_.where().mesh();
    return is_of_one_ && position_along(mesh, pieces_.step().axes, mesh.at(device)) != 0;
  }
  [[nodiscard]] index_t element_size() const noexcept { return size_of(result_.tensor().type); }
  /// Returns the position of a block among packed ones.
  [[nodiscard]] static block_place packed_at(const block_place& place, index_t done) noexcept {
    return {done, place.extents, row_major(place.extents)};
  }

  /// Copies what a shard, which holds `part`, gets from a device: from that device's shard, or from
  /// what was received.
  void pull(index_t shard, index_t from, const held_box& part, const any_block& block) const {
    const held_box theirs = pieces_.part_before(from);
    const arrival* const sent = pieces_.arrived(shard, from);
    if (sent == nullptr)
      return copy_shared(result_.elements(), theirs, pieces_.source_of(from), part, block);
    if (sent->in_shard != crossing_plan::packed) return;
    const std::byte* const packed = pieces_.data_of(*sent);
    index_t done = 0;
    for_each_shared_block(theirs, place_of(theirs), part, {0, block.extents, block.strides},
                          [&](const block_place& place, const block_place& to) {
                            const const_any_block piece = block_at(
                                const_any_block{packed, block.type}, packed_at(place, done));
                            result_.elements().copy(piece, block_at(block, to));
                            done += piece.size();
                          });
  }

  /// Returns, by position in a group, the sums of terms received for a shard, from element `first`
  /// on; empty if there are none.
  [[nodiscard]] scratch_vector<const arrival*> sums_for(const collective_peers& peers,
                                                        index_t shard, index_t first) const {
    scratch_vector<const arrival*> sums;
    pieces_.for_each_arrival(shard, [&](const arrival& a) {
      if (a.first > first || a.first + a.count <= first) return;
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
          pieces_.source_data(source_.where().shard_of(peers.member(group, p)));
      return {data + first, to.type, to.extents, to.strides};
    };
    const auto sent = [&](const arrival& a) -> const_any_block {
      return {pieces_.data_of(a) + (range.begin - a.first) * element_size(), to.type, to.extents,
              to.strides};
    };
    reduce(0, peers.count(), sums_for(peers, shard, range.begin), own, sent, to);
  }
  /// Reduces the part of a shard that every device of a group holds.
  void reduce_parts(const collective_peers& peers, index_t shard, const held_box& part,
                    const any_block& block) const {
    const index_t group = peers.group_of(result_.where().device_of(shard));
    const held_box terms = pieces_.part_before(peers.member(group, 0));
    const scratch_vector<const arrival*> sums = sums_for(peers, shard, 0);
    index_t done = 0;
    for_each_shared_block(
        terms, place_of(terms), part, {0, block.extents, block.strides},
        [&](const block_place& place, const block_place& in_block) {
          const any_block to = block_at(block, in_block);
          const auto own = [&](index_t p) {
            return block_at(pieces_.source_of(peers.member(group, p)), place);
          };
          const auto sent = [&](const arrival& a) {
            return block_at(const_any_block{pieces_.data_of(a), to.type}, packed_at(place, done));
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
          elements, kind_, count, [&](index_t p) { return terms[static_cast<std::size_t>(p)]; },
          to);
    }
    if (*begin != nullptr && (*begin)->terms == count) return elements.copy(sent(**begin), to);
    const index_t left = terms_on_the_left(count);
    scratch_vector<std::byte> memory(static_cast<std::size_t>(to.size() * element_size()));
    const any_block right{memory.data(), to.type, to.extents, row_major(to.extents)};
    reduce(first, left, sums, own, sent, to);
    reduce(first + left, count - left, sums, own, sent, right);
    elements.reduce(kind_, {to.data, to.type, to.extents, to.strides},
                    {right.data, right.type, right.extents, right.strides}, to);
  }
  /// A block of a distinct shard of the source, and its place in a shard of the result.
  struct copied_block {
    index_t from = 0;
    block_place there;
    block_place here;
  };

  const tensor_node& source_;
  tensor_node& result_;
  collective_pieces pieces_;
  reduction kind_;
  bool keeps_;
  bool is_of_one_;
  /// By shard of the result; empty unless prepared.
  growable<growable<copied_block>> copies_;
};

/// Makes the work of a collective, or of an operation of manual sharding.
[[nodiscard]] inline std::unique_ptr<moving_step> make_collective_run(const applied_operation& does,
                                                                      const tensor_node& source,
                                                                      tensor_node& result) {
  return std::make_unique<collective_run>(does, source, result);
}

}  // namespace shardwise::internal
