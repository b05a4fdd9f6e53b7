// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::misuse::options_are_template_arguments,
// expect: {"reshape<extents<4, 32>>(x)"}
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
using X = sharded_tensor<float, extents<8, 16>, layout<pod, P<"data", none>>>;
auto use(const X& x, const extents_desc& to) { return reshape(x, to) * 2.0F; }
