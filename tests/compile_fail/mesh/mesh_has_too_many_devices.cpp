// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::mesh_has_too_many_devices,
// expect: shardwise::of_text::mesh<shardwise::fixed_string<31>{"x=65536, y=9223372036854775807"}>, shardwise::called<2>{"y"}, shardwise::size_met{9223372036854775807}, shardwise::size_below{16385}>
// expect: shardwise::of_text::mesh<shardwise::fixed_string<
// expect: a mesh has at most 2^30 devices
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 65536>, axis<"y", 9223372036854775807>> {};
using X = sharded_tensor<float, extents<8, 8>, layout<pod, P<none, none>>>;
auto use() { return abstract<X>(); }
