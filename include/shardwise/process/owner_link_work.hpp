// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/core/growable.hpp"
#include "shardwise/pool/spin.hpp"
#include "shardwise/process/owner_link.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <thread>
#include <utility>

namespace shardwise {

SHARDWISE_INLINE owner_link::owner_link(owner_share share, std::string_view what,
                                        std::uint32_t channel)
    : share_(std::move(share)),
      owners_(share_.owner_of),
      what_(what),
      streams_(owners_.count(), std::min(share_.message_bytes, owner_transport::most_bytes),
               std::min<index_t>(share_.in_flight, 64)),
      cards_(std::make_shared<agreement_cards>()) {
  cards_->theirs.resize(at(owners_.count()));
  for (index_t owner : share_.owner_of) add(static_cast<std::uint64_t>(owner));
  for (char letter : what) add(static_cast<std::uint64_t>(letter));
  add(static_cast<std::uint64_t>(share_.message_bytes));
  add(static_cast<std::uint64_t>(share_.one_round_bytes));
  add(share_.shares_memory ? 1 : 0);
  add(share_.checks ? 1 : 0);
  channel_ = group().open_channel(meetings_, share_.patience, channel);
}

SHARDWISE_INLINE owner_link::~owner_link() {
  if (desk_ != nullptr) desk_->leave();
  internal::run_quietly([&] {
    std::string words =
        "has left after " + std::to_string(history_.done().events) + " programs and reads";
    words += std::uncaught_exceptions() > 0 ? ": an exception ended its part of the program"
                                            : ": its pool no longer exists";
    group().close_channel(channel_, words);
  });
}

SHARDWISE_INLINE owner_link::bytes_by_owner owner_link::nothing() const {
  return bytes_by_owner(at(owners_.count()));
}

SHARDWISE_INLINE void owner_link::exchange(std::span<const outgoing> out,
                                           std::span<const incoming> in, const keep_alive& memory) {
  open();
  begin_meeting();
  if (compared_ != history_.done().events) {
    cards_->mine = history_.done();
    add_cards(std::as_bytes(std::span(&cards_->mine, 1)),
              std::as_writable_bytes(std::span(cards_->theirs)));
    compared_ = history_.done().events;
    ++traffic_.agreements;
  }
  for (const outgoing& each : out) {
    streams_.send(each.owner, message_kind::pieces, each.bytes);
    traffic_.bytes_sent += static_cast<index_t>(each.bytes.size());
  }
  for (const incoming& each : in) {
    streams_.receive(each.owner, message_kind::pieces, each.bytes);
    const auto size = static_cast<index_t>(each.bytes.size());
    traffic_.bytes_received += size;
    if (!group().shares_memory(each.owner)) traffic_.bytes_from_hosts += size;
  }
  carry(memory, [&](index_t other) { compare(other, cards_->theirs[at(other)]); });
}

SHARDWISE_INLINE void owner_link::exchange(bytes_by_owner out, bytes_by_owner& in) {
  internal::growable<outgoing> sent;
  internal::growable<incoming> wanted;
  for (std::size_t o = 0; o < out.size(); ++o) {
    if (!out[o].empty()) sent.push_back({static_cast<index_t>(o), out[o]});
    if (!in[o].empty()) wanted.push_back({static_cast<index_t>(o), in[o]});
  }
  exchange(sent, wanted, [&] {
    return std::make_shared<const std::pair<bytes_by_owner, bytes_by_owner>>(std::move(out),
                                                                             std::move(in));
  });
}

SHARDWISE_INLINE bool owner_link::is_room() {
  open();
  return is_room_;
}

SHARDWISE_INLINE void owner_link::meet(meeting which) {
  begin_meeting();
  desk_->come(which, history_.done());
  const auto is_awaited = [this](index_t other) { return desk_->is_awaited(other); };
  for (index_t other = 0; other < owners_.count(); ++other) {
    if (other == self()) continue;
    bool waits = is_awaited(other);
    // Reading the clock takes as long as a short meeting.
    for (int poll = 0; waits && may_spin_ && poll < short_polls; ++poll) {
      relax();
      waits = is_awaited(other);
    }
    if (waits) wait_for(other, is_awaited);
  }
  desk_->end(which);
  if (compared_ == history_.done().events) return;
  for (index_t other = 0; other < owners_.count(); ++other)
    if (other != self()) compare(other, desk_->done_by(other));
  compared_ = history_.done().events;
  ++traffic_.agreements;
}

SHARDWISE_INLINE void owner_link::wait_for(index_t other,
                                           const function_view<bool(index_t)>& is_awaited) {
  const clock::time_point since = clock::now();
  if (may_spin_ && spin(std::chrono::microseconds(50), [&] { return !is_awaited(other); })) return;
  clock::time_point next_look = clock::now() + std::chrono::milliseconds(1);
  while (is_awaited(other)) {
    const clock::time_point now = clock::now();
    if (now < next_look) {
      std::this_thread::yield();
      continue;
    }
    look_after(is_awaited, since);
    // Whoever waits for long leaves the core to the others.
    if (now - since > std::chrono::milliseconds(20))
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    next_look = clock::now() + std::chrono::milliseconds(1);
  }
}

SHARDWISE_INLINE void owner_link::withdraw() noexcept {
  if (desk_ == nullptr) return;
  desk_->leave();
  for (index_t other = 0; other < owners_.count(); ++other) {
    if (other == self()) continue;
    while (desk_->may_read(other) && !group().memory()->is_gone(other) &&
           group().silence_of(other) < share_.patience && !has_departed(other))
      std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  desk_->forget_readers();
}

SHARDWISE_INLINE bool owner_link::has_departed(index_t other) noexcept {
  bool has = false;
  group().listen();
  internal::run_quietly([&] {
    has = group().departed(other, channel_, meetings_.load(std::memory_order_relaxed)).has_value();
  });
  return has;
}

SHARDWISE_INLINE void owner_link::report_failure(owner_link& of,
                                                 const std::exception_ptr& thrown) noexcept {
#if defined(__cpp_exceptions)
  const std::lock_guard lock(of.mutex_);
  if (of.failed_.is_failure()) return;
  try {
    std::string words = "an exception that is not a std::exception";
    try {
      std::rethrow_exception(thrown);
    } catch (const std::exception& original) {
      words = original.what();
    } catch (...) {
    }
    of.group().report(of.channel_, words);
    of.failed_ = owner_report{of.self(), std::move(words)};
  } catch (...) {
    of.group().report(of.channel_, "no memory");
  }
#else
  (void)of;
  (void)thrown;
#endif
}

SHARDWISE_INLINE void owner_link::open() {
  if (is_open_) return;
  begin_meeting();
  // Whose memory can be read is known, and counted as of this host, once all have met.
  const clock::time_point since = clock::now();
  while (!group().has_met()) {
    look_after([this](index_t other) { return other != self() && !group().has_met(); }, since);
    group().carrier().wait(std::chrono::milliseconds(1));
  }
  if (shares_memory()) make_desk();
  opening mine{.owners = owners_hash_,
               .version = protocol,
               .desk = desk_ != nullptr ? desk_->offset() : 0,
               .words = run_history::cut(what_)};
  internal::growable<opening> theirs(at(owners_.count()));
  add_cards(std::as_bytes(std::span(&mine, 1)), std::as_writable_bytes(std::span(theirs)));
  const auto compare_pools = [&](index_t other) {
    const opening& card = theirs[at(other)];
    if (card.owners == mine.owners && card.version == mine.version) return;
    message_text both;
    if (card.version != mine.version)
      both << "their programs were built with different versions of the library; ";
    else if (card.words == mine.words)
      both << "their lists of owners, or message sizes, differ; ";
    both << "owner " << self() << " has a pool of " << mine.words.data() << "; owner " << other
         << " has one of " << card.words.data();
    fail({.rule = violation::owners_differ}, both);
  };
  // A card of another pool may be received after this function has failed.
  carry(
      [&] {
        return std::make_shared<const std::pair<opening, internal::growable<opening>>>(
            mine, std::move(theirs));
      },
      compare_pools);
  is_room_ = desk_ != nullptr;
  for (index_t other = 0; other < owners_.count(); ++other)
    is_room_ = is_room_ && (other == self() || theirs[at(other)].desk != 0);
  for (index_t other = 0; is_room_ && other < owners_.count(); ++other)
    if (other != self()) desk_->face(other, theirs[at(other)].desk);
  may_spin_ = owners_.count() <= index_t{group().host_cores().size()};
  is_open_ = true;
}

SHARDWISE_INLINE void owner_link::make_desk() {
  group().say_if_apart();
  for (index_t other = 0; other < owners_.count(); ++other)
    if (other != self() && !group().shares_memory(other)) return;
  desk_ = std::make_unique<meeting_desk>(group(), channel_);
}

SHARDWISE_INLINE void owner_link::add_cards(std::span<const std::byte> mine,
                                            std::span<std::byte> theirs) {
  for (index_t other = 0; other < owners_.count(); ++other) {
    if (other == self()) continue;
    streams_.send(other, message_kind::agreement, mine);
    streams_.receive(other, message_kind::agreement,
                     theirs.subspan(at(other) * mine.size(), mine.size()));
  }
}

SHARDWISE_INLINE void owner_link::carry(const keep_alive& memory,
                                        const function_view<void(index_t)>& arrived) {
  owner_transport& carrier = group().carrier();
  const auto is_awaited = [this](index_t o) { return streams_.is_open(o); };
  const auto run = [&] {
    clock::time_point since = clock::now(), next_look = since + std::chrono::milliseconds(1);
    for (;;) {
      bool moved = false, waits = false;
      for (index_t o = 0; o < owners_.count(); ++o) {
        moved = streams_.proceed(carrier, channel_, o, arrived) || moved;
        waits = waits || is_awaited(o);
      }
      if (!waits) return;
      const clock::time_point now = clock::now();
      if (moved) {
        since = now;
        continue;
      }
      if (now >= next_look) {
        look_after(is_awaited, since);
        next_look = now + std::chrono::milliseconds(1);
      }
      carrier.wait(std::chrono::milliseconds(1));
    }
  };
  internal::run_guarded(run, [&](const std::exception_ptr&) {
    streams_.abandon(carrier, [&] {
      return std::make_shared<const std::pair<std::shared_ptr<const void>, decltype(cards_)>>(
          memory(), cards_);
    });
  });
  streams_.clear();
}

SHARDWISE_INLINE void owner_link::throw_if_failed() {
  const std::lock_guard lock(mutex_);
  if (!failed_.is_failure()) failed_ = group().failure(channel_);
  if (failed_.is_failure()) throw_failure(failed_);
}

SHARDWISE_INLINE void owner_link::look_after(const function_view<bool(index_t)>& is_awaited,
                                             clock::time_point since) {
  group().listen();
  throw_if_failed();
  if (team_ != nullptr && team_->stop_requested()) worker_team::report_stop();
  const bool is_long = clock::now() - since > std::chrono::milliseconds(100);
  const bool says_so = is_long && clock::now() - last_said_ > process_group::pulse;
  if (says_so) last_said_ = clock::now();
  const std::uint64_t number = meetings_.load(std::memory_order_relaxed);
  for (index_t other = 0; other < owners_.count(); ++other) {
    if (other == self() || !is_awaited(other)) continue;
    if (const auto words = group().departed(other, channel_, number)) give_up(other, *words);
    if (group().shares_memory(other) && group().memory()->is_gone(other))
      give_up(other, "its process no longer exists");
    if (group().silence_of(other) >= share_.patience)
      give_up(other, "silent for " + std::to_string(share_.patience.count()) + " ms");
    if (!is_long) continue;
    if (const auto words = group().waits_elsewhere(other, channel_, number))
      give_up(other,
              "it waits for owner " + std::to_string(self()) + " in " + *words + ", while owner " +
                  std::to_string(self()) + " waits for it in " + place(),
              true);
    if (says_so) group().say_waiting(other, channel_, place());
  }
  if (clock::now() >= end_) give_up_missing(is_awaited);
}

SHARDWISE_INLINE void owner_link::give_up_missing(const function_view<bool(index_t)>& is_awaited) {
  index_t first = owner_report::nobody;
  std::string words = "has not come in time to ";
  words += place();
  for (index_t other = 0; other < owners_.count(); ++other) {
    if (other == self() || !is_awaited(other)) continue;
    if (first == owner_report::nobody)
      first = other;
    else
      words += ", nor has owner " + std::to_string(other);
  }
  give_up(first, words);
}

SHARDWISE_INLINE std::string owner_link::place() const {
  std::string words = "pool " + std::to_string(channel_) + ", ";
  if (channel_ == process_group::host_channel) words.clear();
  return words + (history_.done().events > 0 ? std::string(history_.last()) : what_);
}

SHARDWISE_INLINE void owner_link::give_up(index_t owner, const std::string& words,
                                          bool is_general) {
  const std::lock_guard lock(mutex_);
  if (!failed_.is_failure()) {
    failed_ = owner_report{owner, words};
    group().report(is_general ? process_group::every_channel : channel_,
                   "owner " + std::to_string(owner) + ": " + words);
  }
  throw_failure(failed_);
}

SHARDWISE_INLINE void owner_link::compare(index_t other, const run_history::summary& theirs) {
  if (theirs == history_.done()) return;
  const std::string mine = history_.text();
  for (index_t each = 0; each < owners_.count(); ++each)
    if (each != self()) group().say_history(each, channel_, mine);
  // The other owner has found the same, or will.
  std::optional<std::string> said;
  for (const auto end = clock::now() + std::chrono::seconds(1); !said && clock::now() < end;) {
    group().listen();
    said = group().history_of(other, channel_);
    if (!said) group().carrier().wait(std::chrono::milliseconds(1));
  }
  fail({.rule = violation::owners_differ}, history_.difference(self(), other, said));
}

SHARDWISE_INLINE void owner_link::throw_failure(const owner_report& failed) {
  const owner_error failure(failed.owner, failed.words);
#if defined(__cpp_exceptions)
  throw failure;
#else
  std::fputs(failure.what(), stderr);
  std::abort();
#endif
}

}  // namespace shardwise
