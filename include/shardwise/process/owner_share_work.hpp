// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/process/owner_share.hpp"

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

}  // namespace shardwise
