// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::mesh_has_too_many_devices<shardwise::fixed_string<2>{"y"}, 9223372036854775807,
// expect: shardwise::of_text::mesh<shardwise::fixed_string<
// expect: a mesh has at most 2^30 devices
#include <shardwise/layout.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 65536>, axis<"y", 9223372036854775807>> {};
using X = sharded_tensor<float, extents<8, 8>, layout<pod, P<none, none>>>;
auto use() { return abstract<X>(); }
