// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/function_view.hpp"
#include "shardwise/core/growable.hpp"
#include "shardwise/engine/crossing_plan.hpp"
#include "shardwise/engine/pool_state.hpp"
#include "shardwise/kernel/reduce_terms.hpp"
#include "shardwise/plan/manual_operation.hpp"
#include "shardwise/plan/pieces.hpp"
#include "shardwise/tensor/node.hpp"
#include "shardwise/tensor/shared_blocks.hpp"

#include <array>
#include <cstddef>
#include <cstring>
#include <memory>
#include <utility>

namespace shardwise::internal {

/// The pieces of one collective: in the shards of this owner, in those of other owners of the host,
/// which it reads where they are, or received from owners elsewhere.
class collective_pieces {
 public:
  /// What `exchange` calls to reduce some elements of a distinct shard of the result.
  using reduce_range = function_view<void(index_t shard, const index_range&)>;
  using arrival = crossing_plan::arrival;

  collective_pieces(const seen_collective& seen, reduction kind, const tensor_node& source,
                    tensor_node& result)
      : source_(source),
        result_(result),
        seen_(seen),
        kind_(kind),
        peers_(result.where().mesh(), seen_.before.layout, seen_.step, seen_.moves) {}

  [[nodiscard]] const planned_transfer& step() const noexcept { return seen_.step; }
  /// Returns true if pieces of other owners have been received.
  [[nodiscard]] bool are_sent() const noexcept { return !rounds_[0].arrivals().empty(); }
  /// Returns true if the result is complete after `exchange`.
  [[nodiscard]] bool is_complete() const noexcept { return is_complete_; }

  /// Exchanges pieces with the other owners of the mesh, or meets them, before the shards of each
  /// run; an all_reduce of two rounds is complete afterwards. The messages are read until the
  /// shards are computed. A further run exchanges as much, so that it need not allocate.
  void exchange(pool_state& home, message_memory& memory, const reduce_range& reduce) {
    home.with_owners().exchange(*this, home, memory, reduce);
  }
  /// Ends a run after its shards are computed: the other owners may change what this one has read.
  void finish(pool_state& home) const {
    if (reads_ && !is_complete_) home.with_owners().finish(home);
  }
  /// The same after a failure: no other owner reads memory of this one any more.
  void give_up(pool_state& home) const noexcept {
    if (reads_) home.with_owners().give_up(home);
  }
  /// What `exchange` does where there are other owners.
  void exchange_with_owners(pool_state& home, message_memory& memory, const reduce_range& reduce) {
    owner_link& link = *home.link();
    reads_ = link.is_room();
    if (!is_planned_) plan(link);
    is_complete_ = false;
    if (reads_)
      run_guarded([&] { meet_others(home, reduce); },
                  [&](const std::exception_ptr&) { link.withdraw(); });
    else
      exchange_messages(home, memory, reduce);
  }

  /// The devices from which each device receives.
  [[nodiscard]] const collective_peers& peers() const noexcept { return peers_; }
  /// Returns the part of a device before and after, as the collective describes it.
  [[nodiscard]] held_box part_before(index_t device) const noexcept {
    return held_of(result_.where().mesh(), seen_.before.layout, seen_.before.extents, device);
  }
  [[nodiscard]] held_box part_after(index_t device) const noexcept {
    return held_of(result_.where().mesh(), seen_.step.after, seen_.before.extents, device);
  }
  [[nodiscard]] const std::byte* data_of(const arrival& a) const noexcept {
    return memory_->in.data() + a.offset;
  }
  /// Calls `f(arrival)` for everything received for a shard.
  template <class F>
  void for_each_arrival(index_t shard, const F& f) const {
    if (!reads_) rounds_[0].for_each_arrival(shard, f);
  }
  /// Returns what was received from a device for a shard; null if its shard can be read.
  [[nodiscard]] const arrival* arrived(index_t shard, index_t from) const {
    const arrival* found = nullptr;
    for_each_arrival(shard, [&](const arrival& a) {
      if (a.from == from) found = &a;
    });
    return found;
  }
  /// Returns the memory of a distinct shard of the source: of this owner, or of another one.
  [[nodiscard]] const std::byte* source_data(index_t shard) const noexcept {
    const auto s = static_cast<std::size_t>(shard);
    return reads_ && !source_.where().is_here(shard) ? seen_shards_[s]
                                                     : source_.shard(shard).data();
  }
  [[nodiscard]] const_any_block source_of(index_t device) const noexcept {
    const_any_block block = source_.held_by(device);
    block.data = source_data(source_.where().shard_of(device));
    return block;
  }

