// SPDX-License-Identifier: BSL-1.0
// Meshes on machines: facts that the static and the unit tests share.
#pragma once

#include <shardwise/mesh/hybrid_mesh.hpp>

#include <cstddef>

/// Numbers counted by nested loops, the first one outermost: each runs `count` times by `step`.
struct counted {
  shardwise::index_t count = 1;
  shardwise::index_t step = 0;
};
using counts = shardwise::inplace_vector<counted, 4>;

constexpr shardwise::index_t number_of(const counts& loops, shardwise::index_t i) {
  shardwise::index_t sum = 0;
  for (int l = loops.ssize() - 1; l >= 0; --l) {
    sum += i % loops[l].count * loops[l].step;
    i /= loops[l].count;
  }
  return sum;
}

/// The part of a machine that every logical axis takes, and the devices, row-major over the mesh.
/// Devices are numbered along x first.
struct assignment_fact {
  shardwise::physical_shape machine;
  shardwise::mesh_shape mesh;
  shardwise::inplace_vector<shardwise::physical_axes, shardwise::max_axes> taken;
  counts devices{};
};

using taken_axes = shardwise::physical_axes;
inline constexpr taken_axes nothing_taken{};

inline constexpr assignment_fact assignment_facts[] = {
    {{4, 4, 4},
     {1, 16, 4},
     {nothing_taken, taken_axes{1, 2}, taken_axes{0}},
     {counted{4, 4}, counted{4, 16}, counted{4, 1}}},
    {{4, 4, 8},
     {16, 8, 1},
     {taken_axes{0, 1}, taken_axes{2}, nothing_taken},
     {counted{4, 1}, counted{4, 4}, counted{8, 16}}},
    {{4, 8, 8},
     {1, 32, 8},
     {nothing_taken, taken_axes{0, 2}, taken_axes{1}},
     {counted{4, 1}, counted{64, 4}}},
    {{8, 8, 1}, {8, 8}, {taken_axes{1}, taken_axes{0, 2}}, {counted{64, 1}}},
    {{2, 2, 2}, {8}, {taken_axes{0, 1, 2}}, {counted{2, 1}, counted{2, 2}, counted{2, 4}}},
    {{2, 4, 1}, {4, 2}, {taken_axes{1}, taken_axes{0, 2}}, {counted{8, 1}}},
    {{4, 2, 1}, {1, 8}, {nothing_taken, taken_axes{0, 1, 2}}, {counted{4, 1}, counted{2, 4}}},
    {{1, 1, 4}, {4}, {taken_axes{0, 1, 2}}, {counted{4, 1}}},
    {{2, 2, 4},
     {8, 2},
     {taken_axes{1, 2}, taken_axes{0}},
     {counted{2, 2}, counted{4, 4}, counted{2, 1}}},
    {{2, 2, 1}, {1, 1, 4}, {nothing_taken, nothing_taken, taken_axes{0, 1, 2}}},
    {{4, 4, 8}, {1, 16, 8}, {nothing_taken, taken_axes{0, 1}, taken_axes{2}}},
    {{4, 4, 8}, {1, 8, 16}, {nothing_taken, taken_axes{2}, taken_axes{0, 1}}},
    {{8, 8, 8}, {1, 64, 8}, {nothing_taken, taken_axes{1, 2}, taken_axes{0}}},
    // An axis of size 1 is assigned too; without logical axes nothing is assigned.
    {{1, 2, 1}, {2, 1}, {taken_axes{1}, taken_axes{0, 2}}, {counted{2, 1}}},
    {{1, 1, 1}, {1, 1}, {nothing_taken, taken_axes{0, 1, 2}}, {counted{1, 0}}},
    {{1, 1, 1}, {}, {}, {counted{1, 0}}},
};

/// The part of each physical axis that every logical axis takes, one row for each physical axis.
struct split_fact {
  shardwise::physical_shape machine;
  shardwise::mesh_shape mesh;
  shardwise::index_t factor[3][4];
};

inline constexpr split_fact split_facts[] = {
    {{4, 4, 4}, {2, 1, 32}, {{1, 1, 4}, {1, 1, 4}, {2, 1, 2}}},
    {{4, 4, 8}, {2, 2, 8, 4}, {{1, 1, 1, 4}, {2, 2, 1, 1}, {1, 1, 8, 1}}},
    {{4, 8, 8}, {1, 128, 2}, {{1, 2, 2}, {1, 8, 1}, {1, 8, 1}}},
    {{8, 8, 1}, {2, 1, 32, 1}, {{1, 1, 8, 1}, {2, 1, 4, 1}, {1, 1, 1, 1}}},
    // Factors other than two: each axis keeps the powers of primes that the others do not take.
    {{6, 10, 1}, {4, 15}, {{2, 3}, {2, 5}, {1, 1}}},
};

constexpr bool holds(const assignment_fact& fact) {
  const auto [verdict, found] = shardwise::assign_whole_axes(fact.machine, fact.mesh);
  if (!verdict.ok() || fact.taken.size() != fact.mesh.size()) return false;
  for (int l = 0; l < fact.mesh.ssize(); ++l)
    if (!(found.taken[l] == fact.taken[l])) return false;
  return true;
}

constexpr bool holds(const split_fact& fact) {
  const auto [verdict, found] = shardwise::assign_split_axes(fact.machine, fact.mesh);
  if (!verdict.ok() || found.splits() == false) return false;
  for (int p = 0; p < fact.machine.ssize(); ++p)
    for (int l = 0; l < fact.mesh.ssize(); ++l)
      if (found.factor[p][l] != fact.factor[p][l]) return false;
  return true;
}

/// The same for every fact of a table.
template <class Fact, std::size_t N>
constexpr bool all_hold(const Fact (&facts)[N]) {
  for (const Fact& fact : facts)
    if (!holds(fact)) return false;
  return true;
}
