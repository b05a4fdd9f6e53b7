// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/error.hpp"
#include "shardwise/core/function_view.hpp"
#include "shardwise/core/growable.hpp"
#include "shardwise/core/guarded.hpp"
#include "shardwise/mesh/device_owners.hpp"
#include "shardwise/pool/worker_team.hpp"
#include "shardwise/process/meeting_desk.hpp"
#include "shardwise/process/message_streams.hpp"
#include "shardwise/process/owner_share.hpp"
#include "shardwise/process/run_history.hpp"

#include <atomic>
#include <cstddef>
#include <exception>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>

namespace shardwise {

/// The exchange of a machine with the other owners of its mesh: messages, or meetings in memory
/// that all of them read; and the agreement on what they run. For the holder of the machine's
/// turn, except for reports.
///
/// Each owner keeps a running hash of everything that it has run, and compares it with those of
/// the others at the first exchange or meeting after a change: agreement costs no round of its own.
///
/// A failure is final: once one owner has failed, everything that needs the others throws.
class owner_link {
  using clock = std::chrono::steady_clock;

 public:
  /// `what` describes the pool for the others: a pool that differs is an error.
  owner_link(owner_share share, std::string_view what,
             std::uint32_t channel = process_group::next_channel);
  owner_link(const owner_link&) = delete;
  owner_link& operator=(const owner_link&) = delete;
  /// Tells the others that the pool of this owner no longer exists.
  ~owner_link();

  [[nodiscard]] const device_owners& owners() const noexcept { return owners_; }
  [[nodiscard]] index_t self() const noexcept { return share_.group->index(); }
  [[nodiscard]] process_group& group() const noexcept { return *share_.group; }
  /// Returns how collectives exchange data.
  [[nodiscard]] crossing_rules rules() const noexcept {
    return {.are_read = is_room_, .one_round_bytes = share_.one_round_bytes};
  }
  /// Returns true if shards are in memory that others may read.
  [[nodiscard]] bool shares_memory() const noexcept {
    return share_.shares_memory && share_.group->memory() != nullptr;
  }
  [[nodiscard]] std::chrono::milliseconds patience() const noexcept { return share_.patience; }
  [[nodiscard]] bool checks() const noexcept { return share_.checks; }
  /// Returns the data exchanged between the owners.
  [[nodiscard]] owner_traffic& traffic() noexcept { return traffic_; }
  /// Ends every wait with `pool_stopped` when these threads are asked to stop.
  void stop_with(const worker_team& team) noexcept { team_ = &team; }

  /// Ends every wait at this time with an error that names all owners that have not come.
  void finish_by(std::chrono::steady_clock::time_point end) noexcept { end_ = end; }

  /// Adds something that all owners run, or read, to what they compare. `hash` identifies
  /// everything that determines what is exchanged and computed; if another owner's differs, the
  /// error of the next exchange shows what both ran.
  void record(std::uint64_t hash, std::string_view words) noexcept { history_.record(hash, words); }
  /// Returns how much has been recorded.
  [[nodiscard]] std::uint64_t recorded() const noexcept { return history_.done().events; }

  /// Bytes for another owner, or from one.
  template <class Byte>
  struct segment {
    index_t owner = 0;
    std::span<Byte> bytes{};
  };
  using outgoing = segment<const std::byte>;
  using incoming = segment<std::byte>;
  /// Returns what owns the bytes of an exchange that is given up.
  using keep_alive = function_view<std::shared_ptr<const void>()>;

  /// Sends segments and receives others; between two owners they match in order.
  void exchange(std::span<const outgoing> out, std::span<const incoming> in,
                const keep_alive& memory);

  /// The same for packed bytes by owner; the entry of this owner is empty.
  using bytes_by_owner = internal::growable<internal::growable<std::byte>>;
  [[nodiscard]] bytes_by_owner nothing() const;
  void exchange(bytes_by_owner out, bytes_by_owner& in);

  /// Returns true if all owners read each other's memory, so that they may meet. The first call
  /// waits for all of them.
  [[nodiscard]] bool is_room();
  /// Returns the desk at which they meet.
  [[nodiscard]] meeting_desk& desk() const noexcept { return *desk_; }
  /// Returns when all owners have come to this meeting.
  void meet(meeting which);
  /// Returns once none of the others reads memory of this owner, which will come to no further
  /// meeting: after a failure between the first meeting and the last.
  void withdraw() noexcept;

