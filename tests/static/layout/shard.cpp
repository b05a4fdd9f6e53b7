// SPDX-License-Identifier: BSL-1.0
#include "unit/layout/shard_facts.hpp"

using namespace shardwise;

static_assert(shard_facts_hold());

// 5 rows over x=2, y=2: x leaves [0,3) and [3,5); y cuts them to 2, 1 and 1, 1.
constexpr mesh_desc plane{{axis_desc{"x", 2}, axis_desc{"y", 2}}};
static_assert(split_range(plane, {0, 1}, 5, {0, 0}) == index_range{0, 2});
static_assert(split_range(plane, {0, 1}, 5, {0, 1}) == index_range{2, 3});
static_assert(split_range(plane, {0, 1}, 5, {1, 0}) == index_range{3, 4});
static_assert(split_range(plane, {0, 1}, 5, {1, 1}) == index_range{4, 5});

static_assert(index_range{2, 5}.size() == 3 && index_range{2, 2}.empty() &&
              !index_range{2, 3}.empty());
static_assert(volume_of(index_box{}) == 1 &&
              volume_of(index_box{index_range{0, 2}, index_range{1, 4}}) == 6);
static_assert(volume_of(index_box{index_range{0, 2}, index_range{4, 4}}) == 0);
static_assert(extents_of(index_box{index_range{0, 2}, index_range{1, 4}}) == extents_desc{2, 3});
static_assert(intersect({index_range{0, 4}}, {index_range{2, 9}}) == index_box{index_range{2, 4}});
static_assert(intersect({index_range{0, 2}}, {index_range{5, 9}})[0].empty());
static_assert(element_count({}) == 1 && element_count({3, 0, 2}) == 0 &&
              element_count({3, 2}) == 6);

// y splits, x is pending: eight different terms, no replica. Neither: eight replicas of one shard.
constexpr layout_desc split{{axis_list{1}}, 1};
static_assert(shards_of(plane, split).count() == 1 && shards_of(plane, split).size() == 4);
static_assert(shards_of(plane, {}).count() == 4 && shards_of(plane, {}).size() == 1);
static_assert(shards_of(plane, {{axis_list{1}}}).group_of(2) == 1);
static_assert(shards_of(plane, {{axis_list{1}}}).member(1, 1) == 3);
