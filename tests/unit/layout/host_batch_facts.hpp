// SPDX-License-Identifier: BSL-1.0
// Which rows devices hold of a batch that several hosts read, and the extents of joined shards:
// facts that the static tests and the unit tests share.
#pragma once

#include "unit/layout/shard_facts.hpp"
#include <shardwise/layout/host_batch.hpp>
#include <shardwise/layout/join_shards.hpp>

#include <cstdint>

/// The part of the batch of one host that a device holds, or the rule that is broken.
struct host_batch_fact {
  shardwise::extents_desc mesh;  // the sizes of the axes x, y, z
  shardwise::spec_desc spec;
  shardwise::index_t hosts;
  shardwise::extents_desc batch;
  shardwise::extents_desc whole;
  shardwise::index_t device;
  shardwise::index_box part;
  shardwise::violation rule = shardwise::violation::nothing;
};

inline constexpr auto unlike = shardwise::violation::hosts_are_not_alike;
inline constexpr auto indivisible = shardwise::violation::host_batch_is_not_divisible;

inline constexpr host_batch_fact host_batch_facts[] = {
    // Two hosts of four devices, each with its own rows; those of the second are also counted from
    // 0.
    {{8}, {{"x", "", ""}}, 2, {8, 7, 4}, {16, 7, 4}, 0, {range(0, 2), range(0, 7), range(0, 4)}},
    {{8}, {{"x", "", ""}}, 2, {8, 7, 4}, {16, 7, 4}, 4, {range(0, 2), range(0, 7), range(0, 4)}},
    {{8}, {{"x", "", ""}}, 2, {8, 7, 4}, {16, 7, 4}, 7, {range(6, 8), range(0, 7), range(0, 4)}},
    {{8}, {{"x", ""}}, 1, {8, 3}, {8, 3}, 5, {range(5, 6), range(0, 3)}},
    {{8}, {{"x", ""}}, 8, {3, 3}, {24, 3}, 5, {range(0, 3), range(0, 3)}},
    // Other dimensions are whole on the host and split among its devices.
    {{4, 2}, {{"x", "y"}}, 2, {4, 6}, {8, 6}, 5, {range(0, 2), range(3, 6)}},
    {{4, 2}, {{"x", "y"}}, 2, {4, 6}, {8, 6}, 6, {range(2, 4), range(0, 3)}},
    // A host whose devices all hold the same part provides that part.
    {{2, 4}, {{"x", ""}}, 2, {3, 1}, {6, 1}, 7, {range(0, 3), range(0, 1)}},
    // Hosts along an axis that does not split the batch hold the same rows.
    {{2, 4}, {{"y", ""}}, 2, {8, 1}, {8, 1}, 7, {range(6, 8), range(0, 1)}},
    {{2, 4}, {{"", ""}}, 4, {5, 1}, {5, 1}, 3, {range(0, 5), range(0, 1)}},
    // Parts that are not adjacent are provided in order: 0 and 2 of four by the first host.
    {{2, 2}, {{"y,x"}}, 2, {6}, {12}, 0, {range(0, 3)}},
    {{2, 2}, {{"y,x"}}, 2, {6}, {12}, 1, {range(3, 6)}},
    // Empty batches are valid.
    {{8}, {{"x"}}, 2, {0}, {0}, 6, {range(0, 0)}},
    // Errors.
    {{8}, {{"x"}}, 3, {8}, {}, 0, {}, unlike},
    {{8}, {{"x"}}, 0, {8}, {}, 0, {}, unlike},
    {{3, 2}, {{"x"}}, 2, {8}, {}, 0, {}, unlike},
    {{3, 4}, {{"y"}}, 4, {8}, {}, 0, {}, unlike},
    {{8}, {{"x", ""}}, 2, {6, 2}, {}, 0, {}, indivisible},
    {{8}, {{"x", ""}}, 2, {8}, {}, 0, {}, shardwise::violation::rank_differs_from_spec},
    // The rows of all hosts together are 2^63, above the range of an index_t.
    {{8},
     {{"x", ""}},
     2,
     {shardwise::index_t{1} << 62, 1},
     {},
     0,
     {},
     shardwise::violation::tensor_is_too_large},
    {{8}, {}, 2, {}, {}, 0, {}, shardwise::violation::rank_differs_from_spec},
};

constexpr bool holds(const host_batch_fact& fact) {
  using namespace shardwise;
  const mesh_desc mesh = mesh_of_sizes(fact.mesh);
  const host_batch hosts(mesh, resolve(mesh, fact.spec).layout, fact.hosts);
  if (!hosts.verdict().ok()) return hosts.verdict().rule == fact.rule;
  if (const diagnosis verdict = hosts.check(fact.batch); !verdict.ok())
    return verdict.rule == fact.rule;
  return fact.rule == violation::nothing && hosts.global(fact.batch) == fact.whole &&
         hosts.local(fact.whole) == fact.batch && hosts.part(fact.batch, fact.device) == fact.part;
}

/// True if the facts from one number to another hold: all of them are too many steps for one
/// constant expression.
constexpr bool host_batch_facts_hold(std::size_t first, std::size_t last) {
  for (std::size_t i = first; i < last; ++i)
    if (!holds(host_batch_facts[i])) return false;
  return true;
}

/// The extents of joined shards, or the rule that is broken and the shard that breaks it.
struct join_fact {
  shardwise::extents_desc mesh;  // the sizes of the axes x, y, z
  shardwise::spec_desc spec;
  shardwise::extents_desc extents;
  shardwise::inplace_vector<shardwise::extents_desc, 8> shards;
  shardwise::extents_desc whole;
  shardwise::violation rule = shardwise::violation::nothing;
  int shard = -1;
};

