// SPDX-License-Identifier: BSL-1.0
// Which elements devices hold: facts that the static tests and the unit tests share.
#pragma once

#include <shardwise/paper.hpp>

/// The part that one device holds.
struct shard_fact {
  shardwise::extents_desc mesh;  // the sizes of the axes x, y, z
  shardwise::spec_desc spec;
  shardwise::extents_desc extents;
  shardwise::index_t device;
  shardwise::index_box part;
};

/// A mesh with axes x, y, z of these sizes.
constexpr shardwise::mesh_desc mesh_of_sizes(const shardwise::extents_desc& sizes) {
  constexpr shardwise::text_view labels[] = {"x", "y", "z", "u", "v", "w", "t"};
  shardwise::mesh_desc mesh;
  for (int a = 0; a < sizes.ssize(); ++a)
    mesh.axes.push_back({shardwise::short_name(labels[a]), sizes[a]});
  return mesh;
}

inline constexpr auto range = [](shardwise::index_t begin, shardwise::index_t end) {
  return shardwise::index_range{begin, end};
};

inline constexpr shard_fact shard_facts[] = {
    // One axis: chunks of the rounded-up quotient, then a short one, then empty ones at the end.
    {{4}, {{"x", ""}}, {12, 3}, 3, {range(9, 12), range(0, 3)}},
    {{4}, {{"x", ""}}, {14, 3}, 2, {range(8, 12), range(0, 3)}},
    {{4}, {{"x", ""}}, {14, 3}, 3, {range(12, 14), range(0, 3)}},
    {{4}, {{"", "x"}}, {3, 13}, 3, {range(0, 3), range(12, 13)}},
    {{4}, {{"x"}}, {5}, 0, {range(0, 2)}},
    {{4}, {{"x"}}, {5}, 2, {range(4, 5)}},
    {{4}, {{"x"}}, {5}, 3, {range(5, 5)}},
    {{4}, {{"x"}}, {3}, 3, {range(3, 3)}},
    {{8}, {{"x"}}, {3}, 2, {range(2, 3)}},
    {{8}, {{"x"}}, {3}, 7, {range(3, 3)}},
    {{4}, {{"x", ""}}, {0, 2}, 3, {range(0, 0), range(0, 2)}},
    // Two axes on two dimensions.
    {{2, 2}, {{"x", "y"}}, {9, 5}, 1, {range(0, 5), range(3, 5)}},
    {{2, 2}, {{"x", "y"}}, {9, 5}, 2, {range(5, 9), range(0, 3)}},
    {{2, 2}, {{"x", "y"}}, {1, 3}, 2, {range(1, 1), range(0, 2)}},
    {{2, 4}, {{"x", "y"}}, {9, 5}, 3, {range(0, 5), range(5, 5)}},
    {{2, 4}, {{"x", "y"}}, {9, 5}, 6, {range(5, 9), range(4, 5)}},
    {{2, 4}, {{"x", "y", ""}}, {8, 7, 4}, 7, {range(4, 8), range(6, 7), range(0, 4)}},
    {{1, 4, 2}, {{"x", "y", "z"}}, {8, 7, 4}, 7, {range(0, 8), range(6, 7), range(2, 4)}},
    {{2, 2, 2},
     {{"", "", "x", "y", "z"}},
     {10, 1, 8, 7, 4},
     7,
     {range(0, 10), range(0, 1), range(4, 8), range(4, 7), range(2, 4)}},
    // Two axes on one dimension: the second cuts the parts of the first.
    {{2, 2}, {{"x,y", ""}}, {3, 5}, 1, {range(1, 2), range(0, 5)}},
    {{2, 2}, {{"x,y", ""}}, {3, 5}, 2, {range(2, 3), range(0, 5)}},
    {{2, 2}, {{"x,y", ""}}, {3, 5}, 3, {range(3, 3), range(0, 5)}},
    {{2, 2}, {{"x,y", ""}}, {1, 3}, 1, {range(1, 1), range(0, 3)}},
    {{2, 2}, {{"x,y"}}, {5}, 1, {range(2, 3)}},
    {{2, 2}, {{"y,x"}}, {5}, 1, {range(3, 4)}},
    {{2, 2}, {{"y,x"}}, {5}, 2, {range(2, 3)}},
    // No axis, no dimension, a single device.
    {{2, 2}, {{"", ""}}, {3, 5}, 3, {range(0, 3), range(0, 5)}},
    {{2, 2}, {}, {}, 3, {}},
    {{}, {{""}}, {7}, 0, {range(0, 7)}},
};

constexpr bool holds(const shard_fact& fact) {
  const shardwise::mesh_desc mesh = mesh_of_sizes(fact.mesh);
  const auto [layout, verdict] = shardwise::resolve(mesh, fact.spec, {}, shardwise::uneven{});
  return verdict.ok() && shardwise::shard_box(mesh, layout, fact.extents, fact.device) == fact.part;
}

constexpr bool shard_facts_hold() {
  for (const shard_fact& fact : shard_facts)
    if (!holds(fact)) return false;
  return true;
}
