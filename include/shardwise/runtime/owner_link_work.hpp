// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/runtime/owner_link.hpp"

#include <thread>

namespace shardwise {

namespace detail {

/// Fails unless there is an owner.
inline void require_owners(index_t owners) {
  if (owners < 1)
    fail({.rule = violation::amount_is_out_of_range, .have = owners, .want = 1},
         "devices have at least one owner");
}

}  // namespace detail

SHARDWISE_INLINE owner_error::owner_error(index_t owner, const std::string& words)
    : std::runtime_error("owner " + std::to_string(owner) + ": " + words), owner_(owner) {}

SHARDWISE_INLINE std::vector<index_t> owners_in_blocks(index_t devices, index_t owners) {
  detail::require_owners(owners);
  std::vector<index_t> all;
  for (index_t d = 0; d < devices; ++d) all.push_back(d * owners / devices);
  return all;
}

SHARDWISE_INLINE std::vector<index_t> owners_in_turn(index_t devices, index_t owners) {
  detail::require_owners(owners);
  std::vector<index_t> all;
  for (index_t d = 0; d < devices; ++d) all.push_back(d % owners);
  return all;
}

SHARDWISE_INLINE void owner_link::messages::resize(std::span<const index_t> sent,
                                                   std::span<const index_t> wanted) {
  out.resize(sent.size());
  in.resize(wanted.size());
  for (std::size_t o = 0; o < sent.size(); ++o) {
    out[o].resize(static_cast<std::size_t>(sent[o]));
    in[o].resize(static_cast<std::size_t>(wanted[o]));
  }
}

SHARDWISE_INLINE owner_link::owner_link(owner_share share)
    : share_(std::move(share)),
      owners_(share_.owner_of),
      cards_{nothing(), nothing()},
      sent_(cards_.out.size()),
      received_(cards_.in.size()) {
  for (index_t owner : share_.owner_of) add(static_cast<std::uint64_t>(owner));
  add(static_cast<std::uint64_t>(share_.message_bytes));
  const auto most = static_cast<std::size_t>(std::clamp<index_t>(share_.in_flight, 0, 64));
  for (auto& to : sent_) to.open.reserve(most);
  for (auto& from : received_) from.open.reserve(most);
}

SHARDWISE_INLINE owner_link::~owner_link() = default;

SHARDWISE_INLINE owner_link::bytes_by_owner owner_link::nothing() const {
  return bytes_by_owner(static_cast<std::size_t>(owners_.count()));
}

SHARDWISE_INLINE void owner_link::agree(std::uint64_t hash, std::string_view words,
                                        const worker_team& team) {
  const card mine{.owners = owners_hash_, .run = ++run_, .hash = hash, .words = cut(words)};
  auto& [out, in] = cards_;
  for (index_t other = 0; other < owners_.count(); ++other) {
    if (other == self()) continue;
    const auto* const bytes = static_cast<const std::byte*>(static_cast<const void*>(&mine));
    out[at(other)].assign(bytes, bytes + sizeof mine);
    in[at(other)].resize(sizeof mine);
  }
  carry(out, in, message_kind::agreement, team);
  ++traffic_.agreements;
  for (index_t other = 0; other < owners_.count(); ++other) {
    if (other == self()) continue;
    card theirs;
    std::memcpy(&theirs, in[at(other)].data(), sizeof theirs);
    if (theirs == mine) continue;
    message_text both;
    if (theirs.owners != mine.owners) both << "their lists of owners, or message sizes, differ; ";
    both << "owner " << self() << " runs " << mine.text() << "; owner " << other << " runs "
         << theirs.text();
    fail({.rule = violation::owners_differ}, both);
  }
}

SHARDWISE_INLINE void owner_link::exchange(const bytes_by_owner& out, bytes_by_owner& in,
                                           const worker_team& team) {
  carry(out, in, message_kind::pieces, team);
  for (const auto& bytes : out) traffic_.bytes_sent += static_cast<index_t>(bytes.size());
  for (const auto& bytes : in) traffic_.bytes_received += static_cast<index_t>(bytes.size());
}

SHARDWISE_INLINE void owner_link::report(const std::exception_ptr& thrown) noexcept {
  ++reporters_;
  const std::lock_guard lock(mutex_);
  --reporters_;
  if (failed_.is_failure()) return;
#if defined(__cpp_exceptions)
  try {
    std::string words = "an exception that is not a std::exception";
    try {
      std::rethrow_exception(thrown);
    } catch (const std::exception& original) {
      words = original.what();
    } catch (...) {
    }
    share_.carrier->report(words);
    failed_ = owner_report{self(), std::move(words)};
  } catch (...) {
    share_.carrier->report("no memory");
  }
#else
  (void)thrown;
#endif
}

SHARDWISE_INLINE std::array<char, 400> owner_link::cut(std::string_view words) noexcept {
  std::array<char, 400> out{};
  std::copy_n(words.begin(), std::min(words.size(), out.size() - 1), out.begin());
  return out;
}

SHARDWISE_INLINE void owner_link::carry(const bytes_by_owner& out, bytes_by_owner& in,
                                        message_kind kind, const worker_team& team) {
  for (std::size_t o = 0; o < out.size(); ++o) {
    sent_[o].rest = out[o];
    received_[o].rest = in[o];
  }
  const auto run = [&] {
    owner_transport& carrier = *share_.carrier;
    using clock = std::chrono::steady_clock;
    const auto new_deadline = [&] {
      const auto now = clock::now(), last = clock::time_point::max();
      const auto most = std::chrono::duration_cast<std::chrono::milliseconds>(last - now);
      return share_.patience < most ? now + share_.patience : last;
    };
    clock::time_point deadline = new_deadline();
    for (;;) {
      // Locking again at once would leave no turn to a thread that waits for the lock.
      while (reporters_ > 0) std::this_thread::yield();
      const std::lock_guard lock(mutex_);
      if (failed_.is_failure()) throw_failure(failed_);
      bool moved = false;
      index_t awaited = -1;
      for (index_t o = 0; o < owners_.count(); ++o) {
        stream<std::byte>& from = received_[at(o)];
        stream<const std::byte>& to = sent_[at(o)];
        from.begin(share_, [&](auto bytes) { return carrier.receive(o, kind, bytes); });
        to.begin(share_, [&](auto bytes) { return carrier.send(o, kind, bytes); });
        moved = from.settle(carrier) || moved;
        moved = to.settle(carrier) || moved;
        if (awaited < 0 && !(from.is_done() && to.is_done())) awaited = o;
      }
      if (awaited < 0) return;
      if (moved) {
        deadline = new_deadline();
        continue;
      }
      if (owner_report told = carrier.reported(); told.is_failure()) {
        failed_ = std::move(told);
        throw_failure(failed_);
      }
      if (team.stop_requested()) worker_team::report_stop();
      if (clock::now() >= deadline) {
        failed_ =
            owner_report{awaited, "silent for " + std::to_string(share_.patience.count()) + " ms"};
        carrier.report("owner " + std::to_string(awaited) + " is " + failed_.words);
        throw_failure(failed_);
      }
      carrier.wait(std::chrono::milliseconds(1));
    }
  };
#if defined(__cpp_exceptions)
  try {
    run();
  } catch (...) {
    const std::lock_guard lock(mutex_);
    for (auto& to : sent_) to.cancel(*share_.carrier);
    for (auto& from : received_) from.cancel(*share_.carrier);
    throw;
  }
#else
  run();
#endif
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
