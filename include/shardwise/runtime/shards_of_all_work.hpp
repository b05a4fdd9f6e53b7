// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/runtime/agreement.hpp"
#include "shardwise/runtime/shards_of_all.hpp"

#include <mutex>

namespace shardwise::internal {

SHARDWISE_INLINE shards_of_all::shards_of_all(const tensor_node& read) : read_(read) {
  pool_state& home = *read.home();
  if (home.link() == nullptr) return;
  const std::lock_guard turn(home.turn());
  run_for_owners(home.link(), [&] {
    agree_on(home, "to_host", read.tensor());
    bring(home);
  });
}

SHARDWISE_INLINE void shards_of_all::bring(pool_state& home) {
  owner_link& link = *home.link();
  const shard_table& where = read_.where();
  const shard_owners holders(home.mesh(), read_.tensor().layout, link.owners());
  const auto at = [](index_t i) { return static_cast<std::size_t>(i); };
  owner_link::bytes_by_owner out = link.nothing();
  received_ = link.nothing();
  std::vector<std::size_t> wanted(out.size(), 0);
  for (index_t s = 0; s < where.count(); ++s) {
    const auto bytes = at(where.size_of_shard(s) * size_of(read_.tensor().type));
    const index_t keeper = holders.keeper(s);
    if (!where.is_here(s)) wanted[at(keeper)] += bytes;
    if (keeper != link.self()) continue;
    const std::byte* const data = read_.shard(s).data();
    for (index_t other = 0; other < link.owners().count(); ++other)
      if (holders.holder(s, other) < 0)
        out[at(other)].insert(out[at(other)].end(), data, data + bytes);
  }
  for (std::size_t owner = 0; owner < wanted.size(); ++owner)
    received_[owner].resize(wanted[owner]);
  link.exchange(out, received_, home.team());
  std::vector<std::size_t> next(out.size(), 0);
  brought_.resize(at(where.count()), nullptr);
  for (index_t s = 0; s < where.count(); ++s) {
    if (where.is_here(s)) continue;
    const std::size_t keeper = at(holders.keeper(s));
    brought_[at(s)] = received_[keeper].data() + next[keeper];
    next[keeper] += at(where.size_of_shard(s) * size_of(read_.tensor().type));
  }
}

}  // namespace shardwise::internal