/// Extents of shards, one after another.
template <class... Shards>
constexpr auto these(const Shards&... shards) {
  return shardwise::inplace_vector<shardwise::extents_desc, 8>{shards...};
}
using of = shardwise::extents_desc;

inline constexpr auto no_size = shardwise::dyn;
inline constexpr auto too_large = shardwise::violation::tensor_is_too_large;
inline constexpr auto misfit = shardwise::violation::shard_extents_differ;

inline constexpr join_fact join_facts[] = {
    // The extent of a shard times the number of tiles, or the sum of unequal shards.
    {{2, 2},
     {{"x", "y"}},
     {no_size, no_size},
     these(of{2, 3}, of{2, 3}, of{2, 3}, of{2, 3}),
     {4, 6}},
    {{4}, {{"x"}}, {no_size}, these(of{2}, of{2}, of{1}, of{0}), {5}},
    {{2, 2}, {{"x,y"}}, {no_size}, these(of{1}, of{1}, of{1}, of{0}), {3}},
    {{2, 2}, {{"y,x"}}, {no_size}, these(of{2}, of{1}, of{1}, of{1}), {5}},
    {{4}, {{"x"}}, {5}, these(of{2}, of{2}, of{1}, of{0}), {5}},
    {{4}, {{"x", ""}}, {no_size, 3}, these(of{1, 3}, of{1, 3}, of{0, 3}, of{0, 3}), {2, 3}},
    // A replicated tensor: a shard for every device, or a single one.
    {{2}, {{"", ""}}, {no_size, no_size}, these(of{3, 4}, of{3, 4}), {3, 4}},
    {{2}, {{"", ""}}, {no_size, no_size}, these(of{3, 4}), {3, 4}},
    // All replicas may be left out.
    {{2, 2}, {{"y"}}, {no_size}, these(of{3}, of{2}), {5}},
    {{2, 2}, {{"y"}}, {no_size}, these(of{3}, of{2}, of{3}, of{2}), {5}},
    // A size that one shard does not determine is taken from another.
    {{2, 2},
     {{"x", "y"}},
     {no_size, 1},
     these(of{2, 1}, of{no_size, 0}, of{1, 1}, of{no_size, 0}),
     {3, 1}},
    // Errors: the number of shards, their rank, their sizes.
    {{4}, {{"x"}}, {8}, these(of{2}, of{2}, of{2}), {}, shardwise::violation::shard_count_differs},
    {{2, 2},
     {{"y"}},
     {no_size},
     these(of{3}, of{3}, of{3}),
     {},
     shardwise::violation::shard_count_differs},
    {{2},
     {{"x"}},
     {4},
     these(of{2}, of{2, 1}),
     {},
     shardwise::violation::rank_differs_from_spec,
     1},
    {{2}, {{"x"}}, {4, 4}, these(of{2}, of{2}), {}, shardwise::violation::rank_differs_from_spec},
    {{2}, {{"x"}}, {-2}, these(of{2}, of{2}), {}, shardwise::violation::extent_is_negative},
    // Sizes beyond those of tensors, and sums beyond those of numbers.
    {{2}, {{"x"}}, {INT64_MAX}, these(of{1}, of{1}), {}, too_large},
    {{2}, {{"x"}}, {no_size}, these(of{INT64_MAX}, of{INT64_MAX}), {}, too_large, 0},
    {{2}, {{"x"}}, {no_size}, these(of{1}, of{INT64_MAX}), {}, too_large, 1},
    {{4},
     {{"x"}},
     {no_size},
     these(of{shardwise::max_elements}, of{shardwise::max_elements}, of{shardwise::max_elements},
           of{0}),
     {},
     too_large},
    {{2},
     {{"x"}},
     {no_size},
     these(of{3}, of{-2}),
     {},
     shardwise::violation::extent_is_negative,
     1},
    {{2},
     {{"x"}},
     {no_size},
     these(of{INT64_MIN}, of{1}),
     {},
     shardwise::violation::extent_is_negative,
     0},
    {{2}, {{"x"}}, {9}, these(of{4}, of{4}), {}, misfit, 0},                // larger than their sum
    {{4}, {{"x"}}, {5}, these(of{2}, of{2}, of{2}, of{2}), {}, misfit, 2},  // padded
    {{2}, {{"x"}}, {no_size}, these(of{1}, of{2}), {}, misfit, 0},  // the short one comes last
    {{2, 2},
     {{"x", ""}},
     {no_size, no_size},
     these(of{2, 3}, of{2, 3}, of{2, 3}, of{2, 4}),
     {},
     misfit,
     3},
};

constexpr bool holds(const join_fact& fact) {
  using namespace shardwise;
  const mesh_desc mesh = mesh_of_sizes(fact.mesh);
  const layout_desc layout = resolve(mesh, fact.spec, {}, uneven{}).layout;
  const joined_shards joined =
      join_shards(mesh, layout, fact.extents,
                  list_view<const extents_desc>(fact.shards.begin(), fact.shards.size()));
  return joined.verdict.rule == fact.rule && joined.verdict.operand == fact.shard &&
         (fact.rule != violation::nothing || joined.extents == fact.whole);
}

constexpr bool join_facts_hold() {
  for (const join_fact& fact : join_facts)
    if (!holds(fact)) return false;
  return true;
}
