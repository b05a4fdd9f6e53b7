// SPDX-License-Identifier: BSL-1.0
// A layout in the place of its spec.
// expect: shardwise::broken_rule<shardwise::violation::layout_is_malformed,
// expect: shardwise::internal::a_layout, shardwise::argument_at{1}>
// expect: a layout has a mesh, a spec P<...>, a partial<...> and exact, uneven or single_cut, in this order
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
using rows = layout<pod, P<"x">>;
using A = sharded_tensor<float, extents<8>, layout<pod, rows>>;
constexpr auto a = abstract<A>();
