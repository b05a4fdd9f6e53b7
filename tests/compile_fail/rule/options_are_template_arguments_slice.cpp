// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::misuse::options_are_template_arguments,
// expect: {"dynamic_slice<1, size>(x, begin)"}
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
using X = sharded_tensor<float, extents<8, 16>, layout<pod, P<"data", none>>>;
auto use(const X& x, int n) { return slice_in_dim<1>(x, 0, n); }
