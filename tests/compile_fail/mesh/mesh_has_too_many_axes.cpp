// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::mesh_has_too_many_axes,
// expect: shardwise::of_types<>, shardwise::size_met{8}, shardwise::size_needed{7}>
// expect: {"replica=1, pipeline=1, data=1,
// expect: a mesh has at most 7 axes
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"replica", 1>, axis<"pipeline", 1>, axis<"data", 1>, axis<"fsdp", 1>,
                  axis<"expert", 1>, axis<"tensor", 1>, axis<"sequence", 1>, axis<"batch", 1>> {};
