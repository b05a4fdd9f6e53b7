// SPDX-License-Identifier: BSL-1.0
// The first use of an invalid type is its only error.
// expect: shardwise::broken_rule<shardwise::violation::axis_is_not_in_mesh,
// expect: pod, shardwise::dimension_at{1}, shardwise::called<6>{"modle"}>
// expect: a partition spec may only name axes of its mesh
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
using Z = sharded_tensor<float, extents<1024, 4096>, layout<pod, P<"data", "modle">>>;
void use(const Z& z) { sync(z); }
