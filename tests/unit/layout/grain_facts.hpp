// SPDX-License-Identifier: BSL-1.0
// Which elements devices hold of block-cyclic dimensions: facts that the static tests and the unit
// tests share.
#pragma once

#include <shardwise/paper.hpp>

/// The number of elements at every position, and the first few of one position.
struct grain_fact {
  shardwise::grain how;
  shardwise::index_t size;
  shardwise::index_t parts;
  shardwise::inplace_vector<shardwise::index_t, 8> counts;
  shardwise::index_t position;
  shardwise::inplace_vector<shardwise::index_t, 8> indices;
};

inline constexpr grain_fact grain_facts[] = {
    // ScaLAPACK: block-cyclic, NUMROC and INDXL2G with the source on process 0.
    {shardwise::grain::cyclic(2), 9, 2, {5, 4}, 0, {0, 1, 4, 5, 8}},
    {shardwise::grain::cyclic(2), 9, 2, {5, 4}, 1, {2, 3, 6, 7}},
    {shardwise::grain::cyclic(4), 13, 3, {5, 4, 4}, 0, {0, 1, 2, 3, 12}},
    {shardwise::grain::cyclic(32), 100, 4, {32, 32, 32, 4}, 3, {96, 97, 98, 99}},
    {shardwise::grain::cyclic(64), 1000, 3, {360, 320, 320}, 1, {64, 65, 66}},
    {shardwise::grain::cyclic(3), 8, 2, {5, 3}, 0, {0, 1, 2, 6, 7}},
    {shardwise::grain::cyclic(5), 3, 4, {3, 0, 0, 0}, 0, {0, 1, 2}},
    // Elemental: element i on process i mod k.
    {shardwise::grain::cyclic(1), 10, 3, {4, 3, 3}, 0, {0, 3, 6, 9}},
    {shardwise::grain::cyclic(1), 10, 3, {4, 3, 3}, 2, {2, 5, 8}},
    {shardwise::grain::cyclic(1), 2, 3, {1, 1, 0}, 1, {1}},
    // DTensor: chunks, and a piece of each.
    {shardwise::grain::strided(2), 8, 4, {2, 2, 2, 2}, 1, {1, 5}},
    {shardwise::grain::strided(3), 12, 2, {6, 6}, 1, {2, 3, 6, 7, 10, 11}},
    {shardwise::grain::strided(2), 7, 2, {4, 3}, 0, {0, 1, 4, 5}},
    {shardwise::grain::strided(2), 7, 2, {4, 3}, 1, {2, 3, 6}},
    // No elements, and a single position.
    {shardwise::grain::cyclic(2), 0, 3, {0, 0, 0}, 0, {}},
    {shardwise::grain::strided(2), 0, 3, {0, 0, 0}, 2, {}},
    {shardwise::grain::cyclic(2), 5, 1, {5}, 0, {0, 1, 2, 3, 4}},
    {shardwise::grain::strided(3), 5, 1, {5}, 0, {0, 1, 2, 3, 4}},
};

constexpr bool holds(const grain_fact& fact) {
  const shardwise::grained_split split{fact.how, fact.size, fact.parts};
  shardwise::index_t offset = 0;
  for (int p = 0; p < fact.counts.ssize(); ++p) {
    if (split.offset(p) != offset || split.count(p) != fact.counts[p]) return false;
    offset += fact.counts[p];
  }
  if (offset != fact.size) return false;
  for (int x = 0; x < fact.indices.ssize(); ++x) {
    const shardwise::grained_split::place there{fact.position, x};
    if (split.global(fact.position, x) != fact.indices[x]) return false;
    if (!(split.find(fact.indices[x]) == there)) return false;
  }
  return true;
}

constexpr bool grain_facts_hold() {
  for (const grain_fact& fact : grain_facts)
    if (!holds(fact)) return false;
  return true;
}
