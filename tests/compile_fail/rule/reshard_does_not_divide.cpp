// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::extent_is_not_divisible<shardwise::dimension<0>, shardwise::extent<6>,
// expect: shardwise::parts<4>, shardwise::nearest<4, 8>,
// expect: shardwise::fixed_string<2>{"y"}, pod>
// expect: a split extent is divisible by its axes, or the layout says uneven
#include <shardwise/layout.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
using A = sharded_tensor<float, extents<6>, layout<pod, P<"x">>>;
auto use() { return reshard<P<"y">>(abstract<A>()); }
