// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/growable.hpp"
#include "shardwise/process/process_group.hpp"
#include "shardwise/process/run_history.hpp"
#include "shardwise/tensor/out_of_memory.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <span>

namespace shardwise {

/// The meetings of a collective between owners that read each other's memory: after the first,
/// they read what the others have shown; after the last, nobody does.
enum class meeting { first, between, last };

/// What an owner lays before the others in the memory that they share: how often it has met them,
/// what it has run, and where its shards are; and what the others have laid before it.
class meeting_desk {
 public:
  /// Makes the desk of a pool, for the group whose memory all of its processes can read.
  meeting_desk(process_group& group, std::uint32_t channel)
      : group_(group), channel_(channel), desks_(static_cast<std::size_t>(group.count())) {
    void* const place = group.memory()->take(sizeof(desk));
    if (place == nullptr) internal::fail_for_memory(static_cast<index_t>(sizeof(desk)));
    own_ = new (place) desk;
  }
  meeting_desk(const meeting_desk&) = delete;
  meeting_desk& operator=(const meeting_desk&) = delete;
  ~meeting_desk() {
    leave();
    group_.retire(channel_, own_, sizeof(desk));
    for (const auto& places : shown_)
      if (!places.empty()) group_.retire(channel_, places.data(), places.size_bytes());
  }

  /// Returns where the desk is, for the others; and takes a seat at that of another owner.
  [[nodiscard]] std::uint64_t offset() const noexcept { return group_.memory()->offset_of(own_); }
  void face(index_t owner, std::uint64_t offset) noexcept {
    desks_[at(owner)] = reinterpret_cast<const desk*>(group_.memory()->at(owner, offset));
  }

  /// Makes room for places that the others may read from the next meeting on. They are written
  /// before that meeting, and not again before the next but one.
  void reserve_places(std::size_t count) {
    std::span<std::uint64_t>& places = shown_[(turn_ + 1) % 2];
    if (places.size() < count) {
      const std::size_t bytes =
          std::max(std::bit_ceil(count * sizeof(std::uint64_t)), shard_alignment);
      void* const memory = group_.memory()->take(bytes);
      if (memory == nullptr) internal::fail_for_memory(static_cast<index_t>(bytes));
      if (!places.empty()) group_.retire(channel_, places.data(), places.size_bytes());
      places = {static_cast<std::uint64_t*>(memory), bytes / sizeof(std::uint64_t)};
      std::fill(places.begin(), places.end(), 0);
    }
    write(own_->places[(turn_ + 1) % 2], group_.memory()->offset_of(places.data()));
  }
  /// Shows memory of this owner at a place.
  void show(std::size_t place, const std::byte* own) noexcept {
    write(shown_[(turn_ + 1) % 2][place], group_.memory()->offset_of(own));
  }
  /// Returns what another owner showed at a place before the last meeting.
  [[nodiscard]] const std::byte* shown(index_t owner, std::size_t place) const noexcept {
    const shared_memory& memory = *group_.memory();
    const std::byte* const places = memory.at(owner, of(owner).places[turn_ % 2]);
    std::uint64_t offset = 0;
    std::memcpy(&offset, places + place * sizeof offset, sizeof offset);
    return memory.at(owner, offset);
  }

  /// Comes to a meeting, having run this.
  void come(meeting which, const run_history::summary& done) noexcept {
    own_->done[++turn_ % 2] = done;
    read_until_ = which == meeting::last ? turn_ : turn_ + 1;
    own_->turn.store(turn_, std::memory_order_release);
  }
  /// Returns true while another owner has not come to that meeting.
  [[nodiscard]] bool is_awaited(index_t owner) const noexcept {
    return of(owner).turn.load(std::memory_order_acquire) < turn_;
  }
  /// Returns what another owner has run, once it has come.
  [[nodiscard]] const run_history::summary& done_by(index_t owner) const noexcept {
    return of(owner).done[turn_ % 2];
  }
  /// Records that all have come.
  void end(meeting which) noexcept {
    if (which == meeting::last) read_until_ = 0;
  }

  /// Says that this owner comes to no further meeting.
  void leave() noexcept { own_->has_failed.store(true, std::memory_order_release); }
  /// Returns true while another owner may read memory of this one.
  [[nodiscard]] bool may_read(index_t owner) const noexcept {
    return of(owner).turn.load(std::memory_order_acquire) < read_until_ &&
           !of(owner).has_failed.load(std::memory_order_acquire);
  }
  void forget_readers() noexcept { read_until_ = 0; }

 private:
  /// What the others read.
  struct desk {
    /// The number of meetings that the owner has come to, and true if it comes to no other.
    alignas(64) std::atomic<std::uint64_t> turn{0};
    std::atomic<bool> has_failed{false};
    /// By parity of the meeting: what the owner has run, and the offset of what it shows.
    std::array<run_history::summary, 2> done{};
    std::array<std::uint64_t, 2> places{};
  };

  [[nodiscard]] static std::size_t at(index_t owner) noexcept {
    return static_cast<std::size_t>(owner);
  }
  [[nodiscard]] const desk& of(index_t owner) const noexcept { return *desks_[at(owner)]; }

  /// Writes what has changed: the others have the rest in their caches, and would fetch it again.
  static void write(std::uint64_t& to, std::uint64_t value) noexcept {
    if (to != value) to = value;
  }

  process_group& group_;
  std::uint32_t channel_;
  desk* own_ = nullptr;
  internal::growable<const desk*> desks_;
  std::uint64_t turn_ = 0;
  /// The turn that the others must have reached before memory that they read may be given back.
  std::uint64_t read_until_ = 0;
  std::array<std::span<std::uint64_t>, 2> shown_{};
};

}  // namespace shardwise
