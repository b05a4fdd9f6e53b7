// SPDX-License-Identifier: BSL-1.0
// An operation of several steps, whose operand would be gathered first, adds no error to that of
// the type of its operand.
// expect: shardwise::broken_rule<shardwise::violation::axis_is_not_in_mesh,
// expect: a partition spec may only name axes of its mesh
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>> {};
using X = sharded_tensor<float, extents<4, 8>, layout<pod, P<"model", none>>>;

auto step(const X& x) { return diff<0>(x, across<"data">); }
