// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/core/growable.hpp"
#include "shardwise/engine/agreement.hpp"
#include "shardwise/engine/shards_of_all.hpp"

#include <cstring>
#include <mutex>
#include <utility>

namespace shardwise::internal {

SHARDWISE_INLINE shards_of_all::shards_of_all(const tensor_node& read,
                                              std::optional<index_t> reader)
    : read_(read), reader_(reader) {
  pool_state& home = *read.home();
  if (home.link() != nullptr) home.with_owners().collect(*this, home);
}

SHARDWISE_INLINE void collect_shards(shards_of_all& to, pool_state& home) { to.collect(home); }

SHARDWISE_INLINE void shards_of_all::collect(pool_state& home) {
  const std::lock_guard turn(home.turn());
  run_for_owners(home.link(), [&] {
    message_text what("to_host");
    if (reader_) what << "_on(" << *reader_ << ')';
    record(home, what, read_.tensor(), read_.origin());
    const shard_table& where = read_.where();
    const shard_owners holders(home.mesh(), read_.tensor().layout, home.link()->owners());
    if (home.link()->checks()) check_replicas(home, holders);
    // Where every reader has everything, none waits for the others.
    bool is_missing = false;
    for (index_t s = 0; s < where.count(); ++s)
      for (index_t owner = 0; owner < home.link()->owners().count(); ++owner)
        is_missing = is_missing || (is_for(owner) && holders.holder(s, owner) < 0);
    if (is_missing) home.link()->is_room() ? copy(home, holders) : bring(home, holders);
  });
}

SHARDWISE_INLINE void shards_of_all::check_replicas(pool_state& home,
                                                    const shard_owners& holders) const {
  owner_link& link = *home.link();
  const shard_table& where = read_.where();
  const auto at = [](index_t i) { return static_cast<std::size_t>(i); };
  /// The hashes of all shards, by owner; of those that an owner does not have, 0.
  growable<growable<std::uint64_t>> hashes(at(link.owners().count()),
                                           growable<std::uint64_t>(at(where.count())));
  growable<std::uint64_t>& mine = hashes[at(link.self())];
  for (index_t i = 0; i < where.count_here(); ++i) {
    const index_t s = where.shard_here(i);
    const auto bytes = at(where.size_of_shard(s) * size_of(read_.tensor().type));
    mine[at(s)] = hash_of_bytes({read_.shard(s).data(), bytes});
  }
  owner_link::bytes_by_owner out = link.nothing();
  owner_link::bytes_by_owner in = link.nothing();
  const std::span<const std::byte> sent = std::as_bytes(std::span(mine));
  for (index_t other = 0; other < link.owners().count(); ++other) {
    if (other == link.self()) continue;
    out[at(other)].assign(sent.begin(), sent.end());
    in[at(other)].resize(sent.size());
  }
  link.exchange(std::move(out), in);
  for (std::size_t o = 0; o < hashes.size(); ++o)
    if (!in[o].empty()) std::memcpy(hashes[o].data(), in[o].data(), in[o].size());
  for (index_t s = 0; s < where.count(); ++s) {
    const index_t keeper = holders.keeper(s);
    for (index_t other = 0; other < link.owners().count(); ++other) {
      if (holders.holder(s, other) < 0 || hashes[at(other)][at(s)] == hashes[at(keeper)][at(s)])
        continue;
      message_text words;
      words << "shard " << s << " of " << to_text(home.mesh(), read_.tensor()) << " on "
            << home.mesh() << " differs between owner " << keeper << ", device "
            << holders.holder(s, keeper) << ", and owner " << other << ", device "
            << holders.holder(s, other);
      fail({.rule = violation::replicas_differ}, words);
    }
  }
}

SHARDWISE_INLINE void shards_of_all::copy(pool_state& home, const shard_owners& holders) {
  owner_link& link = *home.link();
  const shard_table& where = read_.where();
  const auto at = [](index_t i) { return static_cast<std::size_t>(i); };
  brought_.resize(at(where.count()), nullptr);
  received_ = link.nothing();
  run_guarded(
      [&] {
        link.desk().reserve_places(at(where.count()));
        for (index_t i = 0; i < where.count_here(); ++i) {
          const index_t s = where.shard_here(i);
          link.desk().show(at(s), read_.shard(s).data());
        }
        link.meet(meeting::first);
        std::size_t total = 0;
        const bool is_reader = is_for(link.self());
        const auto bytes_of = [&](index_t s) {
          return at(where.size_of_shard(s) * size_of(read_.tensor().type));
        };
        for (index_t s = 0; s < where.count() && is_reader; ++s)
          total += where.is_here(s) ? 0 : bytes_of(s);
        growable<std::byte>& all = received_[at(link.self())];
        all.resize(total);
        std::size_t next = 0;
        for (index_t s = 0; s < where.count() && is_reader; ++s) {
          if (where.is_here(s)) continue;
          if (bytes_of(s) > 0)
            std::memcpy(all.data() + next, link.desk().shown(holders.keeper(s), at(s)),
                        bytes_of(s));
          brought_[at(s)] = all.data() + std::exchange(next, next + bytes_of(s));
        }
        link.traffic().bytes_read += static_cast<index_t>(total);
        link.meet(meeting::last);
      },
      [&](const std::exception_ptr&) { link.withdraw(); });
}

SHARDWISE_INLINE void shards_of_all::bring(pool_state& home, const shard_owners& holders) {
  owner_link& link = *home.link();
  const shard_table& where = read_.where();
  const auto at = [](index_t i) { return static_cast<std::size_t>(i); };
  owner_link::bytes_by_owner out = link.nothing();
  received_ = link.nothing();
  growable<std::size_t> wanted(out.size(), 0);
  const bool is_reader = is_for(link.self());
  for (index_t s = 0; s < where.count(); ++s) {
    const auto bytes = at(where.size_of_shard(s) * size_of(read_.tensor().type));
    const index_t keeper = holders.keeper(s);
    if (is_reader && !where.is_here(s)) wanted[at(keeper)] += bytes;
    if (keeper != link.self()) continue;
    const std::byte* const data = read_.shard(s).data();
    for (index_t other = 0; other < link.owners().count(); ++other)
      if (is_for(other) && holders.holder(s, other) < 0) out[at(other)].append(data, data + bytes);
  }
  for (std::size_t owner = 0; owner < wanted.size(); ++owner)
    received_[owner].resize(wanted[owner]);
  link.exchange(std::move(out), received_);
  growable<std::size_t> next(received_.size(), 0);
  brought_.resize(at(where.count()), nullptr);
  for (index_t s = 0; s < where.count() && is_reader; ++s) {
    if (where.is_here(s)) continue;
    const std::size_t keeper = at(holders.keeper(s));
    brought_[at(s)] = received_[keeper].data() + next[keeper];
    next[keeper] += at(where.size_of_shard(s) * size_of(read_.tensor().type));
  }
}

}  // namespace shardwise::internal
