// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::submesh_axis_is_not_in_mesh,
// expect: pod, shardwise::called<6>{"modle"}>
// expect: a sub-mesh names different axes of its mesh
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
struct row : submesh<pod, "modle"> {};
