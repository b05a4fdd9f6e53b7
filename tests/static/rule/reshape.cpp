// SPDX-License-Identifier: BSL-1.0
#include "unit/rule/reshape_facts.hpp"

using namespace shardwise;

static_assert(reshape_structure_facts_hold());
static_assert(reshape_facts_hold());
static_assert(kind_facts_hold());

// composite.hpp
static_assert([] {
  cut_ranges rows(5);
  return rows.cut(2, 1) && !rows.are_single() && rows.cut(3, 1) && rows.are_single();
}());
static_assert(!cut_ranges(5).cut(2, 4) && cut_ranges(6).cut(2, 4) && cut_ranges(5).cut(3, 2));
static_assert(cut_ranges(dyn).cut(2, 4) && cut_ranges(5).cut(dyn, 4) && cut_ranges(5).cut(2, dyn));

// reshape.hpp
static_assert(check_reshape({4, 6}, {24}).ok() && check_reshape({4, 6}, {dyn, 8}).ok());
static_assert(check_reshape({dyn, 6}, {24}).ok() && check_reshape({dyn, 6}, {dyn, 5}).ok());
static_assert(check_reshape({}, {}).ok() && check_reshape({0, 3}, {5, 0}).ok());
static_assert(check_reshape({4, 6}, {23}) ==
              diagnosis{
                  .rule = violation::element_count_differs, .operand = 0, .have = 23, .want = 24});
static_assert(!check_reshape({4, 6}, {dyn, 5}).ok() && !check_reshape({4, 6}, {dyn, dyn}).ok());
static_assert(!check_reshape({dyn, 6}, {25}).ok() && !check_reshape({4, 6}, {-4, -6}).ok());
static_assert(!check_reshape({0, 3}, {dyn, 0}).ok() && !check_reshape({4}, {0}).ok());
static_assert(reshaped({4, 6}, {dyn, 8}) == extents_desc{3, 8});
static_assert(reshaped({dyn, 6}, {dyn, 8}) == extents_desc{dyn, 8});
