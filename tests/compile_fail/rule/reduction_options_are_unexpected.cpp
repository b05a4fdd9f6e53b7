// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::misuse::reduction_options_are_unexpected,
// expect: shardwise::of_types<shardwise::reduction_of<shardwise::reduction::sum, 0, false>, shardwise::over>>
// expect: shardwise::over>
// expect: a reduction is sum<0>(x), sum<0>(x, keep_dims) or, of an any_tensor, sum(x, over{0}); two tensors meet in maximum(x, y)
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
using X = sharded_tensor<float, extents<1024, 4096>, layout<pod, P<"data", "model">>>;
auto use() { return sum(abstract<X>(), over{0}); }