 private:
  /// Elements of a distinct shard that an owner reduces in the first of two rounds.
  struct reduced_part {
    index_t owner = 0;
    index_t shard = 0;
    index_range range{};
  };

  [[nodiscard]] index_t element_size() const noexcept { return size_of(result_.tensor().type); }

  /// Finds out, before the first run, how owners exchange data.
  void plan(const owner_link& link) {
    is_planned_ = true;
    const shard_table& from = source_.where();
    const shard_table& to = result_.where();
    work_ = to.count() * to.bytes_per_device() * (peers_.count() + 1);
    const int rounds = rounds_of(to.mesh(), seen_.before, seen_.step, link.owners(), link.rules());
    has_two_rounds_ = rounds == 2;
    for (index_t s = 0; has_two_rounds_ && s < to.count(); ++s)
      if (to.is_here(s))
        for_each_reduced_range(peers_, to.first_device_of(s), link.owners(), to.size_of_shard(s),
                               [&](index_t owner, index_t, const index_range& range) {
                                 if (!range.empty()) reduced_.push_back({owner, s, range});
                               });
    if (!link.rules().are_read) return;
    const shard_owners sources(from.mesh(), source_.tensor().layout, link.owners());
    seen_shards_.resize(static_cast<std::size_t>(from.count()), nullptr);
    for (index_t s = 0; s < from.count(); ++s) {
      if (!from.is_here(s))
        read_shards_.push_back({s, sources.keeper(s)});
      else if (sources.keeper(s) == link.self())
        shown_shards_.push_back(s);
    }
    for (int round = 0; round < rounds; ++round)
      for_each_crossing(
          to.mesh(), seen_.before, seen_.step, link.owners(), round,
          [&](const crossing& c) {
            if (c.receiver == link.self()) bytes_read_ += c.elements * element_size();
          },
          seen_.moves, link.rules());
  }
  /// Reduces what this owner reduces, between the rounds of an all_reduce.
  void reduce_own(pool_state& home, const reduce_range& reduce) const {
    const index_t self = home.link()->self();
    home.run_shards(
        result_.where(),
        [&](index_t shard) {
          for (const reduced_part& each : reduced_)
            if (each.shard == shard && each.owner == self) reduce(shard, each.range);
        },
        work_);
  }

  /// Lets other owners of the host read the shards of the source, and of the result of an
  /// all_reduce.
  void meet_others(pool_state& home, const reduce_range& reduce) {
    owner_link& link = *home.link();
    const shard_table& to = result_.where();
    const auto sources = seen_shards_.size();
    // The shards of the source, then those of the result.
    const auto show = [&] {
      meeting_desk& desk = link.desk();
      desk.reserve_places(sources + (has_two_rounds_ ? static_cast<std::size_t>(to.count()) : 0));
      for (index_t s : shown_shards_)
        desk.show(static_cast<std::size_t>(s), source_.shard(s).data());
      if (!has_two_rounds_) return;
      for (index_t i = 0; i < to.count_here(); ++i) {
        const index_t s = to.shard_here(i);
        desk.show(sources + static_cast<std::size_t>(s), result_.writable_data<std::byte>(s));
      }
    };
    show();
    link.meet(meeting::first);
    for (const auto& [shard, owner] : read_shards_)
      seen_shards_[static_cast<std::size_t>(shard)] =
          link.desk().shown(owner, static_cast<std::size_t>(shard));
    link.traffic().bytes_read += bytes_read_;
    if (!has_two_rounds_) return;
    reduce_own(home, reduce);
    show();
    link.meet(meeting::between);
    home.run_shards(
        to,
        [&](index_t shard) {
          for (const reduced_part& each : reduced_) {
            if (each.shard != shard || each.owner == link.self()) continue;
            const index_t first = each.range.begin * element_size();
            std::memcpy(
                result_.writable_data<std::byte>(shard) + first,
                link.desk().shown(each.owner, sources + static_cast<std::size_t>(shard)) + first,
                static_cast<std::size_t>(each.range.size() * element_size()));
          }
        },
        work_);
    // What follows may overwrite the result, which others read until now.
    link.meet(meeting::last);
    is_complete_ = true;
  }

