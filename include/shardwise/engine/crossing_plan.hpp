// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/growable.hpp"
#include "shardwise/plan/manual_operation.hpp"
#include "shardwise/plan/pieces.hpp"
#include "shardwise/process/owner_link.hpp"
#include "shardwise/tensor/node.hpp"
#include "shardwise/tensor/shared_blocks.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace shardwise::internal {

/// Memory for the messages of a collective, which the next one may use again.
struct message_memory {
  shard_buffer<std::byte> out;
  shard_buffer<std::byte> in;
  growable<owner_link::outgoing> sent;
  growable<owner_link::incoming> wanted;

  /// Makes room for this many packed bytes. Only growth allocates, and nothing is initialised.
  void reserve(memory_arena& storage, index_t bytes_out, index_t bytes_in) {
    if (out.size() < bytes_out) out = shard_buffer<std::byte>(storage, bytes_out);
    if (in.size() < bytes_in) in = shard_buffer<std::byte>(storage, bytes_in);
  }
};

/// The pieces that an owner sends and receives in a round of a collective, and where they are.
///
/// A piece that is contiguous leaves from its shard, and arrives in the shard of the result, where
/// it is; all others are packed. Small pieces between two owners travel in one message.
class crossing_plan {
 public:
  /// The least bytes of a piece that travels alone.
  static constexpr index_t travels_alone = 4096;
  /// The place of a piece that is packed in the memory of messages.
  static constexpr index_t packed = -1;

  /// Elements from another owner that a shard of the result needs from a device.
  struct arrival {
    index_t shard = 0;
    index_t from = 0;
    /// The first element of an all_reduce.
    index_t first = 0;
    index_t count = 0;
    index_t sender = 0;
    /// The offset in bytes in the shard, or `packed` and the offset in the memory of messages.
    index_t in_shard = packed;
    index_t offset = 0;
    bool is_alone = false;
    index_t terms = 1;
  };
  /// A piece for another owner.
  struct departure {
    crossing piece;
    /// The offset in bytes in the shard, or `packed` and the offset in the memory of messages.
    index_t in_shard = packed;
    index_t offset = 0;
    bool is_alone = false;
  };

  /// True once the pieces are found; they are the same in all runs.
  [[nodiscard]] bool is_made() const noexcept { return is_made_; }
  [[nodiscard]] const growable<arrival>& arrivals() const noexcept { return arrivals_; }
  [[nodiscard]] const growable<departure>& departures() const noexcept { return departures_; }
  [[nodiscard]] index_t bytes_out() const noexcept { return bytes_out_; }
  [[nodiscard]] index_t bytes_in() const noexcept { return bytes_in_; }

  /// Finds the pieces of a round. `reduces` is true if arrivals are terms.
  void make(const shard_table& result, const seen_collective& seen, const owner_link& link,
            int round);

  /// Lists the messages to send and to receive. `from` has the pieces, `to` gets them.
  void list(const tensor_node& from, tensor_node& to, message_memory& memory) const;

  /// Calls `f(arrival)` for everything received for a shard.
  template <class F>
  void for_each_arrival(index_t shard, const F& f) const {
    const auto begin = std::lower_bound(
        by_shard_.begin(), by_shard_.end(), shard,
        [&](std::size_t i, index_t wanted) { return arrivals_[i].shard < wanted; });
    for (auto i = begin; i != by_shard_.end() && arrivals_[*i].shard == shard; ++i)
      f(arrivals_[*i]);
  }

 private:
  /// Returns the offset in bytes of what two parts have in common in a row-major shard that holds
  /// the part `in`, or `packed` if it is not contiguous there.
  [[nodiscard]] static index_t offset_in(const held_box& in, const held_box& other, index_t size);

  /// The small pieces for one owner, or from it, which travel together.
  struct bundle {
    index_t owner = 0;
    index_t offset = 0;
    index_t bytes = 0;

    [[nodiscard]] std::size_t size() const noexcept { return static_cast<std::size_t>(bytes); }
  };
  /// Packs small pieces behind all others, those of each owner together; `owner_of(piece)` is the
  /// other owner, and `elements_of(piece)` their number.
  template <class Piece, class OwnerOf, class ElementsOf>
  void bind(growable<Piece>& pieces, growable<bundle>& bundles, index_t& total, index_t owners,
            const OwnerOf& owner_of, const ElementsOf& elements_of) const {
    for (index_t owner = 0; owner < owners; ++owner) {
      bundle now{owner, total, 0};
      for (Piece& each : pieces) {
        if (each.is_alone || owner_of(each) != owner) continue;
        each.offset = total + now.bytes;
        now.bytes += elements_of(each) * element_size_;
      }
      total += now.bytes;
      if (now.bytes > 0) bundles.push_back(now);
    }
  }

