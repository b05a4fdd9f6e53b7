// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::layout_is_malformed,
// expect: pod, shardwise::argument_at{3}>
// expect: a layout has a mesh, a spec P<...>, a partial<...> and exact, uneven or single_cut
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>> {};

any_tensor<float> use(const any_tensor<float>& x) { return constrain<P<"x", none>, pod>(x); }
