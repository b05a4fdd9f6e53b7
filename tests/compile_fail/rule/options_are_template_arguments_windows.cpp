// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::misuse::options_are_template_arguments,
// expect: {"convolution<paddings<1, 1>>(x, w)"}
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
using X = sharded_tensor<float, extents<8, 3, 16, 16>, layout<pod, P<"data", none, none, none>>>;
using W = sharded_tensor<float, extents<4, 3, 3, 3>, layout<pod, P<none, none, none, none>>>;
auto use(const X& x, const W& w) { return convolution(x, w, paddings<1, 1>{}); }