  void exchange_messages(pool_state& home, message_memory& memory, const reduce_range& reduce) {
    memory_ = &memory;
    carry(home, 0, source_);
    if (!has_two_rounds_) return;
    reduce_own(home, reduce);
    carry(home, 1, result_);
    for (const arrival& a : rounds_[1].arrivals())
      if (a.in_shard == crossing_plan::packed)
        std::memcpy(result_.writable_data<std::byte>(a.shard) + a.first * element_size(),
                    data_of(a), static_cast<std::size_t>(a.count * element_size()));
    is_complete_ = true;
  }
  /// Exchanges the pieces of a round, which are in the shards of `from`.
  void carry(pool_state& home, std::size_t number, const tensor_node& from) {
    crossing_plan& now = rounds_[number];
    if (!now.is_made()) now.make(result_.where(), seen_, *home.link(), static_cast<int>(number));
    memory_->reserve(home.storage(), now.bytes_out(), now.bytes_in());
    for (const crossing_plan::departure& each : now.departures())
      if (each.in_shard == crossing_plan::packed)
        pack(each.piece, from, memory_->out.writable() + each.offset);
    now.list(from, result_, *memory_);
    home.link()->exchange(memory_->sent, memory_->wanted, [&] {
      auto kept = std::make_shared<growable<shard_buffer<std::byte>>>();
      kept->push_back(memory_->out);
      kept->push_back(memory_->in);
      for (const tensor_node* node : {&from, static_cast<const tensor_node*>(&result_)})
        for (index_t i = 0; i < node->where().count_here(); ++i)
          kept->push_back(node->shard(node->where().shard_here(i)));
      return kept;
    });
  }
  /// Writes the elements of a piece, with its terms reduced.
  void pack(const crossing& c, const tensor_node& from, std::byte* to) const {
    const element type = from.tensor().type;
    const auto put = [&](const block_place& place) {
      const any_block packed{to, type, place.extents, row_major(place.extents)};
      to += packed.size() * element_size();
      const auto term = [&](index_t i) {
        const index_t device =
            i == 0 ? c.from
                   : peers_.member(peers_.group_of(c.from), peers_.position_of(c.from) + i);
        return block_at(const_any_block{from.shard(from.where().shard_of(device)).data(), type},
                        place);
      };
      reduce_terms(from.elements(), kind_, c.terms, term, packed);
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
  seen_collective seen_;
  reduction kind_;
  collective_peers peers_;
  bool is_complete_ = false;
  /// An all_reduce may have two; they are planned when they first take place.
  std::array<crossing_plan, 2> rounds_{};
  message_memory* memory_ = nullptr;
  /// True if owners read each other's memory. What this one shows, what it reads of which owner,
  /// and where that is in this run.
  bool reads_ = false;
  bool is_planned_ = false;
  bool has_two_rounds_ = false;
  index_t work_ = 0;
  growable<reduced_part> reduced_;
  growable<index_t> shown_shards_;
  growable<std::pair<index_t, index_t>> read_shards_;
  growable<const std::byte*> seen_shards_;
  index_t bytes_read_ = 0;
};

inline void exchange_pieces(collective_pieces& of, pool_state& home, message_memory& memory,
                            const collective_pieces::reduce_range& reduce) {
  of.exchange_with_owners(home, memory, reduce);
}
inline void finish_pieces(pool_state& home) {
  run_guarded([&] { home.link()->meet(meeting::last); },
              [&](const std::exception_ptr&) { home.link()->withdraw(); });
}
inline void give_up_pieces(pool_state& home) noexcept { home.link()->withdraw(); }

}  // namespace shardwise::internal
