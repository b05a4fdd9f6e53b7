// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/core/growable.hpp"
#include "shardwise/process/process_group.hpp"
#include "shardwise/tensor/out_of_memory.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <new>
#include <span>
#include <utility>

namespace shardwise {

SHARDWISE_INLINE process_group::process_group(std::shared_ptr<owner_transport> carrier)
    : carrier_(std::move(carrier)),
      members_(static_cast<std::size_t>(carrier_->owners())),
      last_beat_(clock::now()) {
  if (count() == 1) {
    met_ = true;
    return;
  }
  for (member& each : members_) each.heard = last_beat_;
  // Signs of life allocate nothing.
  note_.reserve(owner_transport::most_note_bytes);
  greeting mine;
  memory_ = carrier_->make_memory();
  if (memory_ != nullptr) {
    void* const place = memory_->take(shard_alignment);
    if (place == nullptr) internal::fail_for_memory(static_cast<index_t>(shard_alignment));
    heart_ = new (place) std::atomic<std::uint64_t>(0);
    mine.memory = memory_->address();
    mine.heart = memory_->offset_of(place);
  }
  greet(index(), mine);
  const std::string_view words(reinterpret_cast<const char*>(&mine), sizeof mine);
  tell_all({.kind = note_kind::hello}, words);
  pulse_ = std::thread([this] { beat(); });
}

SHARDWISE_INLINE process_group::~process_group() {
  leave("its program has ended");
  kept_.reset();
  if (pulse_.joinable()) {
    {
      const std::lock_guard lock(mutex_);
      is_ending_ = true;
    }
    ends_.notify_all();
    pulse_.join();
  }
  // The memory may outlive the group, with the shards in it.
  for (const retired_block& each : retired_) memory_->retire(each.block, each.bytes);
  if (heart_ != nullptr) memory_->retire(heart_, shard_alignment);
}

SHARDWISE_INLINE index_t process_group::host_count(std::chrono::milliseconds patience) {
  (void)wait_until_met(patience);
  index_t count_here = 0;
  for (index_t owner = 0; owner < count(); ++owner)
    count_here += owner == index() || shares_memory(owner) ? 1 : 0;
  return count_here;
}

SHARDWISE_INLINE index_t process_group::host_index(std::chrono::milliseconds patience) {
  (void)wait_until_met(patience);
  index_t before = 0;
  for (index_t owner = 0; owner < index(); ++owner) before += shares_memory(owner) ? 1 : 0;
  return before;
}

SHARDWISE_INLINE core_set process_group::host_cores() const {
  const std::lock_guard lock(mutex_);
  core_set all = of(index()).cores;
  for (index_t owner = 0; owner < count(); ++owner)
    if (shares_memory(owner)) all = all.with(of(owner).cores);
  return all;
}

SHARDWISE_INLINE bool process_group::shares_memory(index_t owner) const noexcept {
  return of(owner).shares_memory.load(std::memory_order_acquire);
}

SHARDWISE_INLINE void process_group::say_if_apart() {
  const std::lock_guard lock(mutex_);
  if (std::exchange(has_said_if_apart_, true)) return;
  for (index_t other = 0; other < count(); ++other) {
    if (!of(other).is_of_this_machine || shares_memory(other)) continue;
    // The first process speaks for all.
    if (other > index())
      std::fprintf(
          stderr,
          "shardwise: processes %d and %d are on one machine, but cannot open each other's "
          "memory, as in different containers or for different users: they send messages\n",
          static_cast<int>(index()), static_cast<int>(other));
    return;
  }
}

SHARDWISE_INLINE std::uint32_t process_group::open_channel(
    const std::atomic<std::uint64_t>& meetings, std::chrono::milliseconds patience,
    std::uint32_t channel) {
  const std::lock_guard lock(mutex_);
  patience_ = std::min(patience_, patience);
  if (channel == next_channel) channel = next_channel_++;
  channels_[channel] = &meetings;
  return channel;
}

SHARDWISE_INLINE std::chrono::milliseconds process_group::patience() const {
  const std::lock_guard lock(mutex_);
  return patience_;
}

SHARDWISE_INLINE void process_group::close_channel(std::uint32_t channel,
                                                   std::string_view words) noexcept {
  std::uint64_t meetings = 0;
  {
    const std::lock_guard lock(mutex_);
    const auto at = channels_.find(channel);
    if (at == channels_.end()) return;
    meetings = at->second->load(std::memory_order_relaxed);
    channels_.erase(at);
    failures_.erase(channel);
    for (member& each : members_) each.histories.erase(channel);
  }
  if (!has_left_) tell_all({note_kind::left, channel, meetings}, words);
}

SHARDWISE_INLINE void process_group::retire(std::uint32_t channel, void* block,
                                            std::size_t bytes) noexcept {
  const std::lock_guard lock(mutex_);
  retired_.push_back({channel, block, bytes});
}

SHARDWISE_INLINE void process_group::sweep() noexcept {
  const auto is_read = [this](const retired_block& each) {
    for (index_t other = 0; other < count(); ++other)
      if (other != index() && !of(other).departures.contains(each.channel) &&
          !of(other).departures.contains(every_channel))
        return true;
    return false;
  };
  for (std::size_t i = 0; i < retired_.size();) {
    if (is_read(retired_[i])) {
      ++i;
      continue;
    }
    memory_->give_back(retired_[i].block, retired_[i].bytes);
    retired_[i] = retired_.back();
    retired_.pop_back();
  }
}

SHARDWISE_INLINE void process_group::report(std::uint32_t channel,
                                            std::string_view words) noexcept {
  tell_all({.kind = note_kind::failed, .channel = channel}, words);
}

SHARDWISE_INLINE void process_group::leave(std::string_view words) noexcept {
  if (has_left_.exchange(true)) return;
  {
    // How far it has come in each pool: what it has sent until then arrives.
    const std::lock_guard lock(mutex_);
    for (const auto& [channel, meetings] : channels_)
      tell_all({note_kind::left, channel, meetings->load(std::memory_order_relaxed)}, words);
  }
  tell_all({.kind = note_kind::left}, words);
}

SHARDWISE_INLINE void process_group::say_waiting(index_t to, std::uint32_t channel,
                                                 std::string_view where) noexcept {
  // The meetings of this process in its pools, or the latest of them, then the words.
  constexpr std::size_t most = 64;
  std::array<char, most * sizeof(progress) + 512> text{};
  std::size_t pools = 0;
  std::uint64_t meeting = 0;
  {
    const std::lock_guard lock(mutex_);
    if (const auto own = channels_.find(channel); own != channels_.end())
      meeting = own->second->load(std::memory_order_relaxed);
    for (auto each = channels_.rbegin(); each != channels_.rend() && pools < most; ++each) {
      const progress here{each->first, each->second->load(std::memory_order_relaxed)};
      std::memcpy(text.data() + pools++ * sizeof here, &here, sizeof here);
    }
  }
  const std::size_t size = std::min<std::size_t>(where.size(), 512);
  std::copy_n(where.begin(), size,
              text.begin() + static_cast<std::ptrdiff_t>(pools * sizeof(progress)));
  tell(to, {note_kind::waits, channel, meeting << 8U | pools},
       {text.data(), pools * sizeof(progress) + size});
}

SHARDWISE_INLINE void process_group::say_history(index_t to, std::uint32_t channel,
                                                 std::string_view words) noexcept {
  // In several notes, each with the number of bytes that follow it.
  constexpr std::size_t most = owner_transport::most_note_bytes - sizeof(note_head);
  do {
    const std::string_view now = words.substr(0, most);
    words.remove_prefix(now.size());
    tell(to, {note_kind::history, channel, words.size()}, now);
  } while (!words.empty());
}

SHARDWISE_INLINE void process_group::listen() noexcept {
#if defined(__cpp_exceptions)
  try {
#endif
    const std::lock_guard lock(mutex_);
    index_t from = 0;
    while (carrier_->hear(from, note_)) hear(from, note_);
#if defined(__cpp_exceptions)
  } catch (...) {
    // What cannot be heard, for lack of memory or of a connection, is silence.
  }
#endif
}

SHARDWISE_INLINE owner_report process_group::failure(std::uint32_t channel) const {
  const std::lock_guard lock(mutex_);
  for (const std::uint32_t each : {channel, every_channel})
    if (const auto at = failures_.find(each); at != failures_.end()) return at->second;
  return {};
}

SHARDWISE_INLINE std::optional<std::string> process_group::departed(index_t owner,
                                                                    std::uint32_t channel,
                                                                    std::uint64_t meeting) const {
  const std::lock_guard lock(mutex_);
  const auto& all = of(owner).departures;
  const auto here = all.find(channel);
  if (here != all.end() && here->second.meetings >= meeting) return std::nullopt;
  // A pool says how far it has come, and whoever leaves altogether says why.
  const auto every = all.find(every_channel);
  const auto last = every != all.end() ? every : here;
  if (last == all.end() || clock::now() - last->second.heard < std::chrono::milliseconds(50))
    return std::nullopt;
  if (here == all.end() || every == all.end() || here->second.words == every->second.words)
    return last->second.words;
  return here->second.words + "; " + every->second.words;
}

SHARDWISE_INLINE std::optional<std::string> process_group::waits_elsewhere(
    index_t owner, std::uint32_t channel, std::uint64_t meeting) const {
  const std::lock_guard lock(mutex_);
  const std::optional<waiting>& theirs = of(owner).waits;
  if (!theirs || theirs->at.channel == channel) return std::nullopt;
  // A note may be old: they have come here since, or this process has been there.
  for (const progress& each : theirs->elsewhere)
    if (each.channel == channel && each.meetings >= meeting) return std::nullopt;
  const auto there = static_cast<std::uint32_t>(theirs->at.channel);
  const auto own = channels_.find(there);
  if (own != channels_.end()) {
    if (own->second->load(std::memory_order_relaxed) >= theirs->at.meetings) return std::nullopt;
  } else if (there != host_channel && there < next_channel_) {
    // Its pool is closed here: whoever still waits in it hears that this process has left.
    return std::nullopt;
  }
  return theirs->words;
}

SHARDWISE_INLINE std::optional<std::string> process_group::history_of(index_t owner,
                                                                      std::uint32_t channel) const {
  const std::lock_guard lock(mutex_);
  const auto at = of(owner).histories.find(channel);
  if (at == of(owner).histories.end() || !at->second.is_whole) return std::nullopt;
  return at->second.words;
}

SHARDWISE_INLINE std::chrono::milliseconds process_group::silence_of(index_t owner) const {
  const std::lock_guard lock(mutex_);
  return std::chrono::duration_cast<std::chrono::milliseconds>(clock::now() - of(owner).heard);
}

SHARDWISE_INLINE void process_group::tell(index_t to, const note_head& head,
                                          std::string_view words) noexcept {
  std::array<std::byte, owner_transport::most_note_bytes> note;
  const std::size_t size = std::min(words.size(), note.size() - sizeof head);
  std::memcpy(note.data(), &head, sizeof head);
  if (size > 0) std::memcpy(note.data() + sizeof head, words.data(), size);
  carrier_->tell(to, std::span(note).first(sizeof head + size));
}

SHARDWISE_INLINE void process_group::tell_all(const note_head& head,
                                              std::string_view words) noexcept {
  for (index_t other = 0; other < count(); ++other)
    if (other != index()) tell(other, head, words);
}

SHARDWISE_INLINE void process_group::hear(index_t from, std::span<const std::byte> note) {
  note_head head;
  if (note.size() < sizeof head) return;
  std::memcpy(&head, note.data(), sizeof head);
  member& sender = members_[static_cast<std::size_t>(from)];
  sender.heard = clock::now();
  const std::span<const std::byte> rest = note.subspan(sizeof head);
  const std::string_view words(reinterpret_cast<const char*>(rest.data()), rest.size());
  switch (head.kind) {
    case note_kind::hello:
      if (greeting said; rest.size() == sizeof said) {
        std::memcpy(&said, rest.data(), sizeof said);
        greet(from, said);
      }
      break;
    case note_kind::alive:
      break;
    case note_kind::failed:
      failures_.try_emplace(head.channel, owner_report{from, std::string(words)});
      break;
    case note_kind::left:
      sender.departures.try_emplace(head.channel,
                                    departure{head.number, std::string(words), clock::now()});
      break;
    case note_kind::waits: {
      const std::size_t pools = head.number & 0xFFU;
      if (rest.size() < pools * sizeof(progress)) break;
      waiting said{{head.channel, head.number >> 8U}, {}, internal::growable<progress>(pools)};
      if (pools > 0) std::memcpy(said.elsewhere.data(), rest.data(), pools * sizeof(progress));
      said.words = words.substr(pools * sizeof(progress));
      sender.waits = std::move(said);
      break;
    }
    case note_kind::history: {
      history& said = sender.histories[head.channel];
      if (said.is_whole) said.words.clear();
      said.words += words;
      said.is_whole = head.number == 0;
      break;
    }
  }
}

SHARDWISE_INLINE void process_group::greet(index_t from, const greeting& said) {
  member& other = members_[static_cast<std::size_t>(from)];
  other.has_greeted = true;
  other.is_of_this_machine = from != index() && memory_ != nullptr && said.memory.back() != 0 &&
                             said.memory.back() == memory_->address().back();
  other.cores = said.cores;
  if (from != index() && memory_ != nullptr && said.memory != memory_address{} &&
      memory_->open(from, said.memory)) {
    other.heart =
        reinterpret_cast<const std::atomic<std::uint64_t>*>(memory_->at(from, said.heart));
    other.shares_memory.store(true, std::memory_order_release);
  }
  if (std::all_of(members_.begin(), members_.end(),
                  [](const member& each) { return each.has_greeted; }))
    met_.store(true, std::memory_order_release);
}

SHARDWISE_INLINE void process_group::beat() {
  std::unique_lock lock(mutex_);
  while (!is_ending_) {
    const clock::time_point now = clock::now();
    // A process that was stopped has not listened: its own silence is not that of the others.
    const auto pause = now - last_beat_;
    if (pause > 5 * pulse)
      for (member& each : members_) each.heard += pause;
    last_beat_ = now;
    if (heart_ != nullptr) heart_->fetch_add(1, std::memory_order_relaxed);
    for (index_t other = 0; other < count(); ++other) {
      member& each = members_[static_cast<std::size_t>(other)];
      if (other == index()) continue;
      if (each.heart == nullptr) {
        tell(other, {.kind = note_kind::alive}, {});
      } else if (const std::uint64_t beats = each.heart->load(std::memory_order_relaxed);
                 beats != each.beats) {
        each.beats = beats;
        each.heard = now;
      }
    }
    lock.unlock();
    listen();
    lock.lock();
    sweep();
    if (!is_ending_) ends_.wait_for(lock, met_ ? pulse : pulse / 20);
  }
}

SHARDWISE_INLINE bool process_group::wait_until_met(std::chrono::milliseconds patience) {
  const clock::time_point begin = clock::now();
  const auto waited = [&] {
    return std::chrono::duration_cast<std::chrono::milliseconds>(clock::now() - begin);
  };
  while (!has_met() && waited() < patience) {
    listen();
    if (!has_met()) carrier_->wait(std::chrono::milliseconds(1));
  }
  return has_met();
}

}  // namespace shardwise
