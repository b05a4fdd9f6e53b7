// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/core/growable.hpp"
#include "shardwise/plan/normal_form.hpp"
#include "shardwise/process/host_exchange.hpp"
#include "shardwise/process/spawn.hpp"

#include <array>
#include <utility>

namespace shardwise::internal {

SHARDWISE_INLINE host_exchange::host_exchange(process_group& group)
    : link_(owner_share{.owner_of = owners_in_turn(group.count(), group.count()),
                        // The group keeps this exchange, not the other way round.
                        .group = std::shared_ptr<process_group>(std::shared_ptr<void>(), &group),
                        .shares_memory = false},
            "values of host code", process_group::host_channel) {}

SHARDWISE_INLINE host_exchange& host_exchange::of(process_group& group) {
  return group.kept<host_exchange>(
      [](process_group& of_all) { return std::make_shared<host_exchange>(of_all); });
}

SHARDWISE_INLINE host_exchange::payloads host_exchange::all(std::string_view name, std::string mine,
                                                            bool is_sized,
                                                            std::chrono::milliseconds within) {
  /// What messages are sent from and received into.
  struct exchanged {
    std::string mine;
    payloads theirs;
    std::uint64_t size = 0;
    internal::growable<std::uint64_t> sizes;
  };
  const std::lock_guard lock(mutex_);
  const auto others = static_cast<std::size_t>(link_.owners().count());
  const auto now = std::make_shared<exchanged>();
  run_for_owners(&link_, [&] {
    now->mine = std::move(mine);
    now->size = now->mine.size();
    now->theirs.resize(others);
    now->sizes.resize(others);
    word_hash hash;
    hash.add(text_view(name.data(), name.size()));
    link_.record(hash.bits(), name);
    using time = std::chrono::steady_clock;
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        time::time_point::max() - time::now());
    link_.finish_by(within < left ? time::now() + within : time::time_point::max());
    const auto trade = [&](std::span<const std::byte> out, const auto& in) {
      internal::growable<owner_link::outgoing> sent;
      internal::growable<owner_link::incoming> wanted;
      for (std::size_t o = 0; o < others; ++o) {
        if (static_cast<index_t>(o) == link_.self()) continue;
        sent.push_back({static_cast<index_t>(o), out});
        wanted.push_back({static_cast<index_t>(o), std::as_writable_bytes(in(o))});
      }
      link_.exchange(sent, wanted, [&] { return std::shared_ptr<const void>(now); });
    };
    if (is_sized)
      now->sizes.assign(others, now->size);
    else
      trade(std::as_bytes(std::span(&now->size, 1)),
            [&](std::size_t o) { return std::span(&now->sizes[o], 1); });
    for (std::size_t o = 0; o < others; ++o) now->theirs[o].resize(now->sizes[o]);
    trade(std::as_bytes(std::span(now->mine)),
          [&](std::size_t o) { return std::span(now->theirs[o]); });
  });
  now->theirs[static_cast<std::size_t>(link_.self())] = std::move(now->mine);
  return std::move(now->theirs);
}

SHARDWISE_INLINE host_exchange::payloads all_of_host(std::string_view name, std::string mine,
                                                     bool is_sized,
                                                     std::chrono::milliseconds within) {
  const std::shared_ptr<process_group> group = current_group::get();
  if (group == nullptr || group->count() == 1) return {std::move(mine)};
  return host_exchange::of(*group).all(name, std::move(mine), is_sized, within);
}

}  // namespace shardwise::internal
