// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::misuse::reduction_options_are_unexpected,
// expect: shardwise::of_types<shardwise::reduction_of<shardwise::reduction::max, 0, false>, shardwise::internal::a_tensor>>
// expect: shardwise::internal::a_tensor>
// expect: a reduction is sum<0>(x), sum<0>(x, keep_dims) or, of an any_tensor, sum(x, over{0}); two tensors meet in maximum(x, y)
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
using X = sharded_tensor<float, extents<1024, 4096>, layout<pod, P<"data", "model">>>;
auto use(const X& x) { return max(x * 2.0F, x); }