  /// Reports a failure of this owner to the others, unless the failure came from them. Any thread
  /// may call it.
  void report(const std::exception_ptr& thrown) noexcept { report_(*this, thrown); }

 private:
  /// How often a waiting owner polls before it reads the clock.
  static constexpr int short_polls = 64;
  /// Changes whenever owners of two versions of the library cannot understand each other.
  static constexpr std::uint64_t protocol = 1;
  /// What owners send each other before any other data of a pool.
  struct opening {
    std::uint64_t owners = 0;
    std::uint64_t version = 0;
    /// The offset of the owner's desk; 0 if it cannot read the memory of all others.
    std::uint64_t desk = 0;
    run_history::name words{};
  };

  [[nodiscard]] static std::size_t at(index_t owner) noexcept {
    return static_cast<std::size_t>(owner);
  }
  /// Adds a number to the hash of what must be equal for all owners from the start.
  void add(std::uint64_t number) noexcept {
    owners_hash_ = (owners_hash_ ^ number) * 1099511628211U;
  }
  /// Counts a meeting or exchange that begins; only the holder of the turn changes the number.
  void begin_meeting() noexcept {
    meetings_.store(meetings_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }

  static void report_failure(owner_link& of, const std::exception_ptr& thrown) noexcept;
  /// Exchanges what owners must know of each other before the first exchange.
  void open();
  void make_desk();
  /// Adds a card to what is sent to all others, and cards of theirs, by owner, to what is received.
  void add_cards(std::span<const std::byte> mine, std::span<std::byte> theirs);
  /// Sends and receives what the streams hold; calls `arrived(owner)` for each card.
  void carry(const keep_alive& memory, const function_view<void(index_t)>& arrived);
  /// Waits until an owner has come to a meeting.
  void wait_for(index_t other, const function_view<bool(index_t)>& is_awaited);
  /// Throws if one of the owners that this one waits for will never come, or this one is to stop.
  void look_after(const function_view<bool(index_t)>& is_awaited, clock::time_point since);
  /// Fails because of another owner, in this pool or, if `is_general`, in all.
  [[noreturn]] void give_up(index_t owner, const std::string& words, bool is_general = false);
  /// What this owner has run last, or its pool.
  [[nodiscard]] std::string place() const;
  [[nodiscard]] bool has_departed(index_t other) noexcept;
  [[noreturn]] void give_up_missing(const function_view<bool(index_t)>& is_awaited);
  void throw_if_failed();
  void compare(index_t other, const run_history::summary& theirs);
  [[noreturn]] static void throw_failure(const owner_report& failed);

  /// Every program refers to `report`, and those that make no link need not contain what it does.
  void (*report_)(owner_link&, const std::exception_ptr&) noexcept = &report_failure;
  owner_share share_;
  device_owners owners_;
  owner_traffic traffic_;
  std::uint64_t owners_hash_ = 14695981039346656037U;
  const worker_team* team_ = nullptr;
  bool is_open_ = false;
  bool is_room_ = false;
  bool may_spin_ = true;
  /// What has been run so far, and how much of it the others have seen.
  run_history history_;
  std::uint64_t compared_ = 0;
  std::atomic<std::uint64_t> meetings_{0};
  std::uint32_t channel_ = 0;
  std::string what_;
  clock::time_point last_said_{};
  clock::time_point end_ = clock::time_point::max();
  /// Null unless this owner can read the memory of all others.
  std::unique_ptr<meeting_desk> desk_;
  message_streams streams_;
  /// What owners send each other of their histories. Shared, because a message that was given up
  /// may still arrive.
  struct agreement_cards {
    run_history::summary mine;
    internal::growable<run_history::summary> theirs;
  };
  std::shared_ptr<agreement_cards> cards_;
  /// Guards what follows: a failure may be reported while the holder of the turn waits.
  std::mutex mutex_;
  owner_report failed_;
};

namespace internal {

/// Calls `run`, and reports a failure to all owners of the mesh, if there are others.
template <class Run>
void run_for_owners(owner_link* link, const Run& run) {
  if (link == nullptr) return run();
  run_guarded(run, [&](const std::exception_ptr& thrown) { link->report(thrown); });
}

}  // namespace internal
}  // namespace shardwise

#if !defined(SHARDWISE_COMPILED)
#include "shardwise/process/owner_link_work.hpp"
#endif
