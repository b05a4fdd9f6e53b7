// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::extent_is_not_divisible<shardwise::dimension<0>, shardwise::extent<1001>,
// expect: shardwise::parts<2>, shardwise::nearest<1000, 1002>,
// expect: shardwise::fixed_string<5>{"data"}, pod>
// expect: a split extent is divisible by its axes, or the layout says uneven
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
using Z = sharded_tensor<float, extents<1001, 4096>, layout<pod, P<"data", "model">>>;
auto use(const Z& z) { return z * z; }