  growable<departure> departures_;
  growable<arrival> arrivals_;
  growable<bundle> bundles_out_;
  growable<bundle> bundles_in_;
  /// The arrivals in the order of their shards.
  growable<std::size_t> by_shard_;
  index_t bytes_out_ = 0;
  index_t bytes_in_ = 0;
  index_t element_size_ = 1;
  bool is_made_ = false;
};

inline index_t crossing_plan::offset_in(const held_box& in, const held_box& other, index_t size) {
  index_t blocks = 0, offset = 0;
  bool is_whole = true;
  for_each_shared_block(in, place_of(in), other, place_of(other),
                        [&](const block_place& place, const block_place&) {
                          ++blocks;
                          offset = place.offset;
                          index_t stride = 1;
                          for (int d = place.extents.ssize() - 1; d >= 0; --d) {
                            if (place.extents[d] != 1)
                              is_whole = is_whole && place.strides[d] == stride;
                            stride *= place.extents[d];
                          }
                        });
  return blocks == 1 && is_whole ? offset * size : packed;
}

inline void crossing_plan::make(const shard_table& result, const seen_collective& seen,
                                const owner_link& link, int round) {
  const mesh_desc& mesh = result.mesh();
  element_size_ = size_of(seen.before.type);
  const bool is_all_reduce = seen.step.kind == collective::all_reduce;
  const bool brings_terms =
      seen.step.kind == collective::reduce_scatter || (is_all_reduce && round == 0);
  const auto held = [&](const layout_desc& layout, index_t device) {
    return held_of(mesh, layout, seen.before.extents, device);
  };
  for_each_crossing(
      mesh, seen.before, seen.step, link.owners(), round,
      [&](const crossing& c) {
        const index_t bytes = c.elements * element_size_;
        const bool is_alone = bytes >= travels_alone;
        if (c.sender == link.self()) {
          departure out{.piece = c, .is_alone = is_alone};
          if (is_alone && c.terms == 1)
            out.in_shard = is_all_reduce ? c.range.begin * element_size_
                                         : offset_in(held(seen.before.layout, c.from),
                                                     held(seen.step.after, c.to), element_size_);
          if (is_alone && out.in_shard == packed)
            out.offset = std::exchange(bytes_out_, bytes_out_ + bytes);
          departures_.push_back(out);
        }
        if (c.receiver != link.self()) return;
        arrival in{.shard = result.shard_of(c.to),
                   .from = c.from,
                   .first = c.range.begin,
                   .count = c.elements,
                   .sender = c.sender,
                   .is_alone = is_alone,
                   .terms = c.terms};
        if (is_alone && !brings_terms)
          in.in_shard = is_all_reduce ? c.range.begin * element_size_
                                      : offset_in(held(seen.step.after, c.to),
                                                  held(seen.before.layout, c.from), element_size_);
        if (is_alone && in.in_shard == packed)
          in.offset = std::exchange(bytes_in_, bytes_in_ + bytes);
        arrivals_.push_back(in);
      },
      seen.moves, link.rules());
  bind(
      departures_, bundles_out_, bytes_out_, link.owners().count(),
      [](const departure& each) { return each.piece.receiver; },
      [](const departure& each) { return each.piece.elements; });
  bind(
      arrivals_, bundles_in_, bytes_in_, link.owners().count(),
      [](const arrival& each) { return each.sender; },
      [](const arrival& each) { return each.count; });
  // The order of the shards may differ between a split tensor and a manual one.
  for (std::size_t i = 0; i < arrivals_.size(); ++i) by_shard_.push_back(i);
  std::stable_sort(by_shard_.begin(), by_shard_.end(), [&](std::size_t a, std::size_t b) {
    return arrivals_[a].shard < arrivals_[b].shard;
  });
  is_made_ = true;
}

inline void crossing_plan::list(const tensor_node& from, tensor_node& to,
                                message_memory& memory) const {
  memory.sent.clear();
  memory.wanted.clear();
  const auto bytes = [&](index_t elements) {
    return static_cast<std::size_t>(elements * element_size_);
  };
  for (const departure& each : departures_) {
    if (!each.is_alone) continue;
    const std::byte* const begin =
        each.in_shard != packed
            ? from.shard(from.where().shard_of(each.piece.from)).data() + each.in_shard
            : memory.out.data() + each.offset;
    memory.sent.push_back({each.piece.receiver, {begin, bytes(each.piece.elements)}});
  }
  for (const arrival& each : arrivals_) {
    if (!each.is_alone) continue;
    std::byte* const begin = each.in_shard != packed
                                 ? to.writable_data<std::byte>(each.shard) + each.in_shard
                                 : memory.in.writable() + each.offset;
    memory.wanted.push_back({each.sender, {begin, bytes(each.count)}});
  }
  for (const bundle& each : bundles_out_)
    memory.sent.push_back({each.owner, {memory.out.data() + each.offset, each.size()}});
  for (const bundle& each : bundles_in_)
    memory.wanted.push_back({each.owner, {memory.in.writable() + each.offset, each.size()}});
}

}  // namespace shardwise::internal
